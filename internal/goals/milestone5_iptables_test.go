package goals

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verdict"
	"verdict/capture"
	"verdict/catalog"
	"verdict/diag"
	"verdict/engine"
	"verdict/internal/testdata"
	"verdict/iptables"
)

// savedRules is a save file of the corpus.
type savedRules struct {
	File, Family, Legacy string
	dir                  string
}

func (f *savedRules) family() catalog.Family {
	if f.Family == "ip6" {
		return catalog.FamilyIP6
	}
	return catalog.FamilyIP
}

func (f *savedRules) source(t *testing.T) *diag.Source {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, f.File))
	if err != nil {
		t.Fatal(err)
	}
	return diag.NewSource(f.File, text)
}

func savedCorpus(t *testing.T) []*savedRules {
	t.Helper()
	dir := testdata.Path(t, "corpus/iptables")
	text, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*savedRules
	if err := json.Unmarshal(text, &files); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		f.dir = dir
	}
	return files
}

func TestGoal5IptablesLoads(t *testing.T) {
	loaded, all := 0, 0
	for _, f := range savedCorpus(t) {
		if f.Legacy != "yes" {
			continue
		}
		all++
		_, found := verdict.LoadSources(verdict.LoadOptions{TablesFamily: f.family()}, f.source(t))
		if found.HasErrors() {
			t.Logf("%s: %v", f.File, found.Err())
			continue
		}
		loaded++
	}
	goal(t, loaded == all && all > 0, "iptables-save files that the legacy tool accepts load", share(loaded, all), "all")
}

func TestGoal5IptablesTranslates(t *testing.T) {
	same, all := 0, 0
	for _, f := range savedCorpus(t) {
		want, err := os.ReadFile(filepath.Join(f.dir, strings.TrimSuffix(f.File, ".rules")+".translate"))
		if err != nil {
			continue
		}
		all++
		file, found := iptables.Parse(f.source(t), iptables.Options{Family: f.family()})
		if found.HasErrors() {
			t.Logf("%s: %v", f.File, found.Err())
			continue
		}
		var got strings.Builder
		for _, l := range iptables.Translate(file, iptables.TranslateOptions{Reference: true}) {
			if !l.Comment {
				got.WriteString(l.Text + "\n")
			}
		}
		if got.String() != string(want) {
			t.Logf("%s: the translation differs", f.File)
			continue
		}
		same++
	}
	goal(t, same == all && all > 0, "translations equal those of iptables-restore-translate", share(same, all), "all")
}

// pair runs the same packets through a table and through its translation.
type pair struct {
	legacy, translated *engine.Engine
	a, b               *engine.Worker
	of                 map[int]int // line of the save file, by line of the translation
}

// newPair translates a file; why says which part has no nft form.
func newPair(t *testing.T, f *savedRules) (p *pair, why string) {
	t.Helper()
	file, found := iptables.Parse(f.source(t), iptables.Options{Family: f.family()})
	if found.HasErrors() {
		return nil, found.Err().Error()
	}
	lines := iptables.Translate(file, iptables.TranslateOptions{})
	if left := iptables.Untranslated(lines); len(left) > 0 {
		return nil, fmt.Sprintf("%d rules have no nft form: %s", len(left), left[0].Text())
	}
	p = &pair{of: map[int]int{}}
	for i, l := range lines {
		if l.Rule != nil {
			p.of[i+1] = l.Rule.Place.Pos().Line
		}
	}
	p.legacy = engineOf(t, f.family(), f.source(t))
	p.translated = engineOf(t, f.family(), diag.NewSource(f.File+".nft", iptables.AppendTranslation(nil, lines)))
	p.a, p.b = p.legacy.Worker(), p.translated.Worker()
	return p, ""
}

