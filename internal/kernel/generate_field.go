package kernel

import (
	"fmt"
	"net/netip"
	"strings"
)

// field is a selector of a number.
type field struct {
	selector string
	bits     int
	pool     string
	values   []uint64
	only     string // equality only: why the language or the kernel has no order
}

func (f *field) top() uint64 {
	if f.bits >= 64 {
		return 1<<64 - 1
	}
	return 1<<f.bits - 1
}

var ports = []uint64{22, 25, 53, 80, 123, 443, 500, 1024, 8080, 32768, 65535}

// The fields by header.
var (
	ipFields = []*field{
		{selector: "ip ttl", bits: 8, pool: "ttl", values: []uint64{1, 2, 63, 64, 128, 255}},
		{selector: "ip dscp", bits: 6, pool: "dscp", values: []uint64{0, 8, 10, 46, 48, 63}},
		{selector: "ip ecn", bits: 2, pool: "ecn", values: []uint64{0, 1, 2, 3}},
		{selector: "ip length", bits: 16, pool: "length", values: []uint64{28, 40, 60, 100}},
		{selector: "ip id", bits: 16, pool: "id", values: []uint64{1, 256, 4660, 65535}},
		{selector: "ip hdrlength", bits: 4, pool: "ihl", values: []uint64{5, 6}},
		{selector: "ip version", bits: 4, pool: "version", values: []uint64{4}},
		{selector: "ip protocol", bits: 8, pool: "proto", values: []uint64{1, 6, 17, 47, 132}},
		{selector: "ip checksum", bits: 16, pool: "checksum", values: []uint64{0, 1, 0xffff}},
	}
	ip6Fields = []*field{
		{selector: "ip6 hoplimit", bits: 8, pool: "ttl", values: []uint64{1, 2, 63, 64, 255}},
		{selector: "ip6 dscp", bits: 6, pool: "dscp", values: []uint64{0, 8, 46, 63}},
		{selector: "ip6 ecn", bits: 2, pool: "ecn", values: []uint64{0, 1, 2, 3}},
		{selector: "ip6 flowlabel", bits: 20, pool: "flow", values: []uint64{0, 1, 0x12345, 0xfffff}},
		{selector: "ip6 length", bits: 16, pool: "length6", values: []uint64{8, 20, 40, 60}},
		{selector: "ip6 nexthdr", bits: 8, pool: "proto", values: []uint64{6, 17, 58, 132}},
	}
	transportFields = map[string][]*field{
		"tcp": {
			{selector: "tcp sport", bits: 16, pool: "sport", values: ports}, {selector: "tcp dport", bits: 16, pool: "dport", values: ports},
			{selector: "tcp dport", bits: 16, pool: "dport", values: ports},
			{selector: "tcp sequence", bits: 32, pool: "seq", values: []uint64{0, 1000, 0x80000000, 0xffffffff}},
			{selector: "tcp ackseq", bits: 32, pool: "ack", values: []uint64{0, 1, 1000, 0x7fffffff}},
			{selector: "tcp doff", bits: 4, pool: "doff", values: []uint64{5, 6}},
			{selector: "tcp window", bits: 16, pool: "window", values: []uint64{0, 1024, 64240, 65535}},
			{selector: "tcp urgptr", bits: 16, pool: "urg", values: []uint64{0, 1, 65535}},
			{selector: "tcp option maxseg size", bits: 16, pool: "mss", values: []uint64{536, 1220, 1460}},
			{selector: "tcp option window count", bits: 8, pool: "wscale", values: []uint64{0, 7, 14}},
		},
		"udp": {
			{selector: "udp sport", bits: 16, pool: "sport", values: ports}, {selector: "udp dport", bits: 16, pool: "dport", values: ports},
			{selector: "udp dport", bits: 16, pool: "dport", values: ports},
			{selector: "udp length", bits: 16, pool: "ulen", values: []uint64{8, 9, 12, 100}},
		},
		"th": {{selector: "th sport", bits: 16, pool: "sport", values: ports}, {selector: "th dport", bits: 16, pool: "dport", values: ports}},
		"sctp": {
			{selector: "sctp dport", bits: 16, pool: "dport", values: ports}, {selector: "sctp vtag", bits: 32, pool: "vtag", values: []uint64{0, 1, 0xdeadbeef}},
		},
		"icmp": {
			{selector: "icmp type", bits: 8, pool: "itype", values: []uint64{0, 3, 8, 11, 13}, only: "named"}, {selector: "icmp code", bits: 8, pool: "icode", values: []uint64{0, 1, 3, 13}, only: "named"},
			{selector: "icmp id", bits: 16, pool: "iid", values: []uint64{1, 256, 65535}}, {selector: "icmp sequence", bits: 16, pool: "iseq", values: []uint64{0, 1, 1000}},
		},
		"icmpv6": {
			{selector: "icmpv6 type", bits: 8, pool: "itype6", values: []uint64{1, 3, 128, 129}, only: "named"},
			{selector: "icmpv6 id", bits: 16, pool: "iid", values: []uint64{1, 256, 65535}},
		},
	}
	metaFields = []*field{
		{selector: "meta length", bits: 32, pool: "length", values: []uint64{28, 40, 60, 100}},
		{selector: "meta mark", bits: 32, pool: "mark", values: []uint64{0, 1, 7, 255, 0x10000}},
		{selector: "meta priority", bits: 32, pool: "prio", values: []uint64{0, 1, 6}, only: "handles"},
		{selector: "meta l4proto", bits: 8, pool: "proto", values: []uint64{1, 6, 17, 58, 132}},
	}
	arpFields = []*field{
		{selector: "arp operation", bits: 16, pool: "arpop", values: []uint64{1, 2}, only: "named"},
		{selector: "arp htype", bits: 16, pool: "arphtype", values: []uint64{1, 6}}, {selector: "arp plen", bits: 8, pool: "arpplen", values: []uint64{4}},
	}
)

