// Package firewall makes the nftables ruleset of a small server. It stands for
// any program that generates rules; firewall_test.go shows how to test them
// without root, without a kernel, and without a network.
package firewall

import (
	"fmt"
	"strings"
)

// Server is what the ruleset is made from.
type Server struct {
	// Admins are the networks that may use SSH, such as "192.0.2.0/24".
	Admins []string
	// Ports are the TCP ports that are open to everyone.
	Ports []int
	// NewPerSecond bounds new SSH connections; 0: no bound.
	NewPerSecond int
}

// Ruleset gives the ruleset in the nft language.
func (s Server) Ruleset() string {
	var b strings.Builder
	b.WriteString("table inet server {\n")
	b.WriteString("\tchain ssh {\n")
	if s.NewPerSecond > 0 {
		fmt.Fprintf(&b, "\t\tlimit rate over %d/second burst %d packets counter drop\n", s.NewPerSecond, s.NewPerSecond)
	}
	if len(s.Admins) > 0 {
		fmt.Fprintf(&b, "\t\tip saddr { %s } accept\n", strings.Join(s.Admins, ", "))
	}
	b.WriteString("\t}\n")
	b.WriteString("\tchain input {\n")
	b.WriteString("\t\ttype filter hook input priority filter; policy drop;\n")
	b.WriteString("\t\tct state established,related accept\n")
	b.WriteString("\t\tiifname \"lo\" accept\n")
	b.WriteString("\t\ttcp dport 22 jump ssh\n")
	if len(s.Ports) > 0 {
		fmt.Fprintf(&b, "\t\ttcp dport { %s } accept comment \"open to everyone\"\n", join(s.Ports))
	}
	b.WriteString("\t}\n}\n")
	return b.String()
}

func join(ports []int) string {
	words := make([]string, len(ports))
	for i, p := range ports {
		words[i] = fmt.Sprint(p)
	}
	return strings.Join(words, ", ")
}
