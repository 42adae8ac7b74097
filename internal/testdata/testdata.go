// Package testdata finds the external test data that tests read in place:
// conformance cases, real rulesets and captures, recorded kernel verdicts.
// Nothing of that data lives in this repository.
package testdata

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Root is the folder of the external data: $VERDICT_DATA, or the folder
// "shared" beside the repository.
func Root() string {
	if dir := os.Getenv("VERDICT_DATA"); dir != "" {
		return dir
	}
	_, self, _, _ := runtime.Caller(0)
	repository := filepath.Dir(filepath.Dir(filepath.Dir(self)))
	return filepath.Join(filepath.Dir(repository), "shared")
}

// Path returns the absolute path of one piece of external data, given
// relative to Root with forward slashes. Where it is absent the test is
// skipped, saying so; when VERDICT_REQUIRE names "data" it fails instead.
func Path(t testing.TB, relative string) string {
	t.Helper()
	path := filepath.Join(Root(), filepath.FromSlash(relative))
	if _, err := os.Stat(path); err != nil {
		Missing(t, "data", "external test data not found: "+path+" (set VERDICT_DATA)")
	}
	return path
}

// Missing ends a test that lacks what it needs: it skips with the reason,
// or fails when the comma list VERDICT_REQUIRE holds the requirement
// ("data", "oracle", "vector").
func Missing(t testing.TB, requirement, reason string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("VERDICT_REQUIRE"), ","), requirement) {
		t.Fatalf("required (%s): %s", requirement, reason)
	}
	t.Skipf("skipped (%s): %s", requirement, reason)
}
