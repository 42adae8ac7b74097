package chaintest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Rules writes a random ruleset: a base chain at the input hook and two more
// that it jumps to, with rules of all kinds that matter to a compiler of
// chains. most is how many rules a chain has at most. load tells whether a
// ruleset can be loaded: rules that contradict themselves are left out.
func Rules(r *rand.Rand, most int, load func(text string) error) string {
	bodies := map[string][]string{}
	for _, name := range []string{"a", "b", "base"} {
		for range r.IntN(most + 1) {
			rule := Rule(r, name)
			if load(table(map[string][]string{name: {rule}}, "accept")) == nil {
				bodies[name] = append(bodies[name], rule)
			}
		}
	}
	return table(bodies, pick(r, []string{"accept", "drop"}))
}

// table writes the ruleset with the rules of its chains.
func table(bodies map[string][]string, policy string) string {
	var b strings.Builder
	b.WriteString("table inet t {\n")
	b.WriteString("\tset s { type ipv4_addr; flags interval; elements = { 10.0.0.0/30, 192.0.2.7 } }\n")
	b.WriteString("\tset d { type ipv4_addr; size 64; flags dynamic; }\n")
	b.WriteString("\tmap m { type inet_service : verdict; elements = { 22 : accept, 80 : jump b, 53 : continue } }\n")
	for _, name := range []string{"b", "a", "base"} {
		fmt.Fprintf(&b, "\tchain %s {\n", name)
		if name == "base" {
			fmt.Fprintf(&b, "\t\ttype filter hook input priority filter; policy %s\n", policy)
		}
		for _, rule := range bodies[name] {
			fmt.Fprintf(&b, "\t\t%s\n", rule)
		}
		b.WriteString("\t}\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// Rule writes a random rule of a chain of Rules.
func Rule(r *rand.Rand, chain string) string {
	var parts []string
	for range r.IntN(4) {
		parts = append(parts, match(r))
		if r.IntN(6) == 0 {
			parts = append(parts, pick(r, statements))
		}
	}
	if r.IntN(2) == 0 {
		parts = append(parts, pick(r, statements))
	}
	verdicts := []string{"accept", "drop", "return", "continue", "drop", "", ""}
	switch chain { // jumps lead on, so that there are no loops
	case "base":
		verdicts = append(verdicts, "jump a", "goto a", "jump b", "goto b", "tcp dport vmap @m", "ip saddr vmap { 10.0.0.1 : accept, 10.0.0.4-10.0.0.9 : jump a, 192.0.2.7 : drop }")
	case "a":
		verdicts = append(verdicts, "jump b", "goto b", "th dport vmap @m", "ip daddr . th dport vmap { 10.0.0.2 . 22 : drop, 10.0.0.3 . 1-100 : goto b }")
	}
	if v := pick(r, verdicts); v != "" {
		parts = append(parts, v)
	} else if len(parts) == 0 {
		parts = append(parts, "counter")
	}
	return strings.Join(parts, " ")
}

var statements = []string{
	"counter", "counter", "limit rate 5/second burst 3 packets", "meta mark set 1", "meta mark set 0x100",
	"meta mark set meta mark or 2", "ip dscp set 8", "quota until 500 bytes", "log prefix \"x\"",
	"tcp dport set 80", "add @d { ip saddr }", "ip ttl set 3", "ct mark set 7",
}

func match(r *rand.Rand) string {
	not := ""
	if r.IntN(4) == 0 {
		not = "!= "
	}
	switch r.IntN(20) {
	case 0, 1, 2:
		return fmt.Sprintf("ip saddr %s%s", not, address(r))
	case 3, 4:
		return fmt.Sprintf("ip daddr %s%s", not, address(r))
	case 5, 6:
		return fmt.Sprintf("%s dport %s%s", pick(r, []string{"tcp", "udp", "th"}), not, port(r))
	case 7:
		return fmt.Sprintf("%s sport %s%s", pick(r, []string{"tcp", "udp", "th"}), not, port(r))
	case 8:
		return fmt.Sprintf("meta l4proto %s%s", not, pick(r, []string{"tcp", "udp", "icmp", "{ tcp, udp }"}))
	case 9:
		return fmt.Sprintf("meta mark %s%s", not, pick(r, []string{"0", "1", "0x100", "{ 1, 2, 3 }"}))
	case 10:
		return pick(r, []string{"meta mark and 0x3 == 0x2", "meta mark & 0x100 != 0", "tcp flags & (syn|ack) == syn", "tcp flags syn", "tcp flags != ack", "ip dscp 8", "ip dscp != 0"})
	case 11:
		return fmt.Sprintf("iifname %s%s", not, pick(r, []string{"\"eth0\"", "\"eth1\"", "\"eth*\"", "{ \"eth0\", \"wg0\" }"}))
	case 12:
		return fmt.Sprintf("ip6 saddr %s%s", not, pick(r, []string{"2001:db8::1", "2001:db8::/32", "2001:db8::-2001:db8::ff", "fe80::/10"}))
	case 13:
		return fmt.Sprintf("ip ttl %s", pick(r, []string{"64", "< 10", ">= 64", "!= 3", "1-63"}))
	case 14:
		return fmt.Sprintf("meta length %s", pick(r, []string{"> 60", "<= 40", "40-80", "!= 40"}))
	case 15:
		return pick(r, []string{"ip saddr @s", "ip saddr != @s", "ip daddr @d", "ip saddr . tcp dport { 10.0.0.1 . 22, 10.0.0.2 . 80-90 }"})
	case 16:
		return pick(r, []string{"ct state new", "ct state established,related", "ct state { new, invalid }", "ct mark 7", "ct direction original"})
	case 17:
		return pick(r, []string{"ip frag-off & 0x1fff != 0", "tcp option maxseg size 1460", "exthdr frag exists", "icmp type echo-request", "meta nfproto ipv4", "meta protocol ip6", "@th,0,32 0x9c400016", "@nh,96,24 0x0a0000", "@nh,64,16 0x4006", "@ll,0,48 0x020000000001"})
	case 18:
		return pick(r, []string{"meta pkttype host", "meta pkttype != unicast", "oifname \"eth1\"", "iif 1", "meta skuid 0"})
	}
	return fmt.Sprintf("ip protocol %s%s", not, pick(r, []string{"tcp", "udp", "1-17"}))
}

func address(r *rand.Rand) string {
	return pick(r, []string{"10.0.0.1", "10.0.0.2", "10.0.0.7", "10.0.0.0/8", "10.0.0.0/24", "10.0.0.0/30", "10.0.0.0/15", "10.0.0.2-10.0.0.6", "192.0.2.0/24", "{ 10.0.0.1, 10.0.0.7, 192.0.2.0/28 }", "0.0.0.0/1", "& 255.0.0.255 == 10.0.0.1"})
}

func port(r *rand.Rand) string {
	return pick(r, []string{"22", "80", "53", "1-1023", "1024-65535", "{ 22, 80 }", "{ 1-21, 23-79, 443 }", "< 53", "20-25"})
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// Packet writes a random packet, in the words of packet/build, that the rules
// of Rules are about.
func Packet(r *rand.Rand) string {
	src := pick(r, []string{"10.0.0.1", "10.0.0.2", "10.0.0.7", "10.0.9.9", "192.0.2.7", "198.51.100.1"})
	dst := pick(r, []string{"10.0.0.2", "10.0.0.3", "192.0.2.9"})
	head := fmt.Sprintf("iifname %s ", pick(r, []string{"eth0", "eth1", "wg0"}))
	if r.IntN(5) == 0 {
		head += fmt.Sprintf("mark %s ", pick(r, []string{"1", "2", "0x100"}))
	}
	ip := fmt.Sprintf("ip saddr %s ip daddr %s ", src, dst)
	switch r.IntN(9) {
	case 0:
		ip = fmt.Sprintf("ip6 saddr %s ", pick(r, []string{"2001:db8::1", "2001:db9::1", "fe80::1"}))
	case 1:
		return head + ip + "ip frag-off 1 ip protocol tcp payload 0x00160016"
	case 2:
		return head + ip + "icmp type echo-request"
	case 3:
		ip += fmt.Sprintf("ip ttl %d ", 1+r.IntN(70))
	case 4:
		ip += "ip dscp 8 "
	}
	p := pick(r, []string{"22", "80", "53", "443", "2000"})
	if r.IntN(3) == 0 {
		return head + ip + fmt.Sprintf("udp sport %s udp dport %s payload length %d", pick(r, []string{"53", "2000"}), p, r.IntN(80))
	}
	return head + ip + fmt.Sprintf("tcp sport %s tcp dport %s tcp flags %s", pick(r, []string{"22", "40000"}), p, pick(r, []string{"syn", "ack", "syn,ack"}))
}
