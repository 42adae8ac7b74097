package goals

import (
	"bufio"
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
)

// corpusEntry is one real ruleset of the corpus.
type corpusEntry struct{ testdata.Corpus }

func corpus(t *testing.T) []corpusEntry {
	var all []corpusEntry
	for _, c := range testdata.CorpusRulesets(t) {
		all = append(all, corpusEntry{c})
	}
	return all
}

// load loads a ruleset of the corpus on a host with the interfaces it names.
func (e corpusEntry) load(t *testing.T) (*verdict.Ruleset, *diag.List) { return e.loadWith(t, nil) }

// loadWith is load, telling each batch before it is applied.
func (e corpusEntry) loadWith(t *testing.T, batch func(*ruleset.Ruleset, []ruleset.Change)) (*verdict.Ruleset, *diag.List) {
	config := host.Config{}
	for name, index := range e.Interfaces {
		config.Interfaces = append(config.Interfaces, host.Interface{Name: name, Index: int(index)})
	}
	h, err := host.New(config)
	if err != nil {
		t.Fatal(err)
	}
	path := e.Path()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return verdict.LoadSources(verdict.LoadOptions{Host: h, Files: testdata.Beside(e.Dir()), Zone: time.UTC, Batch: batch}, diag.NewSource(path, text))
}

func TestGoal1Corpus(t *testing.T) {
	var accepted, loaded, listed, same int
	for _, e := range corpus(t) {
		if e.Accepted != "yes" {
			continue
		}
		accepted++
		rules, findings := e.load(t)
		if rules == nil {
			t.Logf("%s does not load: %v", e.File, findings.Err())
			continue
		}
		loaded++
		want, err := os.ReadFile(e.Recorded(".list"))
		if err != nil {
			continue
		}
		listed++
		options := rules.ListOptions()
		options.Stateless = true
		var got bytes.Buffer
		if err := decompile.List(&got, rules.Rules(), options); err != nil {
			t.Error(err)
		}
		if unordered(got.String()) == unordered(string(want)) {
			same++
		} else {
			t.Logf("%s lists otherwise: %s", e.File, firstDifference(got.String(), string(want)))
		}
	}
	goal(t, percent(loaded, accepted) >= 90, "real rulesets load", share(loaded, accepted), "at least 90 %")
	goal(t, percent(same, listed) >= 80, "their listing equals nft's up to element order", share(same, listed), "at least 80 %")
}

// unordered makes listings comparable up to the order of elements: the
// elements of each { … } are sorted, white space is folded.
func unordered(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	var out strings.Builder
	for {
		open := strings.Index(text, "= { ")
		if open < 0 {
			out.WriteString(text)
			return out.String()
		}
		end := strings.Index(text[open:], "}")
		if end < 0 {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:open+4])
		elements := strings.Split(strings.TrimSpace(text[open+4:open+end]), ", ")
		slices.Sort(elements)
		out.WriteString(strings.Join(elements, ", "))
		text = text[open+end:]
	}
}

func firstDifference(got, want string) string {
	a, b := bufio.NewScanner(strings.NewReader(got)), bufio.NewScanner(strings.NewReader(want))
	for a.Scan() {
		if !b.Scan() {
			return "more than wanted: " + a.Text()
		}
		if a.Text() != b.Text() {
			return "got " + strings.TrimSpace(a.Text()) + "; want " + strings.TrimSpace(b.Text())
		}
	}
	if b.Scan() {
		return "missing: " + b.Text()
	}
	return "white space only"
}
