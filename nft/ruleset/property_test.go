package ruleset

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// world draws changes that mostly make sense: names come from small pools, so
// that batches meet things that exist, things that do not, and each other.
type world struct {
	t  *rapid.T
	id int
	// oldHandles keeps to handles that cannot belong to rules of the batch:
	// those that a batch draws depend on what was tried before.
	oldHandles int
}

// handle draws the handle of a rule.
func (w *world) handle() int {
	n := 20
	if w.oldHandles > 0 {
		n = w.oldHandles
	}
	return w.number("handle", n)
}

func (w *world) pick(label string, options ...string) string {
	return rapid.SampledFrom(options).Draw(w.t, label)
}

func (w *world) number(label string, n int) int { return rapid.IntRange(1, n).Draw(w.t, label) }

func (w *world) change() string {
	table := w.pick("table", "ip t", "ip t", "ip t", "ip6 u")
	chain := w.pick("chain", "base", "a", "b", "c")
	set := w.pick("set", "s", "i", "m", "v", "o")
	switch w.pick("kind", "rule", "rule", "rule", "rule", "elements", "elements", "elements", "chain", "set", "object", "table") {
	case "rule":
		return w.rule(table, chain)
	case "elements":
		verb := w.pick("verb", "add", "add", "add", "create", "delete", "destroy")
		return fmt.Sprintf("%s elements %s %s : %s", verb, table, set, w.elements(set))
	case "chain":
		return w.chain(table, chain)
	case "set":
		return w.pick("verb", "add", "flush", "delete", "destroy") + " set " + table + " " + setDecl(set)
	case "object":
		return w.pick("verb", "add", "delete", "destroy") + " counter " + table + " " + w.pick("name", "n1", "n2")
	default:
		return w.pick("verb", "add", "add", "flush", "delete", "destroy") + " table " + table
	}
}

func (w *world) chain(table, chain string) string {
	switch w.pick("verb", "add", "add", "add", "flush", "delete", "rename") {
	case "flush":
		return "flush chain " + table + " " + chain
	case "delete":
		return "delete chain " + table + " " + chain
	case "rename":
		return "rename chain " + table + " " + chain + " " + w.pick("new", "a", "b", "c", "d")
	}
	if chain == "base" {
		return "add chain " + table + " base type filter hook input priority 0 policy " + w.pick("policy", "accept", "drop")
	}
	return "add chain " + table + " " + chain
}

func setDecl(set string) string {
	return set + map[string]string{
		"s": "", "i": " flags 4", "m": " flags 8 data 4", "v": " flags 8 verdict", "o": " flags 0x40 object 1",
	}[set]
}

func (w *world) rule(table, chain string) string {
	place := ""
	switch w.pick("place", "", "", "position", "index") {
	case "position":
		place = fmt.Sprintf(" position %d", w.handle())
	case "index":
		place = fmt.Sprintf(" index %d", w.number("index", 3)-1)
	}
	load := "payload load 4b @ network header + 12 => reg 1 ; "
	body := w.pick("body",
		"counter pkts 0 bytes 0", "cmp eq reg 1 0x00000001",
		"immediate reg 0 jump -> "+w.pick("target", "a", "b", "c", "d"),
		load+"lookup reg 1 set "+w.pick("looked", "s", "i"),
		load+"lookup reg 1 set v dreg 0", load+"objref sreg 1 set o",
		"objref type 1 name "+w.pick("object", "n1", "n2"), "anonymous", "anonymous")
	verb := w.pick("verb", "add", "add", "add", "insert", "replace", "delete", "destroy")
	switch verb {
	case "replace":
		return fmt.Sprintf("replace rule %s %s handle %d : counter pkts 0 bytes 0 ; "+load+"lookup reg 1 set s", table, chain, w.handle())
	case "delete", "destroy":
		return fmt.Sprintf("%s rule %s %s handle %d", verb, table, chain, w.handle())
	}
	if body == "anonymous" {
		w.id++
		return fmt.Sprintf("add set %s __set%%d flags 3 id %d\nadd elements %s __set%%d id %d : 00000001\n%s rule %s %s%s : %s#%d lookup reg 1 set __set%%d",
			table, w.id, table, w.id, verb, table, chain, place, load, w.id)
	}
	return verb + " rule " + table + " " + chain + place + " : " + body
}

func (w *world) elements(set string) string {
	n := w.number("key", 6) * 4
	key := fmt.Sprintf("%08x", n)
	switch set {
	case "i":
		return fmt.Sprintf("%s ; %08x flags 1", key, n+w.number("width", 5))
	case "m":
		return key + fmt.Sprintf(" = %08x", w.number("data", 2))
	case "v":
		return key + " = " + w.pick("verdict", "drop", "jump a", "goto b", "jump c")
	case "o":
		return key + " = object " + w.pick("object", "n1", "n2")
	}
	if w.number("catch", 8) == 1 {
		return "*"
	}
	return key
}

// batch draws changes; each may be several lines.
func (w *world) batch(n int) []Change {
	var text string
	for range n {
		text += w.change() + "\n"
	}
	return parseScript(text)
}

