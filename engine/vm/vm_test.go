package vm

import (
	"strings"
	"testing"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/packet"
	"verdict/packet/build"
	"verdict/packet/rewrite"
	"verdict/trace"
)

// load makes a program with one base chain of family ip, and more chains
// beside it; each rule is bytecode, one expression a line.
func load(t testing.TB, policy catalog.VerdictKind, chains map[string][]string, order ...string) *Program {
	t.Helper()
	batch := []ruleset.Change{{Op: ruleset.OpAdd, Kind: ruleset.KindTable, Family: catalog.FamilyIP, Table: "t", TableDef: &ruleset.TableDef{}}}
	for _, name := range order {
		def := &ruleset.ChainDef{}
		if name == "base" {
			def.Base = &ruleset.BaseChain{Type: "filter", Hook: catalog.HookInput, Policy: policy}
			def.HasPolicy = true
		}
		batch = append(batch, ruleset.Change{Op: ruleset.OpAdd, Kind: ruleset.KindChain, Family: catalog.FamilyIP, Table: "t", Name: name, ChainDef: def})
	}
	for _, name := range order {
		for _, text := range chains[name] {
			batch = append(batch, ruleset.Change{Op: ruleset.OpAdd, Kind: ruleset.KindRule, Family: catalog.FamilyIP, Table: "t", Name: name,
				RuleDef: &ruleset.RuleDef{Exprs: bytecode(t, text)}})
		}
	}
	rs, errs := ruleset.Apply(nil, batch, ruleset.Options{})
	for _, err := range errs {
		t.Fatalf("load: %v", err)
	}
	p, err := Link(rs, NewState())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func bytecode(t testing.TB, text string) []expr.Expr {
	t.Helper()
	list, err := expr.ParseRuleText(strings.ReplaceAll(text, ";", "\n"), expr.TextOptions{})
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return list
}

// runner evaluates packets given as text, with the plain and the traced loop.
type runner struct {
	machine *Machine
	view    packet.View
	meta    packet.Meta
	ct      conntrack.Attachment
	buffer  rewrite.Buffer
	pkt     Packet
	verdict Verdict
}

func newRunner(p *Program) *runner {
	r := &runner{machine: NewMachine(p, 1)}
	r.pkt = Packet{View: &r.view, Meta: &r.meta, CT: &r.ct, Rewriter: &r.buffer, Family: catalog.FamilyIP, HookFamily: catalog.FamilyIP, Hook: catalog.HookInput}
	return r
}

func (r *runner) start(link packet.LinkType, data []byte, length int) {
	r.view.Decode(link, data, length)
	r.ct.Reset()
	r.buffer.Start()
	r.pkt.Length = r.view.NetLen
}

func (r *runner) run(t testing.TB, text string) Verdict {
	t.Helper()
	p, err := build.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	r.meta = p.Meta
	r.start(p.Link, p.Data, len(p.Data))
	r.machine.Run(r.machine.prog.Bases[0], &r.pkt, &r.verdict)
	return r.verdict
}

func (v Verdict) text() string {
	switch {
	case v.Unknown:
		return "unknown"
	case v.Policy:
		return "policy " + v.Kind.String()
	}
	return v.Kind.String()
}

const (
	dport   = "payload load 2b @ transport header + 2 => reg 1; "
	tcp     = "meta load l4proto => reg 1; cmp eq reg 1 0x06; "
	accept  = "immediate reg 0 accept"
	drop    = "immediate reg 0 drop"
	jumpSub = "immediate reg 0 jump -> sub"
	gotoSub = "immediate reg 0 goto -> sub"
)

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name   string
		base   []string
		sub    []string
		packet string
		want   string
	}{
		{"port matches", []string{tcp + dport + "cmp eq reg 1 0x0016; " + accept}, nil, "tcp dport 22", "accept"},
		{"port differs", []string{tcp + dport + "cmp eq reg 1 0x0016; " + accept}, nil, "tcp dport 23", "policy drop"},
		{"protocol differs", []string{tcp + dport + "cmp eq reg 1 0x0016; " + accept}, nil, "udp dport 22", "policy drop"},
		{"inverted compare", []string{dport + "cmp neq reg 1 0x0016; " + accept}, nil, "tcp dport 23", "accept"},
		{"less than", []string{dport + "cmp lt reg 1 0x0400; " + accept}, nil, "tcp dport 1023", "accept"},
		{"not less than", []string{dport + "cmp lt reg 1 0x0400; " + accept}, nil, "tcp dport 1024", "policy drop"},
		{"range holds its ends", []string{dport + "range eq reg 1 0x0016 0x0050; " + accept}, nil, "tcp dport 80", "accept"},
		{"inverted range", []string{dport + "range neq reg 1 0x0016 0x0050; " + accept}, nil, "tcp dport 81", "accept"},
		{"range from above to below matches nothing", []string{dport + "range eq reg 1 0x0050 0x0016; " + accept}, nil, "tcp dport 50", "policy drop"},
		{"prefix by mask", []string{"payload load 4b @ network header + 12 => reg 1; bitwise reg 1 = ( reg 1 & 0xfffffe00 ) ^ 0x00000000; cmp eq reg 1 0x0a000000; " + accept}, nil, "ip saddr 10.0.1.7", "accept"},
		{"prefix by short load", []string{"payload load 1b @ network header + 12 => reg 1; cmp eq reg 1 0x0a; " + accept}, nil, "ip saddr 10.200.1.7", "accept"},
		{"a break ends only its rule", []string{dport + "cmp eq reg 1 0x0001; " + drop, accept}, nil, "tcp dport 22", "accept"},
		{"jump returns", []string{jumpSub, accept}, []string{"immediate reg 0 return"}, "tcp", "accept"},
		{"jump runs off the end", []string{jumpSub, accept}, nil, "tcp", "accept"},
		{"jump decides", []string{jumpSub, accept}, []string{drop}, "tcp", "drop"},
		{"goto does not come back", []string{gotoSub, accept}, nil, "tcp", "policy drop"},
		{"continue goes on", []string{"immediate reg 0 continue; " + accept}, nil, "tcp", "accept"},
		{"return in the base chain is the policy", []string{"immediate reg 0 return", accept}, nil, "tcp", "policy drop"},
		{"mark in host order", []string{"meta load mark => reg 1; cmp eq reg 1 0x00000010; " + accept}, nil, "meta mark 0x10 tcp", "accept"},
		{"mark set and read", []string{"immediate reg 1 0x00000005; meta set mark with reg 1", "meta load mark => reg 1; cmp eq reg 1 0x00000005; " + accept}, nil, "tcp", "accept"},
		{"host order compared after hton", []string{"meta load mark => reg 1; byteorder reg 1 = hton(reg 1, 4, 4); cmp gt reg 1 0x000000ff; " + accept}, nil, "meta mark 256 tcp", "accept"},
		{"interface name", []string{"meta load iifname => reg 1; cmp eq reg 1 0x65746830 0x00000000 0x00000000 0x00000000; " + accept}, nil, "iifname eth0 tcp", "accept"},
		{"interface wildcard", []string{"meta load iifname => reg 1; cmp eq reg 1 0x657468; " + accept}, nil, "iifname eth7 tcp", "accept"},
		{"later fragment has no ports", []string{dport + "cmp neq reg 1 0xffff; " + accept}, nil, "ip frag-off 100 ip protocol 6 payload 0x0016001600160016", "policy drop"},
		{"later fragment has a protocol", []string{"meta load l4proto => reg 1; cmp eq reg 1 0x06; " + accept}, nil, "ip frag-off 100 ip protocol 6 payload 0x0016001600160016", "accept"},
		{"load beyond the packet breaks", []string{"payload load 16b @ transport header + 400 => reg 1; " + accept}, nil, "tcp", "policy drop"},
		{"shift left in place", []string{"meta load mark => reg 1; bitwise reg 1 = ( reg 1 << 0x00000008 ); cmp eq reg 1 0x00001200; " + accept}, nil, "meta mark 0x12 tcp", "accept"},
		{"registers combined", []string{"meta load mark => reg 1; meta load priority => reg 2; bitwise reg 1 = ( reg 1 | reg 2 ); cmp eq reg 1 0x00000010; " + accept}, nil, "meta mark 0x10 tcp", "accept"},
		{"no connection is invalid", []string{"ct load state => reg 1; cmp eq reg 1 0x00000001; " + accept}, nil, "tcp", "accept"},
		{"other ct keys break without connection", []string{"ct load mark => reg 1; " + accept}, nil, "tcp", "policy drop"},
		{"reject drops", []string{"reject type 0 code 3"}, nil, "tcp", "drop"},
		{"queue is terminal", []string{"queue num 3 bypass"}, nil, "tcp", "queue"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := load(t, catalog.VerdictDrop, map[string][]string{"base": c.base, "sub": c.sub}, "base", "sub")
			if got := newRunner(p).run(t, c.packet).text(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestCutPacketIsUnknown(t *testing.T) {
	p := load(t, catalog.VerdictAccept, map[string][]string{"base": {dport + "cmp eq reg 1 0x0016; " + drop}}, "base")
	r := newRunner(p)
	full, err := build.Parse("tcp dport 22")
	if err != nil {
		t.Fatal(err)
	}
	r.start(full.Link, full.Data[:35], len(full.Data))
	v := &r.verdict
	r.machine.Run(p.Bases[0], &r.pkt, v)
	if !v.Unknown || v.CutAt != 35 {
		t.Errorf("got %+v, want unknown, cut at 35", v)
	}
}

func TestCountersAndHits(t *testing.T) {
	rules := []string{"counter pkts 5 bytes 300; " + tcp + "counter pkts 0 bytes 0", accept}
	p := load(t, catalog.VerdictDrop, map[string][]string{"base": rules}, "base")
	r := newRunner(p)
	r.run(t, "udp length 28")
	r.run(t, "tcp length 40")
	for i, want := range [][2]uint64{{7, 0}, {1, 0}} {
		if packets, _ := p.counters[i].Values(); packets != want[0] {
			t.Errorf("counter %d: %d packets, want %d", i, packets, want[0])
		}
	}
	for i, want := range []uint64{1, 2} {
		if got := r.machine.Hits()[i].Packets; got != want {
			t.Errorf("rule %d: %d hits, want %d", i, got, want)
		}
	}
}

func TestStateOutlivesAProgram(t *testing.T) {
	state := NewState()
	p := load(t, catalog.VerdictDrop, map[string][]string{"base": {"counter pkts 0 bytes 0; " + accept}}, "base")
	for want := uint64(1); want <= 2; want++ {
		linked, err := Link(p.Rules, state)
		if err != nil {
			t.Fatal(err)
		}
		newRunner(linked).run(t, "tcp")
		if got, _ := linked.counters[0].Values(); got != want {
			t.Errorf("%d packets, want %d", got, want)
		}
	}
}

func TestEvaluationDoesNotAllocate(t *testing.T) {
	rules := []string{
		"counter pkts 0 bytes 0",
		tcp + dport + "cmp eq reg 1 0x0017; " + accept,
		"payload load 4b @ network header + 12 => reg 1; bitwise reg 1 = ( reg 1 & 0xff000000 ) ^ 0x00000000; cmp neq reg 1 0x0b000000; counter pkts 0 bytes 0",
		"ct load state => reg 1; bitwise reg 1 = ( reg 1 & 0x00000002 ) ^ 0x00000000; cmp neq reg 1 0x00000000; " + accept,
		"limit rate 400/minute burst 5 type packets flags 0x0",
		"meta load iifname => reg 1; cmp eq reg 1 0x65746830 0x00000000 0x00000000 0x00000000; " + drop,
	}
	p := load(t, catalog.VerdictDrop, map[string][]string{"base": rules}, "base")
	r := newRunner(p)
	r.run(t, "tcp dport 22")
	if n := testing.AllocsPerRun(100, func() {
		r.ct.Reset()
		r.machine.Run(p.Bases[0], &r.pkt, &r.verdict)
	}); n != 0 {
		t.Errorf("%v allocations per packet", n)
	}
}

// collect counts events by kind.
type collect map[trace.Kind]int

func (c collect) Event(e *trace.Event) { c[e.Kind]++ }

func TestTracedLoopAgrees(t *testing.T) {
	rules := []string{tcp + dport + "cmp eq reg 1 0x0016; " + jumpSub, "counter pkts 0 bytes 0", accept}
	p := load(t, catalog.VerdictDrop, map[string][]string{"base": rules, "sub": {"immediate reg 1 0x00000001; meta set mark with reg 1"}}, "base", "sub")
	r := newRunner(p)
	plain := r.run(t, "tcp dport 22")
	r.meta.Mark = 0
	events := collect{}
	r.machine.RunTraced(p.Bases[0], &r.pkt, &r.verdict, events)
	if plain != r.verdict {
		t.Errorf("plain %+v, traced %+v", plain, r.verdict)
	}
	want := collect{trace.EnterBase: 1, trace.RuleDone: 4, trace.ReturnFromChain: 1, trace.LeaveBase: 1}
	for kind, n := range want {
		if events[kind] != n {
			t.Errorf("event %d: %d, want %d", kind, events[kind], n)
		}
	}
}
