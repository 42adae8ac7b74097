package kernel

import (
	"fmt"
	"net/netip"
	"strings"

	"verdict/packet/build"
)

// Addresses of the router itself.
var own = map[int][]string{4: {"10.0.0.1", "203.0.113.1"}, 6: {"fd00:1::1", "2001:db8::1"}}

// packet draws a packet: mostly one that was made for a rule.
func (g *generator) packet() Injection {
	if len(g.sent) > 0 && g.chance(20) {
		return g.again()
	}
	g.recipe = recipe{}
	if len(g.recipes) > 0 && g.chance(80) {
		for k, v := range pick(g, g.recipes...) {
			g.recipe[k] = v
		}
	}
	var p Injection
	if _, ok := g.recipe["arp"]; ok || g.chance(4) {
		p = g.arp()
	} else {
		p = g.ip()
	}
	if g.chance(5) {
		p.Data = g.damage(p.Data)
	}
	g.sent = append(g.sent, p)
	return p
}

// value is the recipe's value of a field, else one of its pool, else the
// given one.
func (g *generator) value(pool string, otherwise uint64) uint64 {
	if v, ok := g.recipe[pool]; ok && g.chance(90) {
		return v
	}
	if list := g.pools[pool]; len(list) > 0 && g.chance(50) {
		return pick(g, list...)
	}
	return otherwise
}

func (g *generator) endpoint(side string, version int) netip.Addr {
	pool := fmt.Sprintf("%s%d", side, version)
	if v := g.value(pool, 1<<32); v < uint64(len(g.addresses)) {
		return g.addresses[v]
	}
	if side == "daddr" && g.chance(35) {
		return netip.MustParseAddr(pick(g, own[version]...))
	}
	return g.address(version)
}

// keep notes an address for packets and returns its place.
func (g *generator) keep(pool string, a netip.Addr) uint64 {
	g.addresses = append(g.addresses, a)
	i := uint64(len(g.addresses) - 1)
	g.pools[pool] = append(g.pools[pool], i)
	return i
}

var lan = prefixes("10.0.0.0/8", "192.168.0.0/16", "172.16.0.0/12", "fd00::/16")

// side is the interface behind which an address is.
func side(a netip.Addr) string {
	for _, p := range lan {
		if p.Contains(a) {
			return "lan0"
		}
	}
	return "wan0"
}

// ip draws an IP packet.
func (g *generator) ip() Injection {
	version := int(g.value("family", uint64(pick(g, 4, 4, 6))))
	if version != 6 {
		version = 4
	}
	transport := transports[g.value("transport", uint64(g.IntN(5)))%5]
	if version == 4 && transport == "icmpv6" {
		transport = "icmp"
	}
	if version == 6 && transport == "icmp" {
		transport = "icmpv6"
	}
	src, dst := g.endpoint("saddr", version), g.endpoint("daddr", version)
	in := side(src)
	if g.chance(5) {
		in = pick(g, interfaceNames...)
	}
	var b strings.Builder
	g.link(&b, in)
	word := words[version]
	fmt.Fprintf(&b, " %s saddr %s %s daddr %s", word, src, word, dst)
	g.network(&b, version)
	if version == 4 && g.chance(4) {
		b.WriteString(" ip option " + pick(g, "ra value 0", "rr ptr 4"))
	}
	if version == 6 && g.chance(6) {
		b.WriteString(" " + pick(g, "hbh", "dst"))
	}
	g.transportText(&b, transport)
	if n := g.value("length", 0); n > 0 && n < 200 && g.chance(60) {
		fmt.Fprintf(&b, " payload length %d", max(int(n)-40, 0))
	}
	p, err := build.Parse(b.String())
	if err != nil {
		p, err = build.Parse(fmt.Sprintf("ether saddr 02:00:00:00:01:02 ether daddr %s ip saddr 10.0.0.2 ip daddr 10.0.0.1 udp dport 53", lanMAC))
		if err != nil {
			return Injection{Interface: "lan0", Data: make([]byte, 60)}
		}
		in = "lan0"
	}
	return Injection{Interface: in, Data: p.Data}
}

var interfaceNames = []string{"lan0", "wan0"}

