package kernel

import (
	"fmt"
	"strings"
)

// makeObjects declares named counters, quotas and limits.
func (g *generator) makeObjects(b *strings.Builder) {
	for range g.IntN(3) {
		name := g.name("o")
		switch pick(g, "counter", "counter", "quota", "limit") {
		case "counter":
			fmt.Fprintf(b, "\tcounter %s {\n\t}\n", name)
			g.objects = append(g.objects, fmt.Sprintf("counter name %q", name))
		case "quota":
			fmt.Fprintf(b, "\tquota %s {\n\t\t%s%d bytes\n\t}\n", name, pick(g, "", "over "), pick(g, 100, 500, 3000))
			g.objects = append(g.objects, fmt.Sprintf("quota name %q", name))
		case "limit":
			fmt.Fprintf(b, "\tlimit %s {\n\t\trate %d/hour burst %d packets\n\t}\n", name, 1+g.IntN(3), 1+g.IntN(8))
			g.objects = append(g.objects, fmt.Sprintf("limit name %q", name))
		}
	}
}

// statement is one statement that is no verdict. Rates refill too slowly to
// matter.
func (g *generator) statement(l *layer) string {
	kinds := []string{"counter", "counter", "counter", "limit", "quota", "mark", "log", "object", "last"}
	if g.family != "arp" {
		kinds = append(kinds, "rare", "dynamic", "dynamic", "vmap", "vmap", "map", "numgen", "write", "hash")
	}
	if g.tracked() {
		kinds = append(kinds, "ctmark", "bitwise")
	}
	switch pick(g, kinds...) {
	case "rare":
		return g.rareStatement(l)
	case "limit":
		return fmt.Sprintf("limit rate %s%d/%s burst %d packets", pick(g, "", "over "), 1+g.IntN(4), pick(g, "hour", "day"), 1+g.IntN(8))
	case "quota":
		return fmt.Sprintf("quota %s%d bytes", pick(g, "", "over "), pick(g, 60, 100, 1000))
	case "mark":
		return "meta mark set " + pick(g, "1", "0x7", "meta mark | 0x10", "meta mark & 0xf", "meta mark ^ 0xff")
	case "log":
		return "log group 5" + pick(g, "", ` prefix "x"`)
	case "object":
		if len(g.objects) > 0 {
			return pick(g, g.objects...)
		}
	case "dynamic":
		return g.dynamic(l)
	case "vmap":
		return g.verdictMap(l)
	case "map":
		return g.valueMap(l)
	case "numgen":
		return "meta mark set numgen inc mod " + pick(g, "2", "3", "16 offset 5")
	case "hash":
		v := g.settle(l)
		return fmt.Sprintf("meta mark set jhash %s saddr mod %d seed 0x%x", words[v], pick(g, 2, 16), pick(g, 1, 0xbeef))
	case "write":
		return g.write(l)
	case "ctmark":
		return pick(g, "ct mark set 1", "ct mark set meta mark", "meta mark set ct mark")
	case "bitwise":
		return "meta mark set " + pick(g, "meta mark << 2", "meta mark >> 1", "ct mark & 0xff")
	}
	return "counter"
}

// dynamic adds to, updates or deletes from a set.
func (g *generator) dynamic(l *layer) string {
	s := g.namedSet(l, "dynamic")
	if s == nil {
		return "counter"
	}
	with := pick(g, "", "", " counter")
	op := pick(g, "add", "update", "add")
	if g.chance(10) && !s.small { // what packets delete counts until it is collected
		op, with = "delete", ""
	}
	return fmt.Sprintf("%s @%s { %s%s }", op, s.name, s.selector, with)
}

// verdictMap looks a verdict up, in a named map or an anonymous one.
func (g *generator) verdictMap(l *layer) string {
	if s := g.namedSet(l, "vmap"); s != nil && g.chance(60) {
		g.recall(s)
		return fmt.Sprintf("%s vmap @%s", s.selector, s.name)
	}
	if l.transport != "" && l.transport != "tcp" && l.transport != "udp" {
		return "meta l4proto vmap { tcp : continue, udp : accept }"
	}
	if l.transport == "" {
		l.transport = pick(g, "tcp", "udp")
	}
	g.wantTransport(l.transport)
	s := &storedSet{kind: "vmap"}
	items := g.elements(s, pick(g, "port", "ports"), "", 4)
	g.recall(s)
	return fmt.Sprintf("%s dport vmap { %s }", l.transport, strings.Join(items, ", "))
}

func (g *generator) valueMap(l *layer) string {
	if s := g.namedSet(l, "map"); s != nil {
		g.recall(s)
		return fmt.Sprintf("meta mark set %s map @%s", s.selector, s.name)
	}
	return "meta mark set meta l4proto map { tcp : 1, udp : 7 }"
}

// write changes a field of the packet.
func (g *generator) write(l *layer) string {
	if g.family == "netdev" && g.hook == "egress" {
		return "counter"
	}
	if g.settle(l) == 4 {
		return pick(g, "ip dscp set 10", "ip ttl set 33", "ip ecn set 1", "ip id set 7")
	}
	return pick(g, "ip6 hoplimit set 33", "ip6 dscp set 10", "ip6 flowlabel set 5")
}
