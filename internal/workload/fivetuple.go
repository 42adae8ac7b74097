package workload

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"
)

// FiveTuple is a rule over addresses, ports and protocol of IPv4 packets, as
// access lists have them.
type FiveTuple struct {
	Src, Dst       uint32 // host order, bits beyond the prefix are zero
	SrcLen, DstLen uint8
	SrcPort        [2]uint16 // from, to
	DstPort        [2]uint16
	Proto          uint8
	AnyProto       bool
}

// Header is what a FiveTuple looks at.
type Header struct {
	Src, Dst         uint32
	SrcPort, DstPort uint16
	Proto            uint8
}

// Matches tells whether a rule matches a header.
func (r *FiveTuple) Matches(h *Header) bool {
	return h.Src&lengthMask(r.SrcLen) == r.Src && h.Dst&lengthMask(r.DstLen) == r.Dst &&
		h.SrcPort >= r.SrcPort[0] && h.SrcPort <= r.SrcPort[1] &&
		h.DstPort >= r.DstPort[0] && h.DstPort <= r.DstPort[1] &&
		(r.AnyProto || h.Proto == r.Proto)
}

func lengthMask(n uint8) uint32 { return ^uint32(0) << (32 - uint(n)) }

// Text is the rule as matches of nft.
func (r *FiveTuple) Text() string {
	var b []byte
	add := func(format string, args ...any) { b = fmt.Appendf(b, format+" ", args...) }
	if r.SrcLen > 0 {
		add("ip saddr %s/%d", dotted(r.Src), r.SrcLen)
	}
	if r.DstLen > 0 {
		add("ip daddr %s/%d", dotted(r.Dst), r.DstLen)
	}
	if !r.AnyProto {
		add("ip protocol %d", r.Proto)
	}
	for _, p := range []struct {
		name  string
		ports [2]uint16
	}{{"sport", r.SrcPort}, {"dport", r.DstPort}} {
		switch {
		case p.ports[0] == p.ports[1]:
			add("th %s %d", p.name, p.ports[0])
		case p.ports != [2]uint16{0, 65535}:
			add("th %s %d-%d", p.name, p.ports[0], p.ports[1])
		}
	}
	return string(b)
}

func dotted(a uint32) string {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], a)
	return fmt.Sprintf("%d.%d.%d.%d", b[0], b[1], b[2], b[3])
}

// weighted is a choice with its weight.
type weighted[T any] struct {
	weight float64
	value  T
}

func choose[T any](r *random, list []weighted[T]) T {
	total := 0.0
	for _, w := range list {
		total += w.weight
	}
	x := r.float() * total
	for _, w := range list {
		if x -= w.weight; x < 0 {
			return w.value
		}
	}
	return list[len(list)-1].value
}

// float returns a number from 0 up to 1.
func (r *random) float() float64 { return float64(r.next()>>11) / (1 << 53) }

// normal returns a number that is normally distributed about 0.
func (r *random) normal() float64 {
	return math.Sqrt(-2*math.Log(1-r.float())) * math.Cos(2*math.Pi*r.float())
}

// portKind is what a rule says of a port.
type portKind uint8

const (
	portAny portKind = iota
	portHigh
	portRange
	portExact
)

// family is a model of a kind of rule sets: how often rules name which
// protocol, which kinds of ports, and prefixes of which lengths.
type family struct {
	protocols []weighted[protocolModel]
	lengths   []weighted[[2]uint8]
}

type protocolModel struct {
	proto uint8
	any   bool
	ports []weighted[[2]portKind] // source, destination
}

// FiveTuples returns n different rules of a family: acl (access lists: both
// addresses, services), fw (firewalls: many rules without source or without
// destination) or ipc (a mixture, many of other protocols). The same seed gives
// the same rules. What the families look like follows the published
// characteristics of ClassBench's seeds.
//
// Ref: Taylor, Turner: ClassBench, a packet classification benchmark, 2007
func FiveTuples(name string, n int, seed uint64) []FiveTuple {
	m, ok := families[name]
	if !ok {
		return nil
	}
	r := &random{seed}
	flatness := math.Log10(math.Max(1, float64(n)/500))
	src, dst := newBranches(&random{seed + 1}, flatness), newBranches(&random{seed + 2}, flatness)
	seen := make(map[FiveTuple]bool, n)
	rules := make([]FiveTuple, 0, n)
	for tries := 0; len(rules) < n && tries < 60*n; tries++ {
		rule := m.draw(r, src, dst, flatness)
		if !seen[rule] {
			seen[rule] = true
			rules = append(rules, rule)
		}
	}
	sortBySpecificity(rules, r)
	return rules
}

func (m *family) draw(r *random, src, dst *branches, flatness float64) FiveTuple {
	p := choose(r, m.protocols)
	lengths := choose(r, m.lengths)
	rule := FiveTuple{Proto: p.proto, AnyProto: p.any}
	vary := func(n uint8) uint8 {
		if n == 0 || r.float() >= math.Min(.4, .12*flatness) {
			return n
		}
		return uint8(min(max(int(n)+r.between(-2, 2), 1), 32))
	}
	rule.SrcLen, rule.DstLen = vary(lengths[0]), vary(lengths[1])
	rule.Src = src.walk(rule.SrcLen, 0, 0)
	rule.Dst = dst.walk(rule.DstLen, rule.Src, min(rule.SrcLen, 16))
	kinds := choose(r, p.ports)
	fresh := math.Min(.1, .012*flatness)
	rule.SrcPort = drawPort(r, kinds[0], sourcePorts, fresh)
	rule.DstPort = drawPort(r, kinds[1], servicePorts, fresh)
	return rule
}

