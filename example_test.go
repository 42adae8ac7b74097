package verdict_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"verdict"
	"verdict/trace/render"
)

const server = `
table inet filter {
	set blocked { type ipv4_addr; flags interval; elements = { 203.0.113.0/24 }; }
	chain input {
		type filter hook input priority filter; policy drop;
		ip saddr @blocked counter drop
		tcp dport { 80, 443 } accept
		icmp type echo-request limit rate 1/second burst 2 packets accept
	}
}`

func Example() {
	rules, err := verdict.Parse(server)
	if err != nil {
		log.Fatal(err)
	}
	engine, err := rules.NewEngine(verdict.EngineOptions{Hook: "input"})
	if err != nil {
		log.Fatal(err)
	}
	for _, packet := range []string{
		"ip saddr 192.0.2.1 tcp dport 443",
		"ip saddr 203.0.113.9 tcp dport 443",
		"ip6 saddr 2001:db8::1 udp dport 53",
	} {
		outcome, err := engine.Evaluate(packet)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(outcome)
	}
	// Output:
	// accept by input#2
	// drop by input#1
	// drop by policy of input
}

// Limits refill as time goes by.
func ExampleEngine_Advance() {
	rules, _ := verdict.Parse(server)
	engine, _ := rules.NewEngine(verdict.EngineOptions{Hook: "input"})
	ping := func() {
		outcome, _ := engine.Evaluate("icmp type echo-request")
		fmt.Println(outcome)
	}
	ping()
	ping()
	ping()
	engine.Advance(time.Second)
	ping()
	// Output:
	// accept by input#3
	// accept by input#3
	// drop by policy of input
	// accept by input#3
}

// A listing of an engine shows what packets counted.
func ExampleEngine_List() {
	rules, _ := verdict.Parse("table ip t {\n\tchain input {\n\t\ttype filter hook input priority 0\n\t\ttcp dport 22 counter\n\t}\n}")
	engine, _ := rules.NewEngine(verdict.EngineOptions{Hook: "input"})
	_, _ = engine.Evaluate("tcp dport 22")
	_ = engine.List(os.Stdout)
	// Output:
	// table ip t {
	// 	chain input {
	// 		type filter hook input priority filter; policy accept;
	// 		tcp dport 22 counter packets 1 bytes 40
	// 	}
	// }
}

// A trace shows each rule and why it did not match.
func ExampleEngine_Trace() {
	rules, _ := verdict.Parse(server)
	engine, _ := rules.NewEngine(verdict.EngineOptions{Hook: "input"})
	engine.Trace(&render.Text{W: os.Stdout, Program: engine.Program(), Options: engine.ListOptions()})
	_, _ = engine.Evaluate("ip saddr 192.0.2.1 tcp dport 22")
	// Output:
	// ip input
	//   table inet filter, chain input (priority 0, policy drop)
	//     ruleset:6  ip saddr @blocked counter packets 0 bytes 0 drop
	//                  no match: ip saddr @blocked, the packet has ip saddr 192.0.2.1
	//     ruleset:7  tcp dport { 80, 443 } accept
	//                  no match: tcp dport { 80, 443 }, the packet has tcp dport 22
	//     ruleset:8  icmp type echo-request limit rate 1/second burst 2 packets accept
	//                  no match: meta l4proto icmp (implied), the packet has meta l4proto tcp
	//     end of chain: policy drop
	//   drop at input
}
