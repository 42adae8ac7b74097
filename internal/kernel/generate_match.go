package kernel

import (
	"fmt"
	"strings"
)

// layer is what the matches of a rule have said of the headers so far, so
// that they do not contradict each other.
type layer struct {
	version   int    // 4, 6, or 0 where nothing was said
	transport string // tcp, udp, …
}

// layer starts a rule: ip and ip6 tables have their version.
func (g *generator) layer() layer {
	switch g.family {
	case "ip":
		return layer{version: 4}
	case "ip6":
		return layer{version: 6}
	}
	return layer{}
}

// settle chooses the version.
func (g *generator) settle(l *layer) int {
	if l.version == 0 {
		l.version = pick(g, 4, 4, 6)
		if l.transport == "icmp" {
			l.version = 4
		}
		if l.transport == "icmpv6" {
			l.version = 6
		}
	}
	g.want("family", uint64(l.version))
	return l.version
}

// match is one match.
func (g *generator) match(l *layer) string {
	if g.family == "arp" {
		return g.arpMatch()
	}
	kinds := []string{"address", "address", "field", "transport", "transport", "transport", "flags", "meta", "device", "concat", "set", "raw", "exists", "misc"}
	if g.tracked() {
		kinds = append(kinds, "ct", "ct", "fib")
	}
	switch pick(g, append(kinds, "rare", "rare")...) {
	case "rare":
		return g.rareMatch(l)
	case "address":
		return g.addressMatch(g.settle(l))
	case "field":
		if g.settle(l) == 4 {
			f := pick(g, ipFields...)
			if g.made() && (f.pool == "id" || f.pool == "checksum") {
				f = ipFields[0]
			}
			return g.numberMatch(f)
		}
		return g.numberMatch(pick(g, ip6Fields...))
	case "transport":
		return g.numberMatch(pick(g, transportFields[g.transport(l)]...))
	case "flags":
		if l.transport == "" || l.transport == "tcp" {
			l.transport = "tcp"
			g.wantTransport("tcp")
			return g.flagsMatch()
		}
	case "device":
		return g.deviceMatch()
	case "concat":
		return g.concatMatch(l)
	case "set":
		if s := g.namedSet(l); s != nil {
			g.recall(s)
			return s.selector + pick(g, " ", " ", " != ") + "@" + s.name
		}
	case "raw":
		return g.rawMatch(l)
	case "exists":
		return g.existsMatch(l)
	case "misc":
		return g.miscMatch()
	case "ct":
		return g.ctMatch()
	case "fib":
		return pick(g, "fib daddr type local", "fib daddr type { local, broadcast }", "fib saddr type unicast", "fib daddr type != local")
	}
	return g.numberMatch(pick(g, metaFields...))
}

// made reports whether the rule at hand may meet packets that the host makes,
// the identification of which, and so the checksum, is random.
func (g *generator) made() bool {
	return g.hook == "" || g.hook == "output" || g.hook == "postrouting" || g.hook == "egress"
}

func (g *generator) tracked() bool {
	return g.family == "ip" || g.family == "ip6" || g.family == "inet"
}

// transport chooses a transport header that suits what was said.
func (g *generator) transport(l *layer) string {
	if l.transport == "" {
		list := []string{"tcp", "tcp", "udp", "udp", "th", "sctp"}
		if l.version != 6 {
			list = append(list, "icmp")
		}
		if l.version != 4 {
			list = append(list, "icmpv6")
		}
		l.transport = pick(g, list...)
		switch l.transport {
		case "icmp":
			l.version = 4
		case "icmpv6":
			l.version = 6
		}
	}
	g.wantTransport(l.transport)
	return l.transport
}

// transports are the protocols that packets are made of, by number in a
// recipe.
var transports = []string{"tcp", "udp", "sctp", "icmp", "icmpv6"}

func (g *generator) wantTransport(name string) {
	for i, t := range transports {
		if t == name {
			g.want("transport", uint64(i))
		}
	}
}

var tcpFlags = []string{"fin", "syn", "rst", "psh", "ack", "urg", "ecn", "cwr"}

func (g *generator) flagsMatch() string {
	a, b, c := pick(g, tcpFlags...), pick(g, tcpFlags...), pick(g, tcpFlags...)
	list := a
	if b != a {
		list += "," + b
	}
	switch pick(g, "any", "mask", "eq", "neq", "set", "absent") {
	case "any":
		return "tcp flags " + list
	case "mask":
		return fmt.Sprintf("tcp flags & (%s) == %s", strings.ReplaceAll("fin|syn|rst|ack", "|", " | "), pick(g, "syn", "syn | ack", "fin | ack", "rst"))
	case "eq":
		return "tcp flags == " + strings.ReplaceAll(list, ",", " | ")
	case "neq":
		return "tcp flags != " + a
	case "set":
		if a == c {
			return fmt.Sprintf("tcp flags { %s }", a)
		}
		return fmt.Sprintf("tcp flags { %s, %s }", a, c)
	}
	return fmt.Sprintf("tcp flags & (%s | %s) == 0x0", a, pick(g, "syn", "ack"))
}