// number draws a value and notes it.
func (g *generator) number(f *field) uint64 {
	v := pick(g, f.values...)
	if g.chance(25) {
		v = g.Uint64N(min(f.top(), 1023) + 1)
	}
	v = min(v, f.top())
	g.note(f, v)
	return v
}

// numberMatch compares a field with constants in one of the ways there are.
func (g *generator) numberMatch(f *field) string {
	v, w := g.number(f), g.number(f)
	low, high := min(v, w), max(v, w)
	kinds := []string{"eq", "eq", "eq", "neq", "set", "notset"}
	if f.only == "" {
		kinds = append(kinds, "lt", "gt", "le", "ge")
		if f.bits >= 4 {
			kinds = append(kinds, "range", "range", "notrange", "intervals", "mask", "maskneq")
		}
	}
	switch kind := pick(g, kinds...); kind {
	case "eq":
		g.want(f.pool, v)
		return fmt.Sprintf("%s %d", f.selector, v)
	case "neq":
		g.want(f.pool, v^1)
		return fmt.Sprintf("%s != %d", f.selector, v)
	case "lt", "gt", "le", "ge":
		sign := map[string]string{"lt": "<", "gt": ">", "le": "<=", "ge": ">="}[kind]
		v = min(max(v, 1), f.top()-1)
		g.want(f.pool, v)
		return fmt.Sprintf("%s %s %d", f.selector, sign, v)
	case "range", "notrange":
		if low == high {
			low, high = spread(low, f.top())
		}
		g.want(f.pool, pick(g, low, high))
		return fmt.Sprintf("%s %s%d-%d", f.selector, map[string]string{"notrange": "!= "}[kind], low, high)
	case "mask", "maskneq":
		mask := max(pick(g, 1, 3, 0xf, f.top()>>1, f.top()&0xf0)&f.top(), 1)
		g.want(f.pool, v)
		return fmt.Sprintf("%s & %d %s %d", f.selector, mask, map[string]string{"mask": "==", "maskneq": "!="}[kind], v&mask)
	case "intervals":
		return f.selector + " " + g.intervals(f)
	default:
		list := g.distinct(f, 2+g.IntN(5))
		g.want(f.pool, pick(g, list...))
		return fmt.Sprintf("%s %s{ %s }", f.selector, map[string]string{"notset": "!= "}[kind], join(list))
	}
}

