package vm

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verdict/catalog"
	"verdict/packet"
	"verdict/packet/build"
)

// executor is one of the ways to run a program, which must agree.
type executor struct {
	name   string
	runner *runner
	traced bool
}

func (x *executor) run(b *Base) Verdict {
	r := x.runner
	if x.traced {
		r.machine.RunTraced(b, &r.pkt, &r.verdict, collect{})
	} else {
		r.machine.Run(b, &r.pkt, &r.verdict)
	}
	return r.verdict
}

// TestExecutorsAgree runs random programs on random packets: the fast loop,
// the traced loop, and the fast loop without some of the fast forms of instructions
// have the same verdicts, marks, packets, counters and hits.
func TestExecutorsAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pool := selectors
		if rapid.Bool().Draw(rt, "few fields") { // so that rules imply others
			pool = rapid.SliceOfN(rapid.SampledFrom(selectors), 1, 3).Draw(rt, "fields")
		}
		chains := map[string][]string{}
		for _, name := range []string{"base", "a", "b"} {
			chains[name] = rapid.SliceOfN(rapid.Custom(ruleText(name, pool)), 0, 30).Draw(rt, name)
		}
		executors := link3(t, chains)
		for range rapid.IntRange(1, 8).Draw(rt, "packets") {
			p := drawPacket(rt)
			for i := range executors {
				executors[i].take(p)
			}
			compareExecutors(rt, executors)
		}
	})
}

func link3(t *testing.T, chains map[string][]string) []executor {
	loaded := load(t, catalog.VerdictDrop, chains, "base", "a", "b")
	var list []executor
	for _, x := range []struct {
		name   string
		traced bool
		forms  Forms
	}{{"plain", false, AllForms}, {"traced", true, AllForms}, {"generic", false, 0}, {"base", false, BaseForms}, {"prefix", false, AllForms &^ FormFused}} {
		p, err := LinkForms(loaded.Rules, NewState(), x.forms)
		if err != nil {
			t.Fatal(err)
		}
		p.Finish()
		list = append(list, executor{x.name, newRunner(p), x.traced})
	}
	return list
}

// testPacket is a frame with its mark and time.
type testPacket struct {
	data   []byte
	length int
	mark   uint32
	now    int64
}

func (x *executor) take(p testPacket) {
	r := x.runner
	r.meta = packet.Meta{Mark: p.mark, IIF: packet.Device{Index: 2, Name: packet.MakeName("eth0")}}
	r.machine.Now += p.now
	r.start(packet.LinkEthernet, p.data, p.length)
}

func compareExecutors(t *rapid.T, list []executor) {
	first := &list[0]
	want := first.run(first.runner.machine.prog.Bases[0])
	for i := range list[1:] {
		x := &list[1+i]
		got := x.run(x.runner.machine.prog.Bases[0])
		if got != want {
			t.Fatalf("%s: %+v, %s: %+v", first.name, want, x.name, got)
		}
		if a, b := first.runner.meta.Mark, x.runner.meta.Mark; a != b {
			t.Fatalf("%s leaves mark %#x, %s %#x", first.name, a, x.name, b)
		}
		if a, b := first.runner.view.Data, x.runner.view.Data; !bytes.Equal(a, b) {
			t.Fatalf("%s leaves packet %x, %s %x", first.name, a, x.name, b)
		}
		if a, b := first.summary(), x.summary(); a != b {
			t.Fatalf("%s: %s\n%s: %s", first.name, a, x.name, b)
		}
	}
}

// summary is all that packets left behind.
func (x *executor) summary() string {
	m := x.runner.machine
	text := fmt.Sprint(m.Hits())
	for _, c := range m.prog.counters {
		packets, size := c.Values()
		text += fmt.Sprintf(" %d/%d", packets, size)
	}
	for _, q := range m.prog.quotas {
		text += fmt.Sprintf(" %d", q.consumed)
	}
	return text
}

// packetTexts hold what the constants of the rules are about.
var packetTexts = []string{
	"tcp dport 22", "tcp dport 80 tcp flags ack", "udp dport 53 payload 0x0102030405",
	"ip saddr 10.0.0.7 tcp dport 22 tcp option maxseg size 1460", "icmp type echo-request",
	"ip frag-off 1 ip protocol tcp payload 0x0016001600160016", "ip frag-off 0x2000 tcp dport 22",
	"vlan id 5 udp dport 53", "ip6 saddr 2001:db8::1 tcp dport 22", "arp operation request",
	"ip hdrlength 4 tcp dport 22",
}

func drawPacket(t *rapid.T) testPacket {
	built, err := build.Parse(rapid.SampledFrom(packetTexts).Draw(t, "packet"))
	if err != nil {
		t.Fatal(err)
	}
	p := testPacket{data: built.Data, length: len(built.Data)}
	if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
		p.data = p.data[:rapid.IntRange(0, len(p.data)).Draw(t, "at")]
		if rapid.Bool().Draw(t, "short") {
			p.length = len(p.data)
		}
	}
	p.mark = rapid.SampledFrom([]uint32{0, 1, 0x100}).Draw(t, "mark")
	p.now = rapid.SampledFrom([]int64{0, 1e8, 1e9}).Draw(t, "pause")
	return p
}

// ruleText draws a rule of a chain: matches, statements, perhaps a verdict.
func ruleText(chain string, pool []selector) func(*rapid.T) string {
	verdicts := []string{"", "accept", "drop", "return", "continue", "break"}
	switch chain { // jumps lead on, so that there are no loops
	case "base":
		verdicts = append(verdicts, "jump -> a", "goto -> a", "jump -> b", "goto -> b")
	case "a":
		verdicts = append(verdicts, "jump -> b", "goto -> b")
	}
	return func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.Custom(matchText(pool)), 0, 3).Draw(t, "matches")
		parts = append(parts, rapid.SliceOfN(rapid.SampledFrom(statementTexts), 0, 2).Draw(t, "statements")...)
		if v := rapid.SampledFrom(verdicts).Draw(t, "verdict"); v != "" || len(parts) == 0 {
			parts = append(parts, "immediate reg 0 "+max(v, "continue"))
		}
		return strings.Join(parts, "; ")
	}
}

