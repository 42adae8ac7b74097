package firewall

import (
	"strings"
	"testing"
	"time"

	"verdict"
	"verdict/trace/render"
)

// load puts a ruleset on a simulated host.
func load(t *testing.T, s Server) *verdict.Engine {
	t.Helper()
	rules, err := verdict.Parse(s.Ruleset())
	if err != nil {
		t.Fatal(err) // all mistakes, each with its line
	}
	engine, err := rules.NewEngine(verdict.EngineOptions{Hook: "input"})
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

var server = Server{Admins: []string{"192.0.2.0/24", "203.0.113.7"}, Ports: []int{80, 443}}

// TestVerdicts checks what becomes of packets, and which rule decides.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct{ packet, want string }{
		{"iifname eth0 ip saddr 192.0.2.1 tcp dport 22", "accept by ssh#1"},
		{"iifname eth0 ip saddr 203.0.113.7 tcp dport 22", "accept by ssh#1"},
		{"iifname eth0 ip saddr 198.51.100.1 tcp dport 22", "drop by policy of input"},
		{"iifname eth0 ip saddr 198.51.100.1 tcp dport 443", "accept by input#4"},
		{"iifname eth0 ip6 saddr 2001:db8::1 tcp dport 80", "accept by input#4"},
		{"iifname eth0 udp dport 53", "drop by policy of input"},
		{"iifname lo udp dport 53", "accept by input#2"},
	} {
		// A fresh engine has seen no connection yet.
		outcome, err := load(t, server).Evaluate(c.packet)
		if err != nil {
			t.Fatal(err)
		}
		if got := outcome.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.packet, got, c.want)
		}
	}
}

// TestDecidingRule reads the rule that decided.
func TestDecidingRule(t *testing.T) {
	outcome, err := load(t, server).Evaluate("tcp dport 443")
	if err != nil {
		t.Fatal(err)
	}
	chain, rule := outcome.Rule()
	if rule == nil || chain.Name != "input" || rule.Comment != "open to everyone" {
		t.Errorf("decided by %s", outcome.By())
	}
}

// TestRateLimit lets time pass: what a packet leaves behind stays for the next
// ones.
func TestRateLimit(t *testing.T) {
	limited := server
	limited.NewPerSecond = 3
	engine := load(t, limited)
	accepted := func() (n int) {
		for _, port := range []string{"1", "2", "3", "4", "5"} {
			outcome, err := engine.Evaluate("ip saddr 192.0.2.1 tcp dport 22 tcp sport " + port)
			if err != nil {
				t.Fatal(err)
			}
			if outcome.Accepted() {
				n++
			}
		}
		return n
	}
	if n := accepted(); n != 3 {
		t.Errorf("%d connections get through at first, want 3", n)
	}
	engine.Advance(time.Second)
	if n := accepted(); n != 3 {
		t.Errorf("%d get through a second later, want 3 again", n)
	}
}

// TestTrace asks why a packet was dropped.
func TestTrace(t *testing.T) {
	engine := load(t, server)
	var why strings.Builder
	engine.Trace(&render.Text{W: &why, Program: engine.Program(), Options: engine.ListOptions()})
	if _, err := engine.Evaluate("iifname eth0 ip saddr 198.51.100.1 tcp dport 22"); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"ip saddr { 192.0.2.0/24, 203.0.113.7 }", "198.51.100.1", "policy"} {
		if !strings.Contains(why.String(), part) {
			t.Errorf("the trace does not say %q:\n%s", part, why.String())
		}
	}
}

// TestMistakesAreNamed shows what a mistake in generated rules looks like.
func TestMistakesAreNamed(t *testing.T) {
	_, err := verdict.Parse(Server{Admins: []string{"192.0.2.0/33"}}.Ruleset())
	if err == nil || !strings.Contains(err.Error(), "ruleset:3:") {
		t.Errorf("got %v, want a mistake in line 3", err)
	}
}
