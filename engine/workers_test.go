package engine_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"verdict"
	"verdict/capture"
	"verdict/conntrack"
	"verdict/engine"
	"verdict/engine/chain/chaintest"
	"verdict/host"
	"verdict/nft/ruleset"
	"verdict/packet"
	"verdict/packet/build"
)

const (
	fragment  = "ip saddr 10.0.0.%d ip daddr 10.0.1.%d ip frag-off 0x2000 udp dport 53"
	stateless = `table ip t { chain c { type filter hook forward priority 0; policy accept
		ip saddr 10.0.0.0/29 counter
		ip ttl set 9 udp dport 53 counter accept
		tcp dport { 22, 80 } counter drop
	}
	chain o { type filter hook output priority 0
		ip daddr 10.0.0.3 counter drop
	}
}`
	tracked = `table inet t {
		chain f { type filter hook forward priority 0; policy drop
			ct state established,related counter accept
			ct state invalid counter drop
			ip protocol icmp counter accept
			tcp dport 22 ct mark set 5 counter accept
			udp dport 53 counter accept
			ct mark 5 counter
		}
		chain i { type filter hook input priority 0
			ct state new counter
			ct state established counter
		}
	}`
)

// mixed builds packets of some flows in both directions: TCP, UDP, echo, errors
// about them, copies on their way out, and now and then an odd one.
func mixed(t *testing.T, seed uint64, n int, odd string) []engine.Input {
	r := rand.New(rand.NewPCG(seed, 1))
	var list []engine.Input
	for i := range n {
		a, b := fmt.Sprintf("10.0.0.%d", 1+r.IntN(12)), fmt.Sprintf("10.0.1.%d", 1+r.IntN(12))
		port := 1024 + r.IntN(4)
		service := []int{22, 53, 80}[r.IntN(3)]
		from, to, sport, dport := a, b, port, service
		if r.IntN(3) == 0 {
			from, to, sport, dport = b, a, service, port
		}
		proto := []string{"tcp", "udp"}[r.IntN(2)]
		text := fmt.Sprintf("ip saddr %s ip daddr %s ip id %d %s sport %d %s dport %d", from, to, r.IntN(60000), proto, sport, proto, dport)
		if proto == "tcp" {
			text += " tcp flags " + []string{"syn", "ack", "syn,ack", "rst", "fin,ack"}[r.IntN(5)]
		}
		switch r.IntN(12) {
		case 0:
			text = fmt.Sprintf("ip saddr %s ip daddr %s icmp type echo-request icmp id %d", from, to, r.IntN(3))
		case 1:
			text = fmt.Sprintf("ip6 saddr fe80::%d ip6 daddr 2001:db8::%d udp sport %d udp dport 53", r.IntN(9), r.IntN(9), port)
		}
		if odd != "" && i > 200 && r.IntN(100) == 0 {
			text = fmt.Sprintf(odd, 1+r.IntN(4), 1+r.IntN(4))
		}
		p, err := build.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		in := verdict.PacketInput(p)
		in.In, in.Facts = "eth0", nil
		if i > 50 && r.IntN(3) == 0 {
			in.In = fmt.Sprintf("eth%d", r.IntN(3))
		}
		in.Time = int64(i-r.IntN(3)) * 3e7
		list = append(list, in)
		switch r.IntN(8) {
		case 0: // leaves again
			out := in
			out.In, out.Out, out.Direction = "", "eth1", capture.Outbound
			list = append(list, out)
		case 1: // a router on its way tells that it cannot be delivered
			list = append(list, unreachable(&in))
		}
	}
	return list
}

// unreachable is an ICMP error of a router about a packet.
func unreachable(in *engine.Input) engine.Input {
	quoted := in.Data[14:min(14+28, len(in.Data))]
	if quoted[0]>>4 != 4 {
		return *in
	}
	data := append([]byte(nil), in.Data[:14]...)
	h := []byte{0x45, 0, 0, byte(28 + len(quoted)), 0, 0, 0, 0, 64, 1, 0, 0, 172, 16, 0, 1}
	h = append(h, quoted[12:16]...)
	sum := packet.IPv4HeaderChecksum(h)
	h[10], h[11] = byte(sum>>8), byte(sum)
	body := append([]byte{3, 1, 0, 0, 0, 0, 0, 0}, quoted...)
	total := uint32(0)
	for i := 0; i+1 < len(body); i += 2 {
		total += uint32(body[i])<<8 | uint32(body[i+1])
	}
	for total>>16 != 0 {
		total = total&0xffff + total>>16
	}
	body[2], body[3] = byte(^total>>8), byte(^total)
	data = append(append(data, h...), body...)
	return engine.Input{Data: data, OrigLen: len(data), LinkType: in.LinkType, In: in.In, Time: in.Time}
}

func loads(text string) func() (*ruleset.Ruleset, *host.Host, error) {
	return func() (*ruleset.Ruleset, *host.Host, error) {
		loaded, err := verdict.Parse(text)
		if err != nil {
			return nil, nil, err
		}
		return loaded.Rules(), loaded.Host(), nil
	}
}

