package verdict_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"verdict"
	"verdict/diag"
	"verdict/internal/testdata"
)

// FuzzReload loads arbitrary texts. What loads must list as text that loads and
// lists the same, and nothing may take over a second. The bytecode may differ,
// as with nft: a listing shows equal rules in one form.
func FuzzReload(f *testing.F) {
	for _, text := range reloadSeeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "*filter") { // iptables-save has no listing
			return
		}
		var rules *verdict.Ruleset
		var err error
		testdata.WithinSecond(t, func() { rules, err = verdict.Parse(text) })
		if err != nil || rules.Tables() != nil {
			return
		}
		listing := list(t, rules)
		for _, m := range oneElement.FindAllString(listing, -1) {
			if !strings.Contains(m, " : ") { // a map stays one
				return
			}
		}
		again, findings := verdict.LoadSources(verdict.LoadOptions{Host: rules.Host()}, diag.NewSource("listing", []byte(listing)))
		if findings.HasErrors() {
			t.Fatalf("the listing does not load: %v\n%s\nof %q", findings.Err(), listing, text)
		}
		if got := list(t, again); got != listing {
			t.Fatalf("the listing loads to\n%s\nnot\n%s\nof %q", got, listing, text)
		}
	})
}

// oneElement is an anonymous set in which one element is left, as of { syn, syn }.
// It lists as nft lists it, and loads as a comparison, as nft loads it.
var oneElement = regexp.MustCompile(`[^= ] \{ [^,{}\n]+ \}`)

func list(t *testing.T, rules *verdict.Ruleset) string {
	var b strings.Builder
	if err := rules.List(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// reloadSeeds are the example rulesets and the rulesets of the compiler's tests.
func reloadSeeds(f *testing.F) (seeds []string) {
	for _, pattern := range []string{"examples/*.nft", "engine/testdata/*.nft"} {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			seeds = append(seeds, string(text))
		}
	}
	archives, _ := filepath.Glob("nft/compile/testdata/*.txtar")
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		parts := map[string]string{}
		for _, file := range archive.Files {
			parts[file.Name] = string(file.Data)
		}
		if parts["file"] != "" {
			seeds = append(seeds, parts["file"])
		}
		for line := range strings.Lines(parts["rules"]) {
			if family, rule, ok := strings.Cut(line, " "); ok {
				seeds = append(seeds, "table "+family+" t {\n"+parts["setup"]+"\nchain c {\n"+rule+"\n}\n}\n")
			}
		}
	}
	return seeds
}