func engineOf(t *testing.T, family catalog.Family, src *diag.Source) *engine.Engine {
	t.Helper()
	rules, found := verdict.LoadSources(verdict.LoadOptions{TablesFamily: family}, src)
	if found.HasErrors() {
		t.Fatalf("%s: %v", src.Name, found.Err())
	}
	e, err := engine.New(rules.Rules(), rules.Host(), engine.Options{Interface: "eth0", Seed: 1, Forwarded: true, Tables: rules.Tables()})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// run compares the fates of all packets of a capture.
func (p *pair) run(t *testing.T, path string) (packets, different int, first string) {
	t.Helper()
	src, err := capture.Open(path, capture.Options{})
	if err != nil {
		return 0, 0, ""
	}
	defer src.Close()
	var frame capture.Frame
	var clock capture.Clock
	var a, b engine.Outcome
	for src.Next(&frame) == nil {
		in := verdict.FrameInput(&frame)
		if frame.HasTime {
			in.Time = clock.Advance(&frame)
		} else {
			in.Time = clock.Now()
		}
		p.a.Evaluate(&in, &a)
		p.b.Evaluate(&in, &b)
		packets++
		if a.Fate != b.Fate || a.Changed != b.Changed || string(a.Data) != string(b.Data) {
			if different == 0 {
				first = fmt.Sprintf("packet %d: table %s, translation %s", packets, a.Fate, b.Fate)
			}
			different++
		}
	}
	return packets, different, first
}

// counts compares the counters of all rules, by their lines of the save file:
// lists of addresses there, and rules of nft that share one, add up. Rules with
// a limit are left out: tables count time in ticks of the kernel, nft does not.
func (p *pair) counts() (rules, different int, first string) {
	want, got := map[int]iptables.Counter{}, map[int]iptables.Counter{}
	text := map[int]string{}
	tables, machine := p.legacy.Tables(), p.a.Tables()
	for n := range uint32(tables.Rules()) {
		_, _, rule, _ := tables.Rule(n)
		if strings.Contains(rule.Text(), "-m limit") {
			continue
		}
		line := rule.Place.Pos().Line
		want[line] = plus(want[line], machine.Counter(n))
		text[line] = rule.Text()
	}
	program, hits := p.translated.Program(), p.b.Machine().Hits()
	for n := range hits {
		_, rule, _ := program.Rule(uint32(n))
		line := p.of[rule.Place.Pos().Line]
		got[line] = plus(got[line], iptables.Counter(hits[n]))
	}
	for line, w := range want {
		rules++
		if g := got[line]; g != w {
			if different == 0 {
				first = fmt.Sprintf("line %d %s: table %d packets, translation %d", line, text[line], w.Packets, g.Packets)
			}
			different++
		}
	}
	return rules, different, first
}

func plus(a, b iptables.Counter) iptables.Counter {
	return iptables.Counter{Packets: a.Packets + b.Packets, Bytes: a.Bytes + b.Bytes}
}

// dropped explains the captures whose packets a table drops where nft goes on
// with the next rule: a match that cannot read its header drops in a table.
// Ref: x_tables.h, xt_action_param.hotdrop.
var dropped = map[string]string{
	"suricata-ipv6-evasion-ipv6-malformed-fragments-12-frag-12.pcap": "the chain of IPv6 extension headers is broken at a rule with -p",
	"suricata-decode-too-small-test.pcap":                            "the UDP header is too short at a rule with -m udp",
}

// TestGoal5IptablesAgrees runs every capture through each table and through its
// translation.
func TestGoal5IptablesAgrees(t *testing.T) {
	captures, err := filepath.Glob(filepath.Join(testdata.Path(t, "corpus/pcap"), "*.pcap*"))
	if err != nil || len(captures) == 0 {
		t.Fatal("no captures")
	}
	var pairs, agree, packets, rules, explained, skipped int
	for _, f := range savedCorpus(t) {
		if f.Legacy != "yes" {
			continue
		}
		translatable := true
		for _, path := range captures {
			p, why := newPair(t, f)
			if p == nil {
				t.Logf("%s is not compared: %s", f.File, why)
				translatable = false
				break
			}
			n, bad, first := p.run(t, path)
			count, wrong, rule := p.counts()
			packets, rules = packets+n, rules+count
			pairs++
			if why, ok := dropped[filepath.Base(path)]; ok && bad+wrong > 0 {
				t.Logf("%s, %s: explained: %s", f.File, filepath.Base(path), why)
				explained++
				continue
			}
			if bad+wrong > 0 {
				t.Logf("%s, %s: %d packets differ (%s), %d rules (%s)", f.File, filepath.Base(path), bad, first, wrong, rule)
				continue
			}
			agree++
		}
		if !translatable {
			skipped++
		}
	}
	t.Logf("%d packets, %d counters of rules, %d files not translatable, %d explained", packets, rules, skipped, explained)
	goal(t, agree+explained == pairs && explained*100 < pairs, "tables and their translation agree on a capture", share(agree, pairs), "all but those explained")
}
