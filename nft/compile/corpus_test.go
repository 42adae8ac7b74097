package compile

import (
	"fmt"
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
	for _, c := range testdata.CorpusRulesets(t) {
		total++
		opts := conformanceHost()
		opts.Location = nil
		opts.Interface = testdata.InterfaceIndex(c.Interfaces)
		got, err := debugText(c.Path(), opts)
		if c.Stage == "user" {
			if err != nil {
				good++
			} else {
				t.Logf("%s: accepted, reference: %v", c.File, c.Why)
			}
			continue
		}
		if err != nil {
			t.Logf("%s: %v", c.File, err)
			continue
		}
		want, err := os.ReadFile(c.Recorded(".bytecode"))
		if err != nil {
			t.Logf("%s: %v", c.File, err)
			continue
		}
		if d := firstDifference(got, string(want)); d != "" {
			t.Logf("%s: %s", c.File, d)
			continue
		}
		good++
	}
	t.Logf("real rulesets with the exact bytecode, or refused as by the reference: %d of %d", good, total)
	if good < floorCorpus {
		t.Errorf("below the floor %d", floorCorpus)
	}
}

// TestDumps compares the bytecode of listings with the recorded one.
func TestDumps(t *testing.T) {
	good, total := 0, 0
	dumps := testdata.Path(t, "conformance/nft/dumps")
	testdata.EachFile(t, "conformance/nft/dumps_netlink", func(name, _ string, want []byte) {
		total++
		got, err := debugText(filepath.Join(dumps, strings.TrimSuffix(name, ".txt")+".nft"), conformanceHost())
		if err != nil {
			t.Logf("%s: %v", name, err)
			return
		}
		if d := firstDifference(got, string(want)); d != "" {
			t.Logf("%s: %s", name, d)
			return
		}
		good++
	})
	t.Logf("dumps with the exact bytecode: %d of %d", good, total)
	if good < floorDumps {
		t.Errorf("below the floor %d", floorDumps)
	}
}