var (
	servicePorts = []uint16{80, 443, 53, 25, 22, 1521, 110, 123, 21, 23, 143, 161, 389, 3306, 8080, 445, 139, 1433, 5060, 179, 514, 993, 995, 3389, 5432, 6379, 8443, 9092, 27017}
	sourcePorts  = []uint16{53, 123, 20, 67, 88, 161, 500, 69, 1812, 137}
	portRanges   = [][2]uint16{{6000, 6063}, {33434, 33600}, {1024, 5000}, {137, 139}, {20, 21}, {8000, 8099}, {30000, 32767}, {5060, 5061}}
)

func drawPort(r *random, kind portKind, known []uint16, fresh float64) [2]uint16 {
	switch kind {
	case portHigh:
		return [2]uint16{1024, 65535}
	case portRange:
		if r.float() >= fresh {
			return portRanges[harmonic(r, len(portRanges))]
		}
		low := r.below(64000)
		return [2]uint16{uint16(low), uint16(min(65535, low+1+r.below(2<<r.below(11))))}
	case portExact:
		p := known[harmonic(r, len(known))]
		if r.float() < fresh {
			p = uint16(math.Exp(r.float() * math.Log(65535)))
		}
		return [2]uint16{p, p}
	}
	return [2]uint16{0, 65535}
}

// harmonic returns a number below n; i is drawn in proportion to 1/(i+2).
func harmonic(r *random, n int) int {
	total := 0.0
	for i := range n {
		total += 1 / float64(i+2)
	}
	x := r.float() * total
	for i := range n {
		if x -= 1 / float64(i+2); x < 0 {
			return i
		}
	}
	return n - 1
}

// branches is a binary tree of prefixes that grows as it is walked: walks share
// the branches that earlier ones drew, as addresses of real networks do.
type branches struct {
	random *random
	nodes  []branch
	even   float64
}

type branch struct {
	next  [2]int32
	both  bool
	one   uint8   // the only child where there are not both
	right float64 // how often a walk goes right
}

func newBranches(r *random, flatness float64) *branches {
	b := &branches{random: r, even: math.Min(.9, .3*flatness)}
	b.node(0)
	return b
}

func (b *branches) node(depth int) int32 {
	double := .18
	switch {
	case depth < 4:
		double = .6
	case depth > 24:
		double = .28
	}
	double += math.Min(.6, b.even*.12)
	n := branch{both: b.random.float() < double, one: uint8(b.random.below(2))}
	heavy := 1 / (2 - .55*(1-b.even))
	if n.right = heavy; b.random.below(2) == 0 {
		n.right = 1 - heavy
	}
	b.nodes = append(b.nodes, n)
	return int32(len(b.nodes) - 1)
}

// walk returns a prefix of a length. Its leading bits are often those of
// another one.
func (b *branches) walk(length uint8, other uint32, shared uint8) (prefix uint32) {
	at, follows := int32(0), shared > 0
	for d := range int(length) {
		n := &b.nodes[at]
		bit := n.one
		if follows = follows && d < int(shared) && b.random.float() < .8; follows {
			bit = uint8(other >> (31 - d) & 1)
		} else if n.both {
			bit = 0
			if b.random.float() < n.right {
				bit = 1
			}
		}
		if n.next[bit] == 0 {
			made := b.node(d + 1)
			b.nodes[at].next[bit] = made
		}
		at = b.nodes[at].next[bit]
		prefix |= uint32(bit) << (31 - d)
	}
	return prefix
}

// sortBySpecificity puts narrow rules before wide ones, with some disorder.
func sortBySpecificity(rules []FiveTuple, r *random) {
	width := func(p [2]uint16) float64 { return 16 - math.Log2(float64(p[1])-float64(p[0])+1) }
	keys := make([]float64, len(rules))
	index := make([]int, len(rules))
	for i := range rules {
		q := &rules[i]
		keys[i] = float64(q.SrcLen) + float64(q.DstLen) + width(q.SrcPort) + width(q.DstPort) + 6*r.normal()
		if !q.AnyProto {
			keys[i] += 8
		}
		index[i] = i
	}
	sort.SliceStable(index, func(a, b int) bool { return keys[index[a]] > keys[index[b]] })
	sorted := make([]FiveTuple, len(rules))
	for i, j := range index {
		sorted[i] = rules[j]
	}
	copy(rules, sorted)
}

// Headers returns n headers, each of which matches a rule drawn from the list.
func Headers(rules []FiveTuple, n int, seed uint64) []Header {
	r := &random{seed}
	list := make([]Header, n)
	for i := range list {
		q := &rules[r.below(len(rules))]
		h := &list[i]
		h.Src = q.Src | uint32(r.next())&^lengthMask(q.SrcLen)
		h.Dst = q.Dst | uint32(r.next())&^lengthMask(q.DstLen)
		h.SrcPort = uint16(r.between(int(q.SrcPort[0]), int(q.SrcPort[1])))
		h.DstPort = uint16(r.between(int(q.DstPort[0]), int(q.DstPort[1])))
		h.Proto = q.Proto
		if q.AnyProto {
			h.Proto = pick(r, []uint8{6, 6, 6, 17, 17, 1, 47})
		}
	}
	return list
}
