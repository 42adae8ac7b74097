package verdict_test

import (
	"bytes"
	"strings"
	"testing"

	"verdict"
	"verdict/diag"
	"verdict/internal/workload"
)

// TestEverySelector writes rules about every field, option and key that the
// language has, in all forms that its type allows. Each loads and lists; the
// listing loads and lists the same, and so does its JSON.
func TestEverySelector(t *testing.T) {
	rules := 0
	for _, s := range workload.Selectors() {
		for _, family := range s.Families {
			for _, form := range s.Forms() {
				rules++
				listing := reload(t, family, "chain c {\n\t\t"+s.Text+" "+form+"\n\t}")
				if s.Type.Prefix && !strings.Contains(listing, form) {
					t.Errorf("%s: %s %s lists as\n%s", family, s.Text, form, listing)
				}
			}
		}
	}
	t.Logf("%d rules", rules)
}

// TestEverySetType declares sets and maps of every type, with the flags and
// element forms that it allows. Each loads and lists; the listing loads and
// lists the same, and so does its JSON.
func TestEverySetType(t *testing.T) {
	n := 0
	for _, typ := range workload.SetTypes() {
		for _, block := range workload.Sets(typ) {
			n++
			reload(t, "inet", block)
		}
	}
	t.Logf("%d sets", n)
}

// reload loads a table's content, its listing and its JSON, and returns the
// listing.
func reload(t *testing.T, family, rule string) string {
	t.Helper()
	text := "table " + family + " t {\n\t" + rule + "\n}\n"
	rules, err := verdict.Parse(text)
	if err != nil {
		t.Errorf("%s: %s: %v", family, rule, err)
		return ""
	}
	listing := list(t, rules)
	again, findings := verdict.LoadSources(verdict.LoadOptions{Host: rules.Host()}, diag.NewSource("listing", []byte(listing)))
	if findings.HasErrors() {
		t.Errorf("%s: %s: the listing does not load: %v\n%s", family, rule, findings.Err(), listing)
		return listing
	}
	if got := list(t, again); got != listing {
		t.Errorf("%s: %s: the listing loads to\n%s\nnot\n%s", family, rule, got, listing)
	}
	var document bytes.Buffer
	if err := rules.ListJSON(&document); err != nil {
		t.Fatal(err)
	}
	decoded, findings := verdict.LoadSources(verdict.LoadOptions{Host: rules.Host()}, diag.NewSource("json", document.Bytes()))
	if findings.HasErrors() {
		t.Errorf("%s: %s: the JSON does not load: %v\n%s", family, rule, findings.Err(), document.Bytes())
		return listing
	}
	if got := list(t, decoded); got != listing {
		t.Errorf("%s: %s: the JSON loads to\n%s\nnot\n%s\n%s", family, rule, got, listing, document.Bytes())
	}
	return listing
}
