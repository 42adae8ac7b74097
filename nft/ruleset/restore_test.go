package ruleset

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestRestore: a ruleset that is taken apart and put together is the same,
// also for the batches after it.
func TestRestore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{t: rt}
		rs, _ := Apply(nil, accepted(nil, w.batch(25)), Options{})
		elements := map[*Set][]Element{}
		for _, tab := range rs.Tables {
			for _, s := range tab.Sets {
				for el := range s.Elements.Alive(0) {
					elements[s] = append(elements[s], *el)
				}
			}
		}
		again, err := Restore(rs, func(_ *Table, s *Set) []Element { return elements[s] }, 0, FromFile)
		if err != nil {
			rt.Fatal(err)
		}
		if sorted(dump(again)) != sorted(dump(rs)) {
			rt.Fatalf("restored:\n%s\nwas\n%s", dump(again), dump(rs))
		}
		batch := accepted(rs, w.batch(10))
		a, errs := Apply(rs, batch, Options{})
		if len(errs) > 0 {
			rt.Fatal(errs[0])
		}
		b, errs := Apply(again, batch, Options{})
		if len(errs) > 0 {
			rt.Fatal(errs[0])
		}
		if sorted(dump(a)) != sorted(dump(b)) {
			rt.Fatalf("restored, then:\n%s\nwas\n%s", dump(b), dump(a))
		}
		checkUses(rt, b)
	})
}

// sorted puts the lines of a dump in order, since the order of a hash's
// elements depends on its past.
func sorted(dump string) string {
	lines := strings.Split(dump, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestRestoreRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		rs   *Ruleset
		want string
	}{
		"two tables": {&Ruleset{Tables: []*Table{{Family: 2, Name: "t"}, {Family: 2, Name: "t"}}}, "table ip t is there twice"},
		"two chains": {&Ruleset{Tables: []*Table{{Family: 2, Name: "t", Chains: []*Chain{{Name: "c"}, {Name: "c"}}}}}, "chain c is there twice"},
		"bad set":    {&Ruleset{Tables: []*Table{{Family: 2, Name: "t", Sets: []*Set{{SetDef: SetDef{Name: "s"}}}}}}, "key of 0 bytes"},
		"lost chain": {&Ruleset{Tables: []*Table{{Family: 2, Name: "t", Chains: []*Chain{
			{Name: "c", Rules: []*Rule{{Handle: 7, Exprs: parseExprs("immediate reg 0 jump -> nosuch")}}},
		}}}}, `rule with handle 7: no chain "nosuch"`},
		"lost set": {&Ruleset{Tables: []*Table{{Family: 2, Name: "t", Chains: []*Chain{
			{Name: "c", Rules: []*Rule{{Handle: 7, Exprs: parseExprs("lookup reg 1 set nosuch")}}},
		}}}}, `no set "nosuch"`},
		"lost register": {&Ruleset{Tables: []*Table{{Family: 2, Name: "t", Chains: []*Chain{
			{Name: "c", Rules: []*Rule{{Handle: 7, Exprs: parseExprs("cmp eq reg 1 0x01")}}},
		}}}}, "which the rule has not written"},
		"lost hook":   {&Ruleset{Tables: []*Table{{Family: 2, Name: "t", Chains: []*Chain{{Name: "c", Base: &BaseChain{Type: "filter", Hook: 9, Policy: 1}}}}}}, "no hook 9"},
		"lost policy": {&Ruleset{Tables: []*Table{{Family: 2, Name: "t", Chains: []*Chain{{Name: "c", Base: &BaseChain{Type: "filter", Policy: 7}}}}}}, "policy"},
		"a circle": {&Ruleset{Tables: []*Table{{Family: 2, Name: "t", Chains: []*Chain{
			{Name: "c", Base: &BaseChain{Type: "filter", Hook: 1, Policy: 1}, Rules: []*Rule{{Handle: 7, Exprs: parseExprs("immediate reg 0 jump -> d")}}},
			{Name: "d", Rules: []*Rule{{Handle: 8, Exprs: parseExprs("immediate reg 0 jump -> d")}}},
		}}}}, "in a circle"},
	} {
		_, err := Restore(c.rs, func(*Table, *Set) []Element { return nil }, 0, FromFile)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