// Several workers give what one gives, in batches of any size.
func TestWorkersAgree(t *testing.T) {
	local := []netip.Addr{netip.MustParseAddr("10.0.1.3")}
	for _, c := range []struct {
		name, rules string
		odd         string // mixed in, to be evaluated alone or in order
		max         int
		workers     int // at the end
	}{
		{"stateless", stateless, "", 0, 3},
		{"stateless with fragments", stateless, fragment, 0, 3},
		{"connections", tracked, "", 0, 3},
		{"connections with fragments", tracked, fragment, 0, 3},
		{"connections, then pieces of what may be an error", tracked, strings.Replace(fragment, "udp dport 53", "icmp type echo-request", 1), 0, 1},
		{"connections behind extension headers", tracked, "ip6 saddr fe80::%d ip6 daddr 2001:db8::%d hbh hdrlength 0 udp dport 53", 0, 3},
		{"more connections than a table holds, but not at once", tracked, "", 700, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := uint64(1); seed <= 3; seed++ {
				o := engine.Options{Seed: 1, Local: local, Interface: "eth0", Conntrack: conntrack.Config{Max: c.max, Accounting: true}}
				s, err := chaintest.NewSpread(loads(c.rules), o, 3)
				if err != nil {
					t.Fatal(err)
				}
				list := mixed(t, seed, 1500, c.odd)
				for size := 1; len(list) > 0; size += 37 {
					n := min(size, len(list))
					if err := s.Run(list[:n]); err != nil {
						t.Fatal(err)
					}
					list = list[n:]
				}
				if got := s.Workers().Count(); got != c.workers {
					t.Errorf("%d workers at the end, want %d: %+v", got, c.workers, s.Workers().Ordered())
				}
				if err := s.Check(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// Workers go on with a later ruleset, and in order where it demands that.
func TestWorkersFollowUpdates(t *testing.T) {
	rules := []string{stateless, strings.Replace(stateless, "ip daddr 10.0.0.3", "limit rate 10/second", 1)}
	one, many := newEngine(t, rules[0], engine.Options{Seed: 1}), newEngine(t, rules[0], engine.Options{Seed: 1})
	w, x := one.Worker(), many.Worker().Workers(2)
	list := mixed(t, 9, 600, "")
	a, b := make([]engine.Outcome, len(list)), make([]engine.Outcome, len(list))
	for round, text := range []string{rules[0], rules[1], rules[0]} {
		for _, e := range []*engine.Engine{one, many} {
			loaded, err := verdict.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Update(loaded.Rules()); err != nil {
				t.Fatal(err)
			}
		}
		w.EvaluateBatch(list, a)
		x.EvaluateBatch(list, b)
		for i := range a {
			if a[i].Fate != b[i].Fate || a[i].Verdict != b[i].Verdict {
				t.Fatalf("round %d packet %d: %+v, %+v", round, i, a[i], b[i])
			}
		}
		if want := []int{2, 1, 2}[round]; x.Count() != want {
			t.Errorf("round %d: %d workers, want %d: %+v", round, x.Count(), want, x.Ordered())
		}
	}
}

func TestOrderedReasons(t *testing.T) {
	for _, c := range []struct{ rule, want string }{
		{"tcp dport 22 counter accept", ""},
		{"ct state new ct mark set 1 accept", ""},
		{"ip ttl set 3", ""},
		{"tcp option maxseg size set 1400", ""},
		{"ip saddr @s accept", ""},
		{"limit rate 1/second accept", "limit"},
		{"quota 100 bytes drop", "quota"},
		{"ct count over 3 drop", "ct count"},
		{"last accept", "last"},
		{"meta mark set numgen inc mod 2", "numgen"},
		{"meta random 5 drop", "meta random"},
		{"add @d { ip saddr }", "a set that packets change"},
		{"ip saddr @d drop", "a set that packets change"},
		{"ip saddr @c drop", "a set whose elements keep state"},
		{"ip daddr set 10.0.0.1", "payload rewriting of what packets are recognised by"},
		{"ct id 5 drop", "ct id"},
		{"ip saddr { 10.0.0.1, 10.0.0.2 } counter name n", ""},
		{"quota name q", "quota"},
		{"counter name ip saddr map { 10.0.0.1 : n }", ""},
		{"quota name ip saddr map { 10.0.0.1 : q }", "quota"},
	} {
		text := "table ip t { counter n { }\n quota q {\n 5 mbytes\n }\n set s { type ipv4_addr; elements = { 10.0.0.1 } }\n set d { type ipv4_addr; flags dynamic; size 9; }\n" +
			" set c { type ipv4_addr; counter; elements = { 10.0.0.1 } }\n chain x { type filter hook forward priority 0; " + c.rule + "\n }\n}"
		e := newEngine(t, text, engine.Options{})
		x := e.Worker().Workers(2)
		got := ""
		if list := x.Ordered(); len(list) > 0 {
			got = list[0].What
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.rule, got, c.want)
		}
		if want := map[bool]int{true: 2, false: 1}[c.want == ""]; x.Count() != want {
			t.Errorf("%s: %d workers, want %d", c.rule, x.Count(), want)
		}
	}
}