var statementTexts = []string{
	"counter pkts 0 bytes 0",
	"limit rate 2/second burst 2 type packets flags 0x0",
	"quota bytes 100 consumed 0 flags 1",
	"immediate reg 1 0x00000100; meta set mark with reg 1",
	"immediate reg 1 0x01; payload write reg 1 => 1b @ network header + 8 csum_type 1 csum_off 10 csum_flags 0x0",
	"immediate reg 1 0x0050; payload write reg 1 => 2b @ transport header + 2 csum_type 1 csum_off 16 csum_flags 0x0",
	"immediate reg 1 0x0400; exthdr write tcpopt reg 1 => 2b @ 2 + 2",
}

// selector is a load with values that packets have.
type selector struct {
	load   string
	length int
	values []string
}

var selectors = []selector{
	{"payload load 2b @ transport header + 2", 2, []string{"0016", "0050", "0035"}},
	{"payload load 4b @ transport header + 0", 4, []string{"9c400016"}},
	{"payload load 1b @ transport header + 13", 1, []string{"02", "10"}},
	{"payload load 4b @ network header + 12", 4, []string{"0a000001", "0a000007"}},
	{"payload load 3b @ network header + 12", 3, []string{"0a0000", "c00002"}},
	{"payload load 8b @ network header + 12", 8, []string{"0a0000010a000002"}},
	{"payload load 16b @ network header + 8", 16, []string{"20010db8000000000000000000000001"}},
	{"payload load 1b @ network header + 9", 1, []string{"06", "11"}},
	{"payload load 2b @ network header + 6", 2, []string{"0000", "4000"}},
	{"payload load 6b @ link header + 0", 6, []string{"020000000001"}},
	{"payload load 2b @ link header + 12", 2, []string{"0800", "8100"}},
	{"meta load l4proto", 1, []string{"06", "11"}},
	{"meta load nfproto", 1, []string{"02", "0a"}},
	{"meta load mark", 4, []string{"01000000", "00010000"}},
	{"meta load protocol", 2, []string{"0800", "86dd"}},
	{"meta load iifname", 16, []string{"65746830000000000000000000000000"}},
	{"ct load state", 4, []string{"01000000", "08000000"}},
}

// matchText draws a load, perhaps a mask, and a comparison.
func matchText(pool []selector) func(*rapid.T) string {
	return func(t *rapid.T) string {
		s := rapid.SampledFrom(pool).Draw(t, "selector")
		load, n := s.load, s.length
		value, _ := hex.DecodeString(rapid.SampledFrom(s.values).Draw(t, "value"))
		if rapid.IntRange(0, 5).Draw(t, "odd load") == 0 {
			n = rapid.SampledFrom([]int{1, 2, 3, 4, 5, 8, 16}).Draw(t, "length")
			load = fmt.Sprintf("payload load %db @ %s header + %d", n, rapid.SampledFrom([]string{"link", "network", "transport"}).Draw(t, "base"), rapid.IntRange(0, 40).Draw(t, "offset"))
			value = rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "bytes")
		}
		register := rapid.SampledFrom([]int{1, 1, 2, 3, 4}).Draw(t, "register")
		text := fmt.Sprintf("%s => reg %d; ", load, register)
		if rapid.IntRange(0, 2).Draw(t, "masked") == 0 {
			text += maskText(t, register, n)
		}
		if rapid.IntRange(0, 3).Draw(t, "load between") == 0 {
			text += fmt.Sprintf("meta load mark => reg %d; ", register%4+1)
		}
		text += compareText(t, register, value)
		if rapid.IntRange(0, 4).Draw(t, "read again") == 0 {
			text += fmt.Sprintf("; meta load l4proto => reg %d; cmp eq reg %d 0x06; ", register%4+1, register%4+1) + compareText(t, register, value)
		}
		return text
	}
}

func maskText(t *rapid.T, register, n int) string {
	mask := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0xff, 0xf0, 0x03}), n, n).Draw(t, "mask")
	other := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0, 1}), n, n).Draw(t, "xor")
	return fmt.Sprintf("bitwise reg %d = ( reg %d & %s ) ^ %s; ", register, register, words(mask), words(other))
}

func compareText(t *rapid.T, register int, value []byte) string {
	if rapid.IntRange(0, 4).Draw(t, "shorter") == 0 {
		value = value[:rapid.IntRange(1, len(value)).Draw(t, "compared")]
	}
	op := rapid.SampledFrom([]string{"eq", "neq", "eq", "neq", "lt", "lte", "gt", "gte", "range", "range"}).Draw(t, "op")
	if op == "range" {
		high := append([]byte{value[0] | 0x0f}, value[1:]...)
		sign := rapid.SampledFrom([]string{"eq", "neq"}).Draw(t, "sign")
		return fmt.Sprintf("range %s reg %d %s %s", sign, register, words(value), words(high))
	}
	return fmt.Sprintf("cmp %s reg %d %s", op, register, words(value))
}

// words prints bytes as bytecode does, four at a time.
func words(b []byte) string {
	var parts []string
	for len(b) > 4 {
		parts, b = append(parts, "0x"+hex.EncodeToString(b[:4])), b[4:]
	}
	return strings.Join(append(parts, "0x"+hex.EncodeToString(b)), " ")
}
