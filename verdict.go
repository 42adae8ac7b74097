// Package verdict runs Linux packet filters outside the kernel: it loads
// nftables rulesets, runs packets through them, gives the kernel's own
// verdict, and says why.
//
// Load reads a ruleset, NewEngine puts it on a simulated host, and Evaluate
// runs packets:
//
//	rules, err := verdict.Load(os.DirFS("/etc"), "nftables.conf")
//	if err != nil {
//		log.Fatal(err)
//	}
//	engine, err := rules.NewEngine(verdict.EngineOptions{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	outcome, err := engine.Evaluate("iifname eth0 ip saddr 192.0.2.1 ip daddr 198.51.100.7 tcp dport 22")
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(outcome) // such as "drop by policy of input"
//
// Nothing here needs root or Linux.
package verdict
