package goals

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"verdict"
	"verdict/diag"
	"verdict/host"
	"verdict/internal/testdata"
	"verdict/nft/decompile"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// dumpHost is the host on which the dumps were loaded.
func dumpHost(t *testing.T) *host.Host {
	var config host.Config
	for name, index := range testdata.RecordingInterfaces() {
		config.Interfaces = append(config.Interfaces, host.Interface{Name: name, Index: int(index)})
	}
	h, err := host.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestGoal2Dumps(t *testing.T) {
	type indexed struct{ File, Status string }
	var all, loaded, exact, stable int
	for _, dump := range testdata.Lines[indexed](t, "conformance/nft/dumps_index.jsonl") {
		text, err := os.ReadFile(testdata.Path(t, "conformance/nft/dumps/"+dump.File))
		if err != nil {
			t.Fatal(err)
		}
		all++
		if printsStable(text) {
			stable++
		} else {
			t.Logf("%s: parse and print is not stable", dump.File)
		}
		if dump.Status != "roundtrip-exact" {
			continue
		}
		loaded++
		if got := listDump(t, dump.File, text); got == string(text) {
			exact++
		} else {
			t.Logf("%s: %s", dump.File, firstDifference(got, string(text)))
		}
	}
	goal(t, exact == loaded, "dumps that the reference loaded list back byte for byte", share(exact, loaded), "all")
	goal(t, stable == all, "dumps: parse, print, parse is stable", share(stable, all), "all")
}

func listDump(t *testing.T, name string, text []byte) string {
	rules, findings := verdict.LoadSources(verdict.LoadOptions{Host: dumpHost(t), Zone: east}, diag.NewSource(name, text))
	if rules == nil {
		return findings.Err().Error()
	}
	var b bytes.Buffer
	if err := rules.List(&b); err != nil {
		t.Error(err)
	}
	return b.String()
}

// printsStable parses a text, prints it, and does so again with the result.
func printsStable(text []byte) bool {
	once, ok := reprint(text)
	if !ok {
		return false
	}
	twice, ok := reprint(once)
	return ok && bytes.Equal(once, twice)
}

func reprint(text []byte) ([]byte, bool) {
	file, findings := syntax.Parse(diag.NewSource("dump", text), syntax.Options{})
	if findings.HasErrors() {
		return nil, false
	}
	var b bytes.Buffer
	err := syntax.PrintFile(&b, file)
	return b.Bytes(), err == nil
}

func TestGoal2Corpus(t *testing.T) {
	var accepted, loaded, listings, same, compiled, bytecode int
	for _, e := range corpus(t) {
		if e.Accepted != "yes" {
			continue
		}
		accepted++
		var debug []byte
		rules, findings := e.loadWith(t, func(base *ruleset.Ruleset, batch []ruleset.Change) {
			debug = ruleset.AppendDebug(debug, base, batch)
		})
		if rules == nil {
			t.Logf("%s: %v", e.File, findings.Err())
			continue
		}
		loaded++
		if want, err := os.ReadFile(e.Recorded(".list")); err == nil {
			listings++
			if got := statelessListing(t, rules); got == string(want) {
				same++
			} else {
				t.Logf("%s: %s", e.File, firstDifference(got, string(want)))
			}
		}
		if want, err := os.ReadFile(e.Recorded(".bytecode")); err == nil {
			compiled++
			if sortElements(string(debug)) == sortElements(string(want)) {
				bytecode++
			} else {
				t.Logf("%s: %s", e.File, firstDifference(sortElements(string(debug)), sortElements(string(want))))
			}
		}
	}
	goal(t, loaded == accepted, "real rulesets load", share(loaded, accepted), "all")
	goal(t, same == listings, "their listing equals nft's", share(same, listings), "all")
	goal(t, bytecode == compiled, "their bytecode equals nft's, up to the order of elements", share(bytecode, compiled), "all")
}

func statelessListing(t *testing.T, rules *verdict.Ruleset) string {
	options := rules.ListOptions()
	options.Stateless = true
	options.Now = time.Unix(0, 0)
	var b bytes.Buffer
	if err := decompile.List(&b, rules.Rules(), options); err != nil {
		t.Error(err)
	}
	return b.String()
}

// sortElements makes debug texts comparable up to the order of the elements of
// each line, and to blanks at line ends.
func sortElements(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, " \t")
		if strings.HasPrefix(line, "\telement") {
			elements := strings.Split(strings.Trim(line, "\t"), "\t")
			slices.Sort(elements)
			line = "\t" + strings.Join(elements, "\t")
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}
