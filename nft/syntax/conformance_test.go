package syntax_test

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/syntax"
)

// openFiles opens includes relative to the including file's folder.
func openFiles(pattern string, from *diag.Source) ([]*diag.Source, error) {
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(filepath.Dir(from.Name), pattern)
	}
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 && !strings.ContainsAny(pattern, "*?[") {
		return nil, fs.ErrNotExist
	}
	var sources []*diag.Source
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		sources = append(sources, diag.NewSource(name, text))
	}
	return sources, nil
}

func parseText(name, text string) (*syntax.File, *diag.List) {
	return syntax.Parse(diag.NewSource(name, []byte(text)), syntax.Options{Open: openFiles})
}

// lines decodes a file of JSON objects, one a line.
func lines[T any](t *testing.T, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []T
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var v T
		if err := json.Unmarshal(scanner.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

type corpusEntry struct {
	File, Accepted, Stage string
	Why                   []string
}

// corpusIndex lists the real rulesets; File becomes an absolute path.
func corpusIndex(t *testing.T) []corpusEntry {
	var all []corpusEntry
	for _, folder := range []string{"tool-output", "nftables-examples"} {
		dir := testdata.Path(t, "corpus/nft/"+folder)
		text, err := os.ReadFile(filepath.Join(dir, "index.json"))
		if err != nil {
			t.Fatal(err)
		}
		var entries []corpusEntry
		if err := json.Unmarshal(text, &entries); err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			e.File = filepath.Join(dir, e.File)
			all = append(all, e)
		}
	}
	return all
}

// TestCorpus parses real rulesets: all that nft accepts must parse.
func TestCorpus(t *testing.T) {
	accepted, parsed := 0, 0
	for _, e := range corpusIndex(t) {
		text, err := os.ReadFile(e.File)
		if err != nil {
			t.Fatal(err)
		}
		_, list := parseText(e.File, string(text))
		if e.Accepted != "yes" && e.Stage == "user" {
			t.Logf("refused by nft: %s: %s; here: %v", filepath.Base(e.File), e.Why, list.Err())
			continue
		}
		accepted++
		if err := list.Err(); err != nil {
			t.Errorf("%s: %v", e.File, err)
			continue
		}
		parsed++
	}
	t.Logf("parsed %d of %d accepted files", parsed, accepted)
}

type conformanceCase struct {
	ID, Kind, Cmd, Expect, Listing, Rule string
	Setup                                []string
}

// TestConformanceCases parses the setup and command of every case that nft
// accepts, and its expected listing.
func TestConformanceCases(t *testing.T) {
	cases := lines[conformanceCase](t, testdata.Path(t, "conformance/nft/cases.jsonl"))
	ok, parsed, refused, fails := 0, 0, 0, 0
	seen := map[string]bool{}
	for _, c := range cases {
		if c.Expect != "ok" {
			fails++
			if _, list := parseText(c.ID, c.Cmd); list.HasErrors() {
				refused++
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
