package bench

import (
	"fmt"
	"slices"
	"strings"
)

// RuleKind is a kind of chain, none of whose rules matches the packet.
type RuleKind struct {
	Name    string
	Example string // one of its rules
	Why     string
}

// RuleKinds are the chains that Rules measures.
var RuleKinds = []RuleKind{
	{"same", "ip saddr != 10.0.0.0/10 counter drop", "again and again, as the kernel's patch set measured it"},
	{"same, no counter", "ip saddr != 10.0.0.0/10 drop", "without counters (legacy iptables counts always)"},
	{"distinct", "ip saddr != 10.0.0.0/10 ip daddr 10.1.39.15 counter drop", "each with a destination of its own"},
	{"lengths", "ip saddr != 10.0.0.0/7 ip daddr 10.2.39.12 counter drop", "inverted prefixes of source and destination with the lengths 1 to 32, each rule once"},
}

// RuleKindNames are their names.
func RuleKindNames() []string {
	var names []string
	for i := range RuleKinds {
		names = append(names, RuleKinds[i].Name)
	}
	return names
}

func ruleKind(name string) *RuleKind {
	i := slices.IndexFunc(RuleKinds, func(k RuleKind) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return &RuleKinds[i]
}

// ruleMatch is one comparison of a rule.
type ruleMatch struct {
	destination bool // else of the source
	not         bool
	prefix      string
}

// invertedMatches are the comparisons of rule i: the first is inverted, and
// does not hold for a packet from 10.1.2.3 to 192.0.2.1.
func invertedMatches(kind string, i int) []ruleMatch {
	common := ruleMatch{not: true, prefix: "10.0.0.0/10"}
	switch kind {
	case "distinct":
		return []ruleMatch{common, {destination: true, prefix: fmt.Sprintf("10.%d.%d.%d", 1+i>>16, i>>8&255, i&255)}}
	case "lengths":
		other := fmt.Sprintf("10.%d.%d.%d", 2+i>>16, i>>8&255, i&255)
		length := 1 + i/2%32
		if i%2 == 0 {
			return []ruleMatch{{not: true, prefix: networkOf(10<<24|1<<16|2<<8|3, length)}, {destination: true, prefix: other}}
		}
		return []ruleMatch{{destination: true, not: true, prefix: networkOf(192<<24|2<<8|1, length)}, {prefix: other}}
	}
	return []ruleMatch{common}
}

// networkOf writes the network of a length around an address.
func networkOf(address uint32, length int) string {
	a := address &^ (1<<(32-length) - 1)
	return fmt.Sprintf("%d.%d.%d.%d/%d", a>>24, a>>16&255, a>>8&255, a&255, length)
}

// InvertedRules writes a chain of n rules with inverted prefixes, none of which
// matches a packet from 10.1.2.3 to 192.0.2.1: for nft or, if legacy, as a save
// file of iptables, whose rules always count.
func InvertedRules(kind string, n int, legacy bool) string {
	write, head, tail := nftRule, "table ip filter {\n\tchain c {\n\t\ttype filter hook prerouting priority raw; policy accept;\n", "\t}\n}\n"
	if legacy {
		write, head, tail = savedRule, "*raw\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n", "COMMIT\n"
	}
	var s strings.Builder
	s.WriteString(head)
	for i := range n {
		write(&s, invertedMatches(kind, i), kind != "same, no counter")
	}
	return s.String() + tail
}

func nftRule(s *strings.Builder, list []ruleMatch, counts bool) {
	s.WriteString("\t\t")
	for _, m := range list {
		field, not := "ip saddr ", ""
		if m.destination {
			field = "ip daddr "
		}
		if m.not {
			not = "!= "
		}
		s.WriteString(field + not + m.prefix + " ")
	}
	if counts {
		s.WriteString("counter ")
	}
	s.WriteString("drop\n")
}

func savedRule(s *strings.Builder, list []ruleMatch, _ bool) {
	s.WriteString("-A PREROUTING ")
	for _, m := range list {
		field, not := "-s ", ""
		if m.destination {
			field = "-d "
		}
		if m.not {
			not = "! "
		}
		s.WriteString(not + field + m.prefix + " ")
	}
	s.WriteString("-j DROP\n")
}