func (g *generator) deviceMatch() string {
	name := pick(g, "lan0", "wan0", "lan0", "eth9")
	op := pick(g, "", "", "!= ")
	switch pick(g, "iifname", "iifname", "oifname", "iif", "wildcard", "set", "group", "type") {
	case "oifname":
		return fmt.Sprintf("oifname %s%q", op, name)
	case "iif":
		return fmt.Sprintf("iif %s%q", op, pick(g, "lan0", "wan0"))
	case "wildcard":
		return fmt.Sprintf("iifname %s%q", op, pick(g, "la*", "w*", "lan0*"))
	case "set":
		return fmt.Sprintf("%s %s{ \"lan0\", \"eth9\" }", pick(g, "iifname", "oifname"), op)
	case "group":
		return fmt.Sprintf("iifgroup %s%d", op, pick(g, 10, 20, 0))
	case "type":
		return "iiftype " + op + "ether"
	}
	return fmt.Sprintf("iifname %s%q", op, name)
}

func (g *generator) ctMatch() string {
	switch pick(g, "state", "state", "state", "neq", "direction", "status", "mark", "proto", "saddr", "packets") {
	case "neq":
		return "ct state != " + pick(g, "new", "established", "invalid")
	case "direction":
		return "ct direction " + pick(g, "original", "reply")
	case "status":
		return "ct status " + pick(g, "seen-reply", "assured", "confirmed", "snat")
	case "mark":
		return g.numberMatch(&field{selector: "ct mark", bits: 32, pool: "mark", values: []uint64{0, 1, 7}})
	case "proto":
		return "ct protocol " + pick(g, "tcp", "udp", "{ tcp, sctp }")
	case "saddr":
		return "ct original proto-dst " + fmt.Sprint(g.number(transportFields["tcp"][1]))
	case "packets":
		return "ct original packets " + pick(g, "> 1", "< 3", "2")
	}
	return "ct state " + pick(g, "new", "established", "established,related", "new,untracked", "invalid", "{ new, established }")
}

func (g *generator) miscMatch() string {
	kinds := []string{"pkttype", "protocol", "nfproto"}
	// At egress the link header is that of the next hop, and of a clone that
	// passes output it is left to chance.
	if !g.made() {
		kinds = append(kinds, "ether")
	}
	switch pick(g, kinds...) {
	case "protocol":
		return "meta protocol " + pick(g, "ip", "ip6", "arp", "!= ip", "{ ip, ip6 }")
	case "nfproto":
		if g.family == "inet" {
			return "meta nfproto " + pick(g, "ipv4", "ipv6")
		}
	case "ether":
		return "ether saddr " + pick(g, "02:00:00:00:01:02", "!= 02:00:00:00:01:03", "{ 02:00:00:00:01:02, 02:00:00:00:02:03 }")
	}
	return "meta pkttype " + pick(g, "host", "!= broadcast", "{ host, multicast }")
}

// rawMatch looks at bytes by their place.
func (g *generator) rawMatch(l *layer) string {
	switch pick(g, "th", "nh", "bits") {
	case "nh":
		return fmt.Sprintf("@nh,%d,%d %s%d", pick(g, 0, 8, 64, 72), 8, pick(g, "", "!= ", "> "), pick(g, 0, 6, 17, 64, 69, 96))
	case "bits":
		if g.made() { // 32 on is the identification of IPv4
			return fmt.Sprintf("@nh,%d,%d %d", pick(g, 4, 12), pick(g, 4, 3, 12), g.IntN(8))
		}
		return fmt.Sprintf("@nh,%d,%d %d", pick(g, 4, 12, 36), pick(g, 4, 3, 12), g.IntN(8))
	}
	if l.transport == "" {
		l.transport = "th"
	}
	f := transportFields["th"][1]
	v := g.number(f)
	g.want("dport", v)
	return fmt.Sprintf("@th,16,16 %d", v)
}

// existsMatch looks for headers and options.
func (g *generator) existsMatch(l *layer) string {
	word := pick(g, "exists", "missing")
	switch {
	case l.version == 6:
		return fmt.Sprintf("exthdr %s %s", pick(g, "hbh", "frag", "dst", "rt"), word)
	case l.transport == "" || l.transport == "tcp":
		l.transport = "tcp"
		g.wantTransport("tcp")
		return fmt.Sprintf("tcp option %s %s", pick(g, "maxseg", "sack-perm", "timestamp", "window"), word)
	case l.version == 4:
		return fmt.Sprintf("ip option %s %s", pick(g, "ra", "rr"), word)
	}
	return "meta l4proto " + pick(g, "tcp", "udp", "{ tcp, udp }", "!= tcp")
}

func (g *generator) arpMatch() string {
	switch pick(g, "field", "field", "saddr", "daddr", "device", "ether") {
	case "saddr":
		a := g.address(4)
		g.noteAddress("saddr4", a)
		return "arp saddr ip " + a.String()
	case "daddr":
		a := g.address(4)
		g.noteAddress("daddr4", a)
		return fmt.Sprintf("arp daddr ip %s/%d", a, 24+g.IntN(9))
	case "device":
		return fmt.Sprintf("iifname %q", pick(g, "lan0", "wan0"))
	case "ether":
		return "arp saddr ether 02:00:00:00:01:02"
	}
	g.want("arp", 1)
	return g.numberMatch(pick(g, arpFields...))
}
