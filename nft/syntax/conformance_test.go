package syntax_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/syntax"
)

func parseText(name, text string) (*syntax.File, *diag.List) {
	return syntax.Parse(diag.NewSource(name, []byte(text)), syntax.Options{Open: testdata.OpenIncluded, KeepComments: true})
}

// TestCorpus parses real rulesets: all that nft accepts must parse.
func TestCorpus(t *testing.T) {
	accepted, parsed := 0, 0
	for _, e := range testdata.CorpusRulesets(t) {
		text, err := os.ReadFile(e.Path())
		if err != nil {
			t.Fatal(err)
		}
		_, list := parseText(e.Path(), string(text))
		if e.Accepted != "yes" && e.Stage == "user" {
			t.Logf("refused by nft: %s: %s; here: %v", e.File, e.Why, list.Err())
			continue
		}
		accepted++
		if err := list.Err(); err != nil {
			t.Errorf("%s: %v", e.Path(), err)
			continue
		}
		parsed++
	}
	t.Logf("parsed %d of %d accepted files", parsed, accepted)
}

type conformanceCase struct {
	ID, Kind, Cmd, Expect, Listing, Rule string
	Setup                                []string
	Oracle                               struct{ Err string }
}

// TestConformanceCases parses the setup and command of every case that nft
// accepts, and its expected listing.
func TestConformanceCases(t *testing.T) {
	cases := testdata.Lines[conformanceCase](t, testdata.NftCases)
	ok, parsed, refused, fails := 0, 0, 0, 0
	seen := map[string]bool{}
	for _, c := range cases {
		if c.Expect != "ok" {
			fails++
			if _, list := parseText(c.ID, c.Cmd); list.HasErrors() {
				refused++
			} else if strings.Contains(c.Oracle.Err, "syntax error") {
				t.Errorf("%s: not refused\n  %s\n  nft: %s", c.ID, c.Cmd, c.Oracle.Err)
			}
			continue
		}
		ok++
		good := true
		texts := append(append([]string(nil), c.Setup...), c.Cmd)
		if c.Kind == "rule" {
			texts = append(texts, "add rule t c "+c.Listing)
		}
		for _, text := range texts {
			if _, list := parseText(c.ID, text); list.HasErrors() {
				good = false
				if !seen[text] {
					seen[text] = true
					t.Errorf("%s\n  %s\n  %v", c.ID, text, list.Err())
				}
			}
		}
		if good {
			parsed++
		}
	}
	t.Logf("parsed %d of %d accepted cases; of %d refused ones the parser refuses %d", parsed, ok, fails, refused)
}

// TestListings parses recorded listings and prints them again, which must
// give the same bytes.
func TestListings(t *testing.T) {
	var files []string
	for _, pattern := range []string{"conformance/nft/dumps/*/*.nft", "corpus/nft/*/*.list", "corpus/iptables/*.list"} {
		dir := testdata.Path(t, strings.SplitN(pattern, "/*", 2)[0])
		names, err := filepath.Glob(filepath.Join(dir, strings.SplitN(pattern, "/*", 2)[1][1:]))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(pattern, "*") > 1 {
			names, _ = filepath.Glob(filepath.Join(testdata.Root(), filepath.FromSlash(pattern)))
		}
		files = append(files, names...)
	}
	same := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, list := parseText(name, string(text))
		if list.HasErrors() {
			t.Errorf("%s: %v", name, list.Err())
			continue
		}
		var b strings.Builder
		if err := syntax.PrintFile(&b, file); err != nil {
			t.Fatal(err)
		}
		if b.String() != string(text) {
			got, want := strings.Split(b.String(), "\n"), strings.Split(string(text), "\n")
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Errorf("%s:%d\n got %q\nwant %q", name, i+1, got[i], want[i])
					break
				}
			}
			continue
		}
		same++
	}
	t.Logf("%d of %d listings print the same", same, len(files))
}

// TestFormatCorpus formats real sources: comments and meaning stay, and a
// second run changes nothing.
func TestFormatCorpus(t *testing.T) {
	formatted := 0
	for _, e := range testdata.CorpusRulesets(t) {
		text, err := os.ReadFile(e.Path())
		if err != nil {
			t.Fatal(err)
		}
		if _, list := parseText(e.Path(), string(text)); list.HasErrors() {
			continue
		}
		checkFormat(t, e.Path(), text)
		formatted++
	}
	t.Logf("formatted %d files", formatted)
}

