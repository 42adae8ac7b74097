package ruleset_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/compile"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// compileText compiles a text against a snapshot.
func compileText(base *ruleset.Ruleset, text string, opts compile.Options) ([]ruleset.Change, error) {
	file, list := syntax.Parse(diag.NewSource("/dev/stdin", []byte(text)), syntax.Options{})
	if err := list.Err(); err != nil {
		return nil, err
	}
	batch, list := compile.Compile(base, file, opts)
	return batch, list.Err()
}

// anyInterface gives every interface an index.
func anyInterface(name string) (uint32, bool) { return uint32(len(name)), true }

// handle is a line of a recorded listing: what has which handle.
type handle struct {
	kind, table, name string
	handle            uint64
}

func handlesOf(rs *ruleset.Ruleset) []handle {
	var out []handle
	for _, t := range rs.Tables {
		table := fmt.Sprint(t.Family, " ", t.Name)
		out = append(out, handle{"table", table, t.Name, t.Handle})
		for _, c := range t.Chains {
			if c.Binding {
				continue
			}
			out = append(out, handle{"chain", table, c.Name, c.Handle})
			for _, r := range c.Rules {
				out = append(out, handle{"rule", table, c.Name, r.Handle})
			}
		}
		for _, s := range t.Sets {
			if s.Flags&ruleset.SetAnonymous == 0 {
				out = append(out, handle{"set", table, s.Name, s.Handle})
			}
		}
		for _, o := range t.Objects {
			out = append(out, handle{"object", table, o.Name, o.Handle})
		}
	}
	return out
}

// recordedHandles reads them from a listing in JSON.
func recordedHandles(t *testing.T, path string) []handle {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Nftables []map[string]struct {
			Family, Table, Name, Chain string
			Handle                     uint64
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var out []handle
	for _, item := range doc.Nftables {
		for kind, x := range item {
			h := handle{kind, x.Family + " " + x.Table, x.Name, x.Handle}
			switch kind {
			case "metainfo", "element", "flowtable":
				continue
			case "table":
				h.table += x.Name
			case "rule":
				h.name = x.Chain
			case "map":
				h.kind = "set"
			case "chain", "set":
			default:
				h.kind = "object"
			}
			out = append(out, h)
		}
	}
	return out
}

func compareHandles(a, b handle) int {
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// TestRecordedHandles compares the handles of real rulesets with those that
// the kernel gave. Each had been tried twice before, without effect but on the
// handles of tables.
func TestRecordedHandles(t *testing.T) {
	good, total := 0, 0
	for _, bucket := range []string{"tool-output", "nftables-examples"} {
		dir := testdata.Path(t, "corpus/nft/"+bucket)
		names, err := filepath.Glob(filepath.Join(dir, "*.nft"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			list := strings.TrimSuffix(name, ".nft") + ".json"
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(list); err != nil || strings.Contains(string(text), "include ") {
				continue // not loaded by the reference, or in several files
			}
			total++
			batch, err := compileText(nil, string(text), compile.Options{Interface: anyInterface})
			if err != nil {
				t.Logf("%s: %v", filepath.Base(name), err)
				continue
			}
			var rs *ruleset.Ruleset
			for range 2 {
				rs, _ = ruleset.Apply(rs, batch, ruleset.Options{CheckOnly: true})
			}
			rs, refused := ruleset.Apply(rs, batch, ruleset.Options{})
			if len(refused) > 0 {
				t.Logf("%s: %v", filepath.Base(name), refused[0])
				continue
			}
			got, want := handlesOf(rs), recordedHandles(t, list)
			slices.SortFunc(got, compareHandles)
			slices.SortFunc(want, compareHandles)
			if !slices.Equal(got, want) {
				t.Logf("%s: got\n%v\nwant\n%v", filepath.Base(name), got, want)
				continue
			}
			good++
		}
	}
	t.Logf("real rulesets with the recorded handles: %d of %d", good, total)
	if good < floorHandles {
		t.Errorf("below the floor %d", floorHandles)
	}
}

// Floors of the tests with recorded data.
const (
	floorHandles = 86
	floorErrors  = 42
)

// kernelErrors gives the kernel's refusals from what nft printed.
func kernelErrors(stderr string) []string {
	var out []string
	for _, line := range strings.Split(stderr, "\n") {
		if at := strings.Index(line, "Could not process rule: "); at >= 0 {
			out = append(out, line[at:])
		}
	}
	return out
}

func messages(errs []*ruleset.ChangeError) []string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Message)
	}
	return out
}

// TestRecordedErrors replays recorded calls of nft and compares the kernel's
// refusals: how many there are and their texts.
func TestRecordedErrors(t *testing.T) {
	good, total := 0, 0
	for _, trace := range testdata.Lines[recordedTrace](t, testdata.NftTraces) {
		if trace.Status != "OK" || len(trace.Needs) > 0 {
			continue
		}
		g, n := trace.replay(t)
		good, total = good+g, total+n
	}
	t.Logf("calls with the recorded refusals of the kernel: %d of %d", good, total)
	if good < floorErrors {
		t.Errorf("below the floor %d", floorErrors)
	}
}

// recordedTrace is a sequence of calls of nft.
type recordedTrace struct {
	Test, Status string
	Needs        []string
	Calls        []struct {
		Argv   []string
		Rc     int
		Stderr string
		Stdin  *string
	}
}

// replay makes the calls that change something, and counts those that the
// kernel refused and that are refused alike.
func (trace *recordedTrace) replay(t *testing.T) (good, total int) {
	var rs *ruleset.Ruleset
	for _, call := range trace.Calls {
		text := strings.Join(call.Argv, " ")
		if call.Stdin != nil && slices.Equal(call.Argv, []string{"-f", "-"}) {
			text = *call.Stdin
		} else if strings.HasPrefix(text, "-") {
			if !strings.Contains(text, "list") {
				return good, total
			}
			continue
		}
		batch, err := compileText(rs, text, compile.Options{Interface: anyInterface})
		if err != nil {
			continue // nft refuses it itself, or it only reads
		}
		next, errs := ruleset.Apply(rs, batch, ruleset.Options{})
		rs = next
		want := kernelErrors(call.Stderr)
		if len(batch) == 0 || len(want) == 0 && len(errs) == 0 {
			continue
		}
		total++
		if got := messages(errs); !slices.Equal(got, want) {
			t.Logf("%s: %s\n  got  %q\n  want %q", trace.Test, text, got, want)
			continue
		}
		good++
	}
	return good, total
}
