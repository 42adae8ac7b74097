package compile

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// debugText compiles a file and gives its debug text; refusals of the kernel
// do not matter.
func debugText(path string, opts Options) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	file, list := syntax.Parse(diag.NewSource(path, text), syntax.Options{Open: testdata.OpenIncluded})
	if err := list.Err(); err != nil {
		return "", fmt.Errorf("syntax: %w", err)
	}
	batch, list := Compile(nil, file, opts)
	if err := list.Err(); err != nil {
		return "", err
	}
	return string(ruleset.AppendDebug(nil, nil, batch)), nil
}

// firstDifference compares debug texts up to the order of elements in a line.
func firstDifference(got, want string) string {
	norm := func(text string) []string {
		lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
		for i, l := range lines {
			if strings.HasPrefix(l, "\t") {
				parts := strings.Split(l, "\t")
				slices.Sort(parts)
				lines[i] = strings.Join(parts, "\t")
			}
		}
		return lines
	}
	g, w := norm(got), norm(want)
	for i := range max(len(g), len(w)) {
		a, b := "(end)", "(end)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\n  got  %.300s\n  want %.300s", i+1, a, b)
		}
	}
	return ""
}

// TestCorpus compares real rulesets with the bytecode recorded for them, and
// checks that those which the reference refuses are refused.
func TestCorpus(t *testing.T) {
	good, total := 0, 0
	for _, dir := range []string{"tool-output", "nftables-examples"} {
		dir = testdata.Path(t, "corpus/nft/"+dir)
		var index []struct {
			File, Stage string
			Interfaces  map[string]uint32
			Why         []string
		}
		text, err := os.ReadFile(filepath.Join(dir, "index.json"))
		if err == nil {
			err = json.Unmarshal(text, &index)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range index {
			total++
			path := filepath.Join(dir, e.File)
			opts := conformanceHost()
			opts.Location = nil
			opts.Interface = func(name string) (uint32, bool) {
				if name == "lo" {
					return 1, true
				}
				i, ok := e.Interfaces[name]
				return i, ok
			}
			got, err := debugText(path, opts)
			if e.Stage == "user" {
				if err != nil {
					good++
				} else {
					t.Logf("%s: accepted, reference: %v", e.File, e.Why)
				}
				continue
			}
			if err != nil {
				t.Logf("%s: %v", e.File, err)
				continue
			}
			want, err := os.ReadFile(strings.TrimSuffix(path, ".nft") + ".bytecode")
			if err != nil {
				t.Logf("%s: %v", e.File, err)
				continue
			}
			if d := firstDifference(got, string(want)); d != "" {
				t.Logf("%s: %s", e.File, d)
				continue
			}
			good++
		}
	}
	t.Logf("real rulesets with the exact bytecode, or refused as by the reference: %d of %d", good, total)
	if good < floorCorpus {
		t.Errorf("below the floor %d", floorCorpus)
	}
}

// TestDumps compares the bytecode of listings with the recorded one.
func TestDumps(t *testing.T) {
	root := testdata.Path(t, "conformance/nft/dumps_netlink")
	good, total := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		total++
		want, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, _ := filepath.Rel(root, path)
		source := filepath.Join(filepath.Dir(root), "dumps", strings.TrimSuffix(relative, ".txt")+".nft")
		got, err := debugText(source, conformanceHost())
		if err != nil {
			t.Logf("%s: %v", relative, err)
			return nil
		}
		if d := firstDifference(got, string(want)); d != "" {
			t.Logf("%s: %s", relative, d)
			return nil
		}
		good++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("dumps with the exact bytecode: %d of %d", good, total)
	if good < floorDumps {
		t.Errorf("below the floor %d", floorDumps)
	}
}
