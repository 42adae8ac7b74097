package decompile

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"verdict/catalog"
	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/compile"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// The numbers of recorded listings that must at least be met, counted when
// they were last raised.
const (
	ruleFloor   = 3120
	dumpFloor   = 174 // two were recorded from braces around one element, which do not survive loading
	corpusFloor = 129
)

func compileOptions(interfaces map[string]uint32) compile.Options {
	return compile.Options{
		Interface: testdata.InterfaceIndex(interfaces),
		User:      testdata.RecordingAccount, Group: testdata.RecordingAccount,
		Names: testdata.RecordingName,
	}
}

// load parses, compiles and applies a text; what remains is the ruleset.
func load(base *ruleset.Ruleset, source *diag.Source, opts compile.Options) (*ruleset.Ruleset, error) {
	file, diagnostics := syntax.Parse(source, syntax.Options{Open: testdata.OpenIncluded})
	if err := diagnostics.Err(); err != nil {
		return nil, fmt.Errorf("syntax: %w", err)
	}
	batch, diagnostics := compile.Compile(base, file, opts)
	if err := diagnostics.Err(); err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	rs, refused := ruleset.Apply(base, batch, ruleset.Options{})
	if len(refused) > 0 {
		return nil, fmt.Errorf("apply: %w", refused[0])
	}
	return rs, nil
}

// TestConformanceListing compiles the rules of the conformance cases, drops
// the source and lists.
func TestConformanceListing(t *testing.T) {
	type loadCase struct {
		ID, Kind, Table, Chain, Family, Expect, Cmd, Listing string

		Setup  []string
		Oracle struct{ Listing string }
	}
	total, exact, sorted := 0, 0, 0
	compiling := compileOptions(testdata.RecordingInterfaces())
	compiling.Location = conformanceOptions.Location
	listing := conformanceOptions
	listing.InterfaceName = testdata.InterfaceName(testdata.RecordingInterfaces())
	for _, c := range testdata.Lines[loadCase](t, testdata.NftCases) {
		if c.Kind != "rule" || c.Expect != "ok" {
			continue
		}
		total++
		source := diag.NewSource(c.ID, []byte(strings.Join(append(c.Setup, c.Cmd), "\n")+"\n"))
		rs, err := load(nil, source, compiling)
		if err != nil {
			t.Logf("%s: %v", c.ID, err)
			continue
		}
		family, _ := catalog.FamilyByName(c.Family)
		table := rs.Table(family, c.Table)
		rules := table.Chain(c.Chain).Rules
		statements, comment := Rule(table, rules[len(rules)-1], &listing)
		got := string(syntax.AppendRule(nil, &syntax.Rule{Statements: statements, Comment: text(comment)}))
		switch {
		case got == c.Oracle.Listing || c.Oracle.Listing == "" && got == c.Listing:
			exact++
		case sortedElements(got) == sortedElements(c.Listing):
			sorted++
			t.Logf("%s: other order of elements:\n got %s\nwant %s", c.ID, got, c.Oracle.Listing)
		default:
			t.Logf("%s:\n got %s\nwant %s", c.ID, got, c.Oracle.Listing)
		}
	}
	t.Logf("%d of %d rules list exactly, %d up to the order of elements", exact, total, exact+sorted)
	if exact < ruleFloor {
		t.Errorf("%d rules list exactly, want at least %d", exact, ruleFloor)
	}
}

// sortedElements sorts the comma list in each pair of braces.
func sortedElements(s string) string {
	var b strings.Builder
	for {
		start := strings.IndexByte(s, '{')
		end := strings.IndexByte(s, '}')
		if start < 0 || end < start {
			b.WriteString(s)
			return b.String()
		}
		elements := strings.Split(s[start+1:end], ",")
		for i := range elements {
			elements[i] = strings.TrimSpace(elements[i])
		}
		slices.Sort(elements)
		b.WriteString(s[:start] + "{" + strings.Join(elements, ",") + "}")
		s = s[end+1:]
	}
}

// TestDumpListing loads whole recorded listings and lists them again, byte by
// byte.
func TestDumpListing(t *testing.T) {
	opts := Options{InterfaceName: testdata.InterfaceName(testdata.RecordingInterfaces())}
	total, exact := 0, 0
	testdata.EachFile(t, "conformance/nft/dumps", func(name, path string, want []byte) {
		total++
		rs, err := load(nil, diag.NewSource(path, want), compileOptions(testdata.RecordingInterfaces()))
		if err != nil {
			t.Logf("%s: %v", name, err)
			return
		}
		var got bytes.Buffer
		if err := List(&got, rs, opts); err != nil {
			t.Fatal(err)
		}
		if d := firstDifference(got.String(), string(want)); d != "" {
			t.Logf("%s: %s", name, d)
			return
		}
		exact++
	})
	t.Logf("%d of %d dumps list exactly", exact, total)
	if exact < dumpFloor {
		t.Errorf("%d dumps list exactly, want at least %d", exact, dumpFloor)
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(end)", "(end)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\n got %.300s\nwant %.300s", i+1, a, b)
		}
	}
	return ""
}

// TestCorpusListing loads real rulesets and compares their listings without
// state with the recorded ones.
func TestCorpusListing(t *testing.T) {
	total, exact := 0, 0
	for _, c := range testdata.CorpusRulesets(t) {
		if c.Loaded != "yes" {
			continue
		}
		total++
		if d := corpusDifference(c.Path(), c.Interfaces); d != "" {
			t.Logf("%s: %s", c.File, d)
			continue
		}
		exact++
	}
	t.Logf("%d of %d real rulesets list exactly", exact, total)
	if exact < corpusFloor {
		t.Errorf("%d real rulesets list exactly, want at least %d", exact, corpusFloor)
	}
}

func corpusDifference(path string, interfaces map[string]uint32) string {
	source, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	want, err := os.ReadFile(strings.TrimSuffix(path, ".nft") + ".list")
	if err != nil {
		return err.Error()
	}
	rs, err := load(nil, diag.NewSource(path, source), compileOptions(interfaces))
	if err != nil {
		return err.Error()
	}
	var got bytes.Buffer
	if err := List(&got, rs, Options{Stateless: true, InterfaceName: testdata.InterfaceName(interfaces)}); err != nil {
		return err.Error()
	}
	return firstDifference(got.String(), string(want))
}