// accepted drops the changes that are refused on top of rs from a batch, so
// that what remains applies. A set that no rule uses goes with its rule.
func accepted(rs *Ruleset, batch []Change) []Change {
	for {
		_, errs := Apply(rs, batch, Options{CheckOnly: true})
		if len(errs) == 0 {
			return batch
		}
		var kept []Change
		refused := map[int]bool{}
		for _, e := range errs {
			refused[e.Index] = true
		}
		for i := range batch {
			if !refused[i] {
				kept = append(kept, batch[i])
			}
		}
		batch = kept
	}
}

// TestRefusedBatchChangesNothing: whatever a batch did before the change that
// is refused, nothing of it remains.
func TestRefusedBatchChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{t: rt}
		var rs *Ruleset
		rs, _ = Apply(rs, accepted(rs, w.batch(25)), Options{})
		before := dump(rs)
		w.oldHandles = lowestNextHandle(rs)
		batch := accepted(rs, w.batch(15))
		at := rapid.IntRange(0, len(batch)).Draw(rt, "at")
		bad := parseScript("delete chain ip t nosuch")
		failing := append(append(append([]Change(nil), batch[:at]...), bad...), batch[at:]...)
		next, errs := Apply(rs, failing, Options{})
		if len(errs) == 0 {
			rt.Fatal("not refused")
		}
		if dump(rs) != before || dump(next) != before {
			rt.Fatalf("changed by a refused batch:\n%s\nwas\n%s", dump(next), before)
		}
		// The sets still work, in the refused state as in the old one.
		a, errs := Apply(next, batch, Options{})
		if len(errs) > 0 {
			rt.Fatal(errs[0])
		}
		b, errs := Apply(rs, batch, Options{})
		if len(errs) > 0 {
			rt.Fatal(errs[0])
		}
		if handleless(dump(a)) != handleless(dump(b)) {
			rt.Fatalf("after a refused batch:\n%s\nwithout it\n%s", dump(a), dump(b))
		}
		if dump(rs) != before {
			rt.Fatal("a later batch changed the old snapshot")
		}
	})
}

// lowestNextHandle is below all handles that a batch can draw, at least 1.
func lowestNextHandle(rs *Ruleset) int {
	n := 1
	for _, t := range rs.Tables {
		if h := int(t.NextHandle) - 1; h < n || n == 1 {
			n = h
		}
	}
	return max(n, 1)
}

// TestSplitBatch: a batch that applies in two parts applies as a whole, with
// the same result.
func TestSplitBatch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{t: rt}
		rs, _ := Apply(nil, accepted(nil, w.batch(15)), Options{})
		first := accepted(rs, w.batch(12))
		half, errs := Apply(rs, first, Options{})
		if len(errs) > 0 {
			rt.Fatal(errs[0])
		}
		second := accepted(half, w.batch(12))
		split, errs := Apply(half, second, Options{})
		if len(errs) > 0 {
			rt.Fatal(errs[0])
		}
		whole, errs := Apply(rs, append(append([]Change(nil), first...), second...), Options{})
		if len(errs) > 0 {
			rt.Fatal(errs[0])
		}
		if dump(whole) != dump(split) {
			rt.Fatalf("as a whole:\n%s\nin two parts\n%s", dump(whole), dump(split))
		}
		checkUses(rt, whole)
	})
}

// checkUses counts references anew and compares.
func checkUses(t *rapid.T, rs *Ruleset) {
	for _, tab := range rs.Tables {
		chains, sets, objects := countUses(tab)
		for _, c := range tab.Chains {
			if tab.Chain(c.Name) != c || tab.ChainByHandle(c.Handle) != c {
				t.Errorf("chain %s is not found", c.Name)
			}
			if chains[c.Name] != c.Use() {
				t.Errorf("chain %s: use %d, counted %d", c.Name, c.Use(), chains[c.Name])
			}
		}
		for _, s := range tab.Sets {
			if tab.Set(s.Name) != s {
				t.Errorf("set %s is not found", s.Name)
			}
			if sets[s.Name] != s.Use() {
				t.Errorf("set %s: use %d, counted %d", s.Name, s.Use(), sets[s.Name])
			}
		}
		for _, o := range tab.Objects {
			if tab.Object(o.Type, o.Name) != o {
				t.Errorf("object %s is not found", o.Name)
			}
			if objects[o.Name] != o.Use() {
				t.Errorf("object %s: use %d, counted %d", o.Name, o.Use(), objects[o.Name])
			}
		}
	}
}

// FuzzBatches runs the properties on batches that the fuzzer finds.
func FuzzBatches(f *testing.F) {
	f.Add([]byte("add table"))
	f.Fuzz(rapid.MakeFuzz(func(rt *rapid.T) {
		w := &world{t: rt}
		rs, _ := Apply(nil, accepted(nil, w.batch(20)), Options{})
		before := dump(rs)
		next, errs := Apply(rs, w.batch(10), Options{})
		if dump(rs) != before {
			rt.Fatal("the old snapshot changed")
		}
		if len(errs) > 0 && dump(next) != before {
			rt.Fatal("a refused batch changed the ruleset")
		}
		checkUses(rt, next)
	}))
}