func (g *generator) link(b *strings.Builder, in string) {
	mac := map[string]string{"lan0": lanMAC, "wan0": wanMAC}[in]
	station := fmt.Sprintf("%s%02x", mac[:15], 2+g.IntN(3))
	switch {
	case g.chance(2):
		mac = "ff:ff:ff:ff:ff:ff"
	case g.chance(2):
		mac = "02:00:00:00:09:09"
	}
	fmt.Fprintf(b, "ether saddr %s ether daddr %s", station, mac)
}

func (g *generator) network(b *strings.Builder, version int) {
	if version == 4 {
		fmt.Fprintf(b, " ip ttl %d ip id %d", g.value("ttl", 64), g.value("id", uint64(1+g.IntN(60000))))
		fmt.Fprintf(b, " ip dscp %d ip ecn %d", g.value("dscp", 0), g.value("ecn", 0))
		return
	}
	fmt.Fprintf(b, " ip6 hoplimit %d ip6 dscp %d ip6 ecn %d ip6 flowlabel %d", g.value("ttl", 64), g.value("dscp", 0), g.value("ecn", 0), g.value("flow", 0))
}

func (g *generator) transportText(b *strings.Builder, name string) {
	switch name {
	case "tcp":
		fmt.Fprintf(b, " tcp sport %d tcp dport %d tcp sequence %d tcp ackseq %d tcp window %d tcp urgptr %d",
			g.value("sport", uint64(1024+g.IntN(100))), g.value("dport", pick(g, ports...)), g.value("seq", 1000), g.value("ack", 0),
			g.value("window", 64240), g.value("urg", 0))
		fmt.Fprintf(b, " tcp flags %s", pick(g, "syn", "syn", "syn", "ack", "syn,ack", "fin,ack", "rst", "psh,ack", "urg,ack", "fin,syn", "ecn,cwr,syn"))
		if g.chance(30) {
			fmt.Fprintf(b, " tcp option maxseg size %d", g.value("mss", 1460))
		}
		if g.chance(15) {
			fmt.Fprintf(b, " tcp option window count %d", g.value("wscale", 7))
		}
	case "udp":
		fmt.Fprintf(b, " udp sport %d udp dport %d", g.value("sport", uint64(1024+g.IntN(100))), g.value("dport", pick(g, ports...)))
	case "sctp":
		fmt.Fprintf(b, " sctp sport %d sctp dport %d sctp vtag %d", g.value("sport", 1024), g.value("dport", pick(g, ports...)), g.value("vtag", 0))
	case "icmp":
		fmt.Fprintf(b, " icmp type %d icmp id %d icmp sequence %d", pick(g, 8, 8, 0, 13, uint64(g.value("itype", 8))), g.value("iid", 1), g.value("iseq", 1))
	case "icmpv6":
		fmt.Fprintf(b, " icmpv6 type %d icmpv6 id %d icmpv6 sequence %d", pick(g, 128, 128, 129, uint64(g.value("itype6", 128))), g.value("iid", 1), g.value("iseq", 1))
	}
}

func (g *generator) arp() Injection {
	in := pick(g, interfaceNames...)
	var b strings.Builder
	g.link(&b, in)
	fmt.Fprintf(&b, " arp operation %d arp saddr ip %s arp daddr ip %s", g.value("arpop", 1), g.endpoint("saddr", 4), g.endpoint("daddr", 4))
	p, err := build.Parse(b.String())
	if err != nil {
		return Injection{Interface: in, Data: make([]byte, 60)}
	}
	return Injection{Interface: in, Data: p.Data}
}

// again repeats a packet, or answers it: addresses and ports swapped.
func (g *generator) again() Injection {
	p := pick(g, g.sent[max(0, len(g.sent)-12):]...)
	switch {
	case g.chance(35):
		return p
	case g.chance(60):
		p = reply(p)
		p.Answers = true
		return p
	}
	return reply(p)
}

// damage cuts a frame, or changes a byte of it. Addresses are kept, since a
// station that does not exist is looked for and the packet for it waits; and
// so are fragment offsets, see docs/kernel-differences.md.
func (g *generator) damage(frame []byte) []byte {
	out := append([]byte(nil), frame...)
	if g.chance(50) && len(out) > 16 {
		return out[:15+g.IntN(len(out)-15)]
	}
	at := 14 + g.IntN(max(len(out)-14, 1))
	kept := at >= 20 && at < 22 || at >= 26 && at < 34
	if out[12] == 0x86 {
		kept = at >= 22 && at < 54
	}
	if at < len(out) && !kept {
		out[at] ^= byte(1 + g.IntN(255))
	}
	return out
}
