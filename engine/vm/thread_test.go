package vm

import (
	"fmt"
	"slices"
	"testing"

	"verdict/catalog"
)

func TestDecide(t *testing.T) {
	is := func(mask, val uint32) fact { return fact{opNetwork4, 4, 12, mask, val, true} }
	not := func(mask, val uint32) fact { return fact{opNetwork4, 4, 12, mask, val, false} }
	for _, c := range []struct {
		name  string
		known []fact
		asked fact
		want  string
	}{
		{"nothing known", nil, is(0xff, 6), "unknown"},
		{"the same", []fact{is(0xff, 6)}, is(0xff, 6), "holds"},
		{"another value", []fact{is(0xff, 6)}, is(0xff, 17), "fails"},
		{"another place", []fact{{opNetwork4, 4, 16, 0xff, 6, true}}, is(0xff, 6), "unknown"},
		{"another load", []fact{{opNetwork2, 2, 12, 0xff, 6, true}}, is(0xff, 6), "unknown"},
		{"fewer bytes", []fact{is(0xffffff, 6)}, fact{opNetwork4, 3, 12, 0xff, 6, true}, "holds"},
		{"more bytes, which may not be there", []fact{{opNetwork4, 3, 12, 0xffffff, 6, true}}, is(0xffffff, 6), "unknown"},
		{"fewer bits", []fact{is(0xffff, 0x0106)}, is(0xff, 6), "holds"},
		{"fewer bits, another value", []fact{is(0xffff, 0x0106)}, is(0xff, 7), "fails"},
		{"more bits", []fact{is(0xff, 6)}, is(0xffff, 0x0106), "unknown"},
		{"more bits, another value", []fact{is(0xff, 6)}, is(0xffff, 0x0107), "fails"},
		{"other bits", []fact{is(0xff00, 0x0100)}, is(0xff, 6), "unknown"},
		{"failed before", []fact{not(0xff, 6)}, is(0xff, 6), "fails"},
		{"failed with another value", []fact{not(0xff, 6)}, is(0xff, 7), "unknown"},
		{"failed with fewer bits", []fact{not(0xff, 6)}, is(0xffff, 0x0106), "fails"},
		{"failed with more bits", []fact{not(0xffff, 0x0106)}, is(0xff, 6), "unknown"},
	} {
		got := "unknown"
		if holds, known := decide(c.known, c.asked); known && holds {
			got = "holds"
		} else if known {
			got = "fails"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestThread shows where breaks lead: as rule.instruction, for each compare of
// the folded code.
func TestThread(t *testing.T) {
	const (
		tcp  = "meta load l4proto => reg 1; cmp eq reg 1 0x06"
		udp  = "meta load l4proto => reg 1; cmp eq reg 1 0x11"
		port = "payload load 2b @ transport header + 2 => reg 1; cmp eq reg 1 "
		drop = "; immediate reg 0 drop"
	)
	for _, c := range []struct {
		name  string
		rules []string
		want  string
	}{
		{"same protocol", []string{tcp + "; " + port + "0x0016" + drop, tcp + "; " + port + "0x0050" + drop},
			"0.1>end 0.3>1.3 1.1>end 1.3>end"},
		{"same port", []string{tcp + "; " + port + "0x0016" + drop, tcp + "; " + port + "0x0016; counter pkts 0 bytes 0" + drop, udp + drop},
			"0.1>2.1 0.3>end 1.1>2.1 1.3>end 2.1>end"},
		{"an action between", []string{tcp + "; immediate reg 2 0x01; meta set mark with reg 2", tcp + drop},
			"0.1>end 1.1>end"},
		{"what a mark was", []string{"meta load mark => reg 1; cmp eq reg 1 0x01; immediate reg 1 0x02; meta set mark with reg 1; limit rate 1/second burst 1 type packets flags 0x0", "meta load mark => reg 1; cmp eq reg 1 0x01" + drop},
			"0.1>end 1.1>end"},
		{"read again", []string{tcp + drop, "meta load l4proto => reg 1; cmp neq reg 1 0x06; cmp neq reg 1 0x11" + drop, udp + drop},
			"0.1>1.1 1.1>end 1.2>2.0 2.1>end"},
	} {
		p := load(t, catalog.VerdictAccept, map[string][]string{"base": c.rules}, "base")
		p.Finish()
		if got := p.breaks(&p.Chains[0]); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestThreadRepeated: facts that are learnt again and again stay few. They
// multiplied where ways met, until no memory was left.
func TestThreadRepeated(t *testing.T) {
	const protocol, late = "meta load l4proto => reg 1; cmp eq reg 1 0x06", "payload load 2b @ transport header + 2 => reg 2; cmp gt reg 2 0x0016"
	var rules []string
	for range 5 {
		rules = append(rules, protocol+"; "+late+"; "+protocol+"; "+late)
	}
	p := load(t, catalog.VerdictAccept, map[string][]string{"base": rules}, "base")
	c := &p.Chains[0]
	end := c.entry
	for p.code[end].op != opEndChain {
		end++
	}
	th := &threader{code: p.code, start: c.entry, end: end, reached: make([]bool, end-c.entry+1), known: make([][]fact, end-c.entry+1)}
	th.arrive(c.entry, nil)
	for pc := c.entry; pc < end; {
		pc = th.visit(pc)
	}
	for _, facts := range th.known {
		for i, f := range facts {
			if slices.Contains(facts[:i], f) || len(facts) > maxFacts {
				t.Fatalf("%d facts, among them twice %+v", len(facts), f)
			}
		}
	}
}

// breaks describes where the compares of a chain's folded code lead.
func (p *Program) breaks(c *Chain) string {
	var starts []uint32
	pc := c.entry
	for range c.count {
		starts = append(starts, pc)
		for p.code[pc].op != opEndRule {
			pc++
		}
		pc++
	}
	name := func(pc uint32) string {
		for i := len(starts) - 1; i >= 0; i-- {
			if p.code[pc].op != opEndChain && pc >= starts[i] {
				return fmt.Sprintf("%d.%d", i, pc-starts[i])
			}
		}
		return "end"
	}
	text := ""
	for pc := c.entry; p.code[pc].op != opEndChain; pc++ {
		if op := p.code[pc].op; op == opCmpFast || op == opCmpFastNeq {
			text += fmt.Sprintf(" %s>%s", name(pc), name(p.code[pc].next))
		}
	}
	return text[1:]
}
