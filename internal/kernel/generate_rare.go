package kernel

import "fmt"

// rareMatch is a match that few rules have. Empty: none fits.
func (g *generator) rareMatch(l *layer) string {
	list := []string{
		`meta iifkind "tun"`, `meta iifkind != "veth"`, "numgen inc mod 2 0",
		"meta length & 3 == 0", "meta mark & 0x3 != 1",
	}
	if g.tracked() {
		list = append(list,
			"ct label 1", "ct label != 5", "ct bytes > 100", "ct reply packets < 1", "ct avgpkt > 60",
			"meta skuid 0", "meta skgid != 7", // at ingress the frame is owned by the TAP device's socket
			"ct reply proto-src 80", "ct zone 1", "ct original zone 0",
			"fib daddr . iif type local", "fib saddr . mark type unicast", `meta oifkind "tun"`,
		)
		switch g.hook {
		case "prerouting", "input", "forward":
			list = append(list, "fib saddr oif missing", "fib saddr . iif oif missing", `fib saddr oifname "lan0"`, `fib saddr . iif oifname "wan0"`, "fib saddr . mark oif exists")
		}
	}
	if l.transport == "" || l.transport == "tcp" {
		list = append(list, "tcp option timestamp tsval > 1", "tcp option sack-perm kind 4", "tcp option maxseg length 4", "tcp option nop missing", "tcp reserved 0")
	}
	text := pick(g, list...)
	if len(text) > 3 && text[:3] == "tcp" {
		l.transport = "tcp"
		g.wantTransport("tcp")
	}
	return text
}

// rareStatement is a statement that few rules have.
func (g *generator) rareStatement(l *layer) string {
	list := []string{
		"meta priority set 1:1", "meta pkttype set host", "meta mark set meta length", "meta mark set numgen inc mod 5 map { 0 : 1, 1 : 7, 2 : 255 }",
		fmt.Sprintf("limit rate %s1 bytes/day burst %d bytes", pick(g, "", "over "), pick(g, 60, 100, 400)),
	}
	if g.tracked() {
		list = append(list, "ct label set 1", "ct label set 5", "ct mark set ct mark | 0x10", "ct mark set meta l4proto map { tcp : 1, udp : 7 }", "ct event set new,destroy")
	}
	if g.family != "netdev" || g.hook != "egress" {
		switch l.transport {
		case "tcp":
			list = append(list, "tcp option maxseg size set 536", "reset tcp option timestamp", "reset tcp option maxseg", "tcp window set 1000", "tcp urgptr set 1",
				fmt.Sprintf("tcp dport set %d", pick(g, ports...)), "tcp sequence set 5")
		case "udp":
			list = append(list, fmt.Sprintf("udp sport set %d", pick(g, ports...)), "udp dport set 7")
		case "icmp":
			list = append(list, "icmp id set 9", "icmp sequence set 2")
		}
		if l.version == 4 {
			list = append(list, "ip saddr set "+g.address(4).String())
		}
		if l.version == 6 {
			list = append(list, "ip6 saddr set "+g.address(6).String())
		}
	}
	if g.hook == "prerouting" && g.tracked() && (l.transport == "tcp" || l.transport == "udp") {
		list = append(list, "tproxy to :8080")
	}
	return pick(g, list...)
}