// checkFormat formats a source and checks what Format promises.
func checkFormat(t *testing.T, name string, text []byte) {
	t.Helper()
	once, list := syntax.Format(diag.NewSource(name, text))
	if list.HasErrors() {
		t.Errorf("%s: %v", name, list.Err())
		return
	}
	twice, list := syntax.Format(diag.NewSource(name, once))
	if list.HasErrors() {
		t.Errorf("%s: formatted text does not parse: %v\n%s", name, list.Err(), once)
		return
	}
	if string(once) != string(twice) {
		t.Errorf("%s: formatting twice differs: %s", name, firstDifference(string(once), string(twice)))
	}
	noFiles := syntax.Options{Open: func(string, *diag.Source) ([]*diag.Source, error) { return nil, nil }}
	before, _ := syntax.Parse(diag.NewSource(name, text), noFiles)
	after, _ := syntax.Parse(diag.NewSource(name, once), noFiles)
	if d := difference(before, after); d != "" {
		t.Errorf("%s: formatting changed the tree: %s", name, d)
	}
	if got, want := commentWords(string(once)), commentWords(string(text)); got != want {
		t.Errorf("%s: comments changed: %s", name, firstDifference(got, want))
	}
}

// commentWords is the text of all comments, without blanks, in order of their
// text.
func commentWords(text string) string {
	var all []string
	for _, line := range strings.Split(text, "\n") {
		quoted := false
		for i, c := range line {
			if c == '"' {
				quoted = !quoted
			}
			if c == '#' && !quoted {
				all = append(all, strings.Join(strings.Fields(strings.TrimLeft(line[i:], "# \t")), " "))
				break
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// firstDifference shows the first lines that differ.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d: %q and %q", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(x), len(y))
}

type shellTrace struct {
	Test  string
	Calls []struct {
		Argv   []string
		RC     int
		Stderr string
		Stdin  string
		Files  map[string]string
	}
}

// TestShellTraces parses what the recorded scripts gave to nft: command lines
// and files that nft accepted must parse.
func TestShellTraces(t *testing.T) {
	traces := testdata.Lines[shellTrace](t, testdata.NftTraces)
	texts, parsed := 0, 0
	for _, trace := range traces {
		for _, call := range trace.Calls {
			for _, text := range traceTexts(call.Argv, call.Stdin, call.Files) {
				refused := call.RC != 0 && strings.Contains(call.Stderr, "syntax error")
				if call.RC != 0 && !refused || strings.Contains(call.Stderr, "In file included") {
					continue // refused later, or another text of the call is at fault
				}
				_, list := syntax.Parse(diag.NewSource(trace.Test, []byte(text)), syntax.Options{
					Open: func(string, *diag.Source) ([]*diag.Source, error) { return nil, nil },
				})
				texts++
				if list.HasErrors() == refused {
					parsed++
					continue
				}
				t.Errorf("%s: %v\n%s\nnft: %s", trace.Test, list.Err(), text, call.Stderr)
			}
		}
	}
	t.Logf("%d of %d texts as nft", parsed, texts)
}

// traceTexts gives the texts in the nft language that a call holds.
func traceTexts(argv []string, stdin string, files map[string]string) []string {
	if slices.Contains(argv, "-j") || slices.ContainsFunc(argv, func(a string) bool { return strings.HasPrefix(a, "-j") }) {
		return nil
	}
	var command []string
	for i := 0; i < len(argv); i++ {
		if !strings.HasPrefix(argv[i], "-") || len(command) > 0 {
			command = append(command, argv[i])
			continue
		}
		switch {
		case strings.HasPrefix(argv[i], "--"):
			if argv[i] == "--debug" || argv[i] == "--file" || argv[i] == "--includepath" || argv[i] == "--define" {
				i++
			}
		case strings.ContainsAny(argv[i][len(argv[i])-1:], "fIdD"):
			i++
		}
	}
	var texts []string
	for _, text := range files {
		texts = append(texts, text)
	}
	if stdin != "" && !slices.Contains(argv, "-i") {
		texts = append(texts, stdin)
	}
	if len(command) > 0 {
		texts = append(texts, strings.Join(command, " "))
	}
	return texts
}

// TestBogons parses inputs that crashed parsers: no panic, no hang. Those
// that nft refuses with a syntax error must be refused here.
func TestBogons(t *testing.T) {
	type bogon struct {
		File, Input, Stderr string
		JSON                bool
	}
	for _, b := range testdata.Lines[bogon](t, "conformance/nft/bogons.jsonl") {
		_, list := syntax.Parse(diag.NewSource(b.File, []byte(b.Input)), syntax.Options{})
		if strings.Contains(b.Stderr, "syntax error") && !list.HasErrors() {
			t.Errorf("%s: not refused\n%s\n%s", b.File, b.Input, b.Stderr)
		}
	}
}
