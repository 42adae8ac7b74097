package kernel

import (
	"fmt"
	"strings"
)

// natPriorities of the hooks at which chains of type nat stand.
var natPriorities = map[string][]string{
	"prerouting": {"-100", "-90", "0"}, "output": {"-100", "0"},
	"input": {"100", "0"}, "postrouting": {"100", "90", "200"},
}

// natChain writes a chain that translates addresses.
func (g *generator) natChain(b *strings.Builder) {
	g.hook = pick(g, "prerouting", "prerouting", "postrouting", "postrouting", "output", "input")
	fmt.Fprintf(b, "\tchain %s {\n\t\ttype nat hook %s priority %s; policy accept;\n", g.name("n"), g.hook, pick(g, natPriorities[g.hook]...))
	for range 1 + g.IntN(3) {
		g.recipe = recipe{}
		fmt.Fprintf(b, "\t\t%s\n", g.natRule())
		g.recipes = append(g.recipes, g.recipe)
	}
	b.WriteString("\t}\n")
}

// natRule is up to two matches, perhaps a counter, and a translation.
func (g *generator) natRule() string {
	var parts []string
	l := g.layer()
	version := g.settle(&l)
	if g.family == "inet" {
		parts = append(parts, fmt.Sprintf("meta nfproto ipv%d", version))
	}
	if g.chance(40) {
		parts = append(parts, g.addressMatch(version))
	}
	port := g.chance(60)
	if port {
		l.transport = pick(g, "tcp", "udp", "tcp", "udp", "sctp")
		g.wantTransport(l.transport)
		parts = append(parts, g.numberMatch(&field{selector: l.transport + " dport", bits: 16, pool: "dport", values: ports}))
	}
	if g.chance(20) {
		word := "iifname"
		if g.hook == "postrouting" {
			word = "oifname"
		}
		parts = append(parts, fmt.Sprintf("%s %q", word, pick(g, interfaceNames...)))
	}
	if g.chance(40) {
		parts = append(parts, "counter")
	}
	return strings.Join(append(parts, g.translation(version, port, &l)), " ")
}

// translation is a statement of its hook; port says that the rule matches a
// protocol with ports.
func (g *generator) translation(version int, port bool, l *layer) string {
	word, address := words[version], g.address(version).String()
	if g.chance(10) {
		address = pick(g, own[version]...)
	}
	wrapped := address
	if version == 6 {
		wrapped = "[" + address + "]"
	}
	to := pick(g, ports...)
	verb := "snat"
	if g.hook == "prerouting" || g.hook == "output" {
		verb = "dnat"
	}
	choices := []string{
		fmt.Sprintf("%s %s to %s", verb, word, address), fmt.Sprintf("%s %s to %s", verb, word, address),
		fmt.Sprintf("%s %s to %s persistent", verb, word, address),
	}
	if port {
		choices = append(choices, fmt.Sprintf("%s %s to %s:%d", verb, word, wrapped, to), fmt.Sprintf("%s %s to %s:%d", verb, word, wrapped, to))
	}
	if a, b := g.address(version), g.address(version); a.Less(b) && g.chance(50) {
		choices = append(choices, fmt.Sprintf("%s %s to %s-%s", verb, word, a, b))
	}
	if version == 4 && port && verb == "dnat" {
		choices = append(choices,
			fmt.Sprintf("dnat ip to %s dport map { 53 : %s, 443 : %s, 1000-40000 : %s }", l.transport, g.address(4), g.address(4), g.address(4)),
			fmt.Sprintf("dnat ip addr . port to %s dport map { 80 : %s . 8080, 22 : %s . %d }", l.transport, g.address(4), g.address(4), to))
	}
	if version == 4 {
		side := map[string]string{"snat": "saddr", "dnat": "daddr"}[verb]
		choices = append(choices, fmt.Sprintf("%s ip prefix to ip %s map { 10.0.0.0/28 : 198.51.100.0/28, 192.168.1.0/28 : 192.0.2.0/28, 203.0.113.0/28 : 10.0.0.0/28 }", verb, side))
	}
	switch {
	case verb == "dnat":
		choices = append(choices, "redirect")
		if port {
			choices = append(choices, fmt.Sprintf("redirect to :%d", to))
		}
	case g.hook == "postrouting":
		choices = append(choices, "masquerade", "masquerade", "masquerade persistent")
		if port {
			choices = append(choices, fmt.Sprintf("masquerade to :%d", to), fmt.Sprintf("masquerade to :%d-%d", to, min(to+9, 65535)), "masquerade random")
		}
	}
	return pick(g, choices...)
}

// answer is a statement that makes the host send something: an answer to the
// packet, or copies of it. Empty where the hook allows none.
func (g *generator) answer(l *layer) string {
	switch {
	case g.family == "netdev" && g.hook == "ingress":
		return pick(g, `dup to "wan0"`, `dup to "lan0"`, `fwd to "wan0"`, `fwd to "lan0"`, "reject")
	case g.family == "netdev":
		return pick(g, `dup to "wan0"`, `dup to "lan0"`)
	case !g.tracked() || g.hook == "" || g.hook == "postrouting":
		return ""
	case g.chance(30) && g.family != "inet" && g.hook != "":
		v := g.version()
		to := g.address(v)
		return fmt.Sprintf("dup to %s device %q", to, side(to))
	}
	switch {
	case g.hook == "output" && l.transport != "udp" && l.transport != "icmp" && l.transport != "icmpv6":
		return "" // might be about the reset of another reject, see docs/kernel-differences.md
	case l.transport == "tcp" && g.chance(60):
		return "reject with tcp reset"
	case l.version == 4 && g.family != "ip6":
		return "reject with icmp " + pick(g, "port-unreachable", "net-unreachable", "host-unreachable", "prot-unreachable", "net-prohibited", "host-prohibited", "admin-prohibited")
	case l.version == 6 && g.family != "ip":
		return "reject with icmpv6 " + pick(g, "no-route", "admin-prohibited", "addr-unreachable", "port-unreachable", "policy-fail", "reject-route")
	case g.family == "inet":
		return "reject with icmpx " + pick(g, "port-unreachable", "no-route", "host-unreachable", "admin-prohibited")
	}
	return "reject"
}

// early is a statement that takes effect ahead of connection tracking.
func (g *generator) early() string {
	return pick(g, "notrack", "ct zone set 1", "ct zone set 2", "ct original zone set 3")
}
