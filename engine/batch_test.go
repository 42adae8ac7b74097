package engine_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"verdict"
	"verdict/engine"
	"verdict/internal/workload"
	"verdict/packet/build"
)

// accessList is a chain of rules of an access list, with counters; some change
// the packet.
func accessList(rules []workload.FiveTuple) string {
	var s strings.Builder
	s.WriteString("table ip t {\n\tchain c {\n\t\ttype filter hook forward priority 0; policy drop;\n")
	for i := range rules {
		what := "counter accept"
		switch i % 7 {
		case 0:
			what = "limit rate 10/second counter drop"
		case 1:
			what = "ip ttl set 7 counter accept"
		case 2:
			what = "counter"
		}
		fmt.Fprintf(&s, "\t\t%s%s\n", rules[i].Text(), what)
	}
	s.WriteString("\t}\n}\n")
	return s.String()
}

// packets are frames of headers.
func packets(t testing.TB, headers []workload.Header) []engine.Input {
	list := make([]engine.Input, len(headers))
	for i, h := range headers {
		text := fmt.Sprintf("ip saddr %s ip daddr %s ", address(h.Src), address(h.Dst))
		switch h.Proto {
		case 6:
			text += fmt.Sprintf("tcp sport %d tcp dport %d", h.SrcPort, h.DstPort)
		case 17:
			text += fmt.Sprintf("udp sport %d udp dport %d", h.SrcPort, h.DstPort)
		default:
			text += fmt.Sprintf("ip protocol %d payload 0x%04x%04x00000000", h.Proto, h.SrcPort, h.DstPort)
		}
		p, err := build.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		list[i] = engine.Input{Data: p.Data, OrigLen: len(p.Data), LinkType: p.Link, In: "eth0", Time: int64(i) * 1e6}
	}
	return list
}

func address(a uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)})
}

func newEngine(t testing.TB, text string, o engine.Options) *engine.Engine {
	loaded, err := verdict.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(loaded.Rules(), loaded.Host(), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Batches give what single packets give.
func TestBatchesAgree(t *testing.T) {
	rules := workload.FiveTuples("fw", 20000, 1)
	text := accessList(rules)
	list := packets(t, workload.Headers(rules, 2000, 2))
	o := engine.Options{Hook: "forward", Seed: 1}
	large := newEngine(t, text, o)
	one, many := newEngine(t, text, o).Worker(), large.Worker()
	if size := large.Plan().Chains[0].Stats.Bytes; size < 1<<20 {
		t.Fatalf("the table of %d bytes is too small to be looked up ahead", size)
	}
	outs := make([]engine.Outcome, 200)
	for at := 0; at < len(list); at += len(outs) {
		part := list[at : at+len(outs)]
		many.EvaluateBatch(part, outs)
		for i := range part {
			var want engine.Outcome
			one.Evaluate(&part[i], &want)
			got := &outs[i]
			if got.Fate != want.Fate || got.Verdict != want.Verdict || got.Changed != want.Changed || !bytes.Equal(got.Data, want.Data) || !slices.Equal(got.Hooks, want.Hooks) {
				t.Fatalf("packet %d: %+v, in a batch %+v", at+i, want, got)
			}
		}
	}
	if !slices.Equal(one.Machine().Hits(), many.Machine().Hits()) {
		t.Error("hits differ")
	}
	if n := testing.AllocsPerRun(20, func() { many.EvaluateBatch(list[:200], outs) }); n != 0 {
		t.Errorf("%v allocations per batch", n)
	}
}
