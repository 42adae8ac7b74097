package goals

import (
	"testing"

	"verdict"
	"verdict/diag"
)

// change loads a script of changes on a ruleset.
func change(t *testing.T, base *verdict.Ruleset, script string) *verdict.Ruleset {
	t.Helper()
	r, findings := verdict.LoadSources(verdict.LoadOptions{Base: base}, diag.NewSource("change", []byte(script)))
	if r == nil {
		t.Fatalf("%s: %v", script, findings.Err())
	}
	return r
}