func spread(v, top uint64) (low, high uint64) {
	if v == 0 {
		return 0, 1
	}
	return v - 1, min(v+1, top)
}

// distinct draws different values.
func (g *generator) distinct(f *field, n int) (list []uint64) {
	seen := map[uint64]bool{}
	for range n {
		if v := g.number(f); !seen[v] {
			seen[v] = true
			list = append(list, v)
		}
	}
	return list
}

func join(list []uint64) string {
	text := make([]string, len(list))
	for i, v := range list {
		text[i] = fmt.Sprint(v)
	}
	return strings.Join(text, ", ")
}

// intervals is an anonymous set of ranges that do not touch.
func (g *generator) intervals(f *field) string {
	var items []string
	at := uint64(0)
	for range 2 + g.IntN(3) {
		low := at + g.Uint64N(min(f.top()/8, 200)+1)
		high := low + g.Uint64N(min(f.top()/8, 100)+1)
		if high >= f.top() {
			break
		}
		g.note(f, low)
		g.note(f, high)
		g.want(f.pool, high)
		if low == high {
			items = append(items, fmt.Sprint(low))
		} else {
			items = append(items, fmt.Sprintf("%d-%d", low, high))
		}
		at = high + 2
	}
	if len(items) == 0 {
		return fmt.Sprintf("{ %d }", g.number(f))
	}
	return "{ " + strings.Join(items, ", ") + " }"
}

// Networks that rules and packets use, by side and version.
var networks = map[int][]netip.Prefix{
	4: prefixes("10.0.0.0/28", "192.168.1.0/24", "172.16.5.0/24", "198.51.100.0/24", "192.0.2.0/24", "203.0.113.0/28"),
	6: prefixes("fd00:1::/124", "fd00:2::/120", "2001:db8::/124", "2001:db8:1::/120"),
}

func prefixes(list ...string) (out []netip.Prefix) {
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// address draws an address: one that a rule has, or any of the networks. Its
// last byte is 2 to 15, where all networks have stations.
func (g *generator) address(version int) netip.Addr {
	n := pick(g, networks[version]...)
	a := n.Addr()
	for range 2 + g.IntN(13) {
		a = a.Next()
	}
	return a
}

// addressMatch compares an address of a version.
func (g *generator) addressMatch(version int) string {
	selector := pick(g, "saddr", "daddr")
	pool := fmt.Sprintf("%s%d", selector, version)
	word := map[int]string{4: "ip", 6: "ip6"}[version] + " " + selector
	a, b := g.address(version), g.address(version)
	if b.Less(a) {
		a, b = b, a
	}
	g.noteAddress(pool, a)
	g.noteAddress(pool, b)
	switch pick(g, "eq", "eq", "neq", "prefix", "range", "set", "prefixes", "less") {
	case "neq":
		return fmt.Sprintf("%s != %s", word, a)
	case "prefix":
		bits := a.BitLen() - g.IntN(9)
		p, _ := a.Prefix(bits)
		return fmt.Sprintf("%s %s", word, p)
	case "range":
		if a == b {
			b = a.Next()
		}
		return fmt.Sprintf("%s %s-%s", word, a, b)
	case "set":
		if a == b {
			return fmt.Sprintf("%s { %s }", word, a)
		}
		return fmt.Sprintf("%s { %s, %s }", word, a, b)
	case "prefixes":
		p, _ := a.Prefix(a.BitLen() - g.IntN(5))
		q, _ := b.Prefix(b.BitLen() - g.IntN(5))
		if p.Overlaps(q) {
			return fmt.Sprintf("%s { %s }", word, p)
		}
		return fmt.Sprintf("%s { %s, %s }", word, p, q)
	case "less":
		return fmt.Sprintf("%s >= %s", word, a)
	}
	return fmt.Sprintf("%s %s", word, a)
}

// noteAddress keeps an address for packets, as its place in the list of all
// addresses that were drawn.
func (g *generator) noteAddress(pool string, a netip.Addr) {
	g.addresses = append(g.addresses, a)
	i := uint64(len(g.addresses) - 1)
	g.pools[pool] = append(g.pools[pool], i)
	g.want(pool, i)
}
