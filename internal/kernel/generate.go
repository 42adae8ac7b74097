package kernel

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
)

// Generate makes the case of a seed: a ruleset of random tables, chains, sets
// and rules, and packets that carry values on and around those of the rules.
// The same seed always gives the same case.
func Generate(seed uint64, packets int) *Case {
	g := &generator{
		Rand: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), pools: map[string][]uint64{},
	}
	c := &Case{Seed: seed, Ruleset: g.ruleset()}
	for len(c.Packets) < packets {
		c.Packets = append(c.Packets, g.packet())
	}
	return c
}

// generator draws rulesets and packets. What rules compare with is noted in
// pools by field, so that packets meet it.
type generator struct {
	*rand.Rand
	pools     map[string][]uint64
	recipes   []recipe
	recipe    recipe // of the rule at hand
	serial    int
	family    string
	hook      string
	untracked bool // the chain stands ahead of connection tracking
	stored    []*storedSet
	objects   []string
	chains    []string // regular chains that may still be jumped to
	sent      []Injection
	addresses []netip.Addr
}

// recipe is what a packet must be to match a rule: values by field.
type recipe map[string]uint64

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

func (g *generator) name(prefix string) string {
	g.serial++
	return fmt.Sprintf("%s%d", prefix, g.serial)
}

// note puts a value and its neighbours into a field's pool.
func (g *generator) note(f *field, v uint64) {
	top := f.top()
	pool := g.pools[f.pool]
	for _, near := range []uint64{v, v - 1, v + 1} {
		if near <= top && len(pool) < 64 {
			pool = append(pool, near)
		}
	}
	g.pools[f.pool] = pool
}

// want makes packets for the rule at hand carry a value.
func (g *generator) want(pool string, v uint64) {
	if _, ok := g.recipe[pool]; !ok {
		g.recipe[pool] = v
	}
}

// families and their hooks; the second list are priorities.
var hooks = map[string]map[string][]string{
	"ip":     ipHooks,
	"ip6":    ipHooks,
	"inet":   ipHooks,
	"netdev": {"ingress": {"-500", "-10", "0", "1", "200"}, "egress": {"-500", "0", "10"}},
	"arp":    {"input": {"-10", "0", "5"}, "output": {"-10", "0"}},
}

var ipHooks = map[string][]string{
	"prerouting": {"-450", "-300", "-199", "-150", "0", "10"}, "input": {"-150", "-10", "0", "50"},
	"forward": {"-150", "0", "1", "150"}, "postrouting": {"-150", "0", "50", "225"},
	"output": {"-300", "-150", "-10", "0", "50"},
}

var hookOrder = map[string][]string{
	"ip": {"prerouting", "input", "forward", "forward", "output", "postrouting"}, "ip6": {"prerouting", "input", "forward", "forward", "output", "postrouting"},
	"inet": {"prerouting", "input", "forward", "forward", "output", "postrouting"}, "netdev": {"ingress", "egress"}, "arp": {"input", "input", "output"},
}

// ruleset writes one to three tables.
func (g *generator) ruleset() string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		g.table(&b)
	}
	return b.String()
}

func (g *generator) table(b *strings.Builder) {
	g.family = pick(g, "ip", "ip", "ip6", "inet", "inet", "inet", "netdev", "arp")
	g.stored, g.objects, g.chains = nil, nil, nil
	var body strings.Builder
	regular := g.IntN(4)
	for range regular {
		g.chains = append(g.chains, g.name("c"))
	}
	g.makeObjects(&body)
	g.makeSets(&body)
	// A chain may jump only to those written before it, so that no jumps loop.
	all := g.chains
	for i, name := range all {
		g.chains = all[:i]
		g.hook, g.untracked = "", false
		fmt.Fprintf(&body, "\tchain %s {\n", name)
		g.rules(&body, 1+g.IntN(4))
		body.WriteString("\t}\n")
	}
	g.chains = all
	for range 1 + g.IntN(3) {
		g.baseChain(&body)
	}
	if g.tracked() && g.chance(40) {
		for range 1 + g.IntN(3) {
			g.natChain(&body)
		}
	}
	fmt.Fprintf(b, "table %s %s {\n%s}\n", g.family, g.name("t"), body.String())
}

func (g *generator) baseChain(b *strings.Builder) {
	g.hook = pick(g, hookOrder[g.family]...)
	priority := pick(g, hooks[g.family][g.hook]...)
	device := ""
	if g.family == "netdev" {
		device = fmt.Sprintf(" device %q", pick(g, "lan0", "lan0", "wan0"))
	}
	g.untracked = g.hook == "prerouting" && (priority == "-450" || priority == "-300") || g.hook == "output" && priority == "-300"
	fmt.Fprintf(b, "\tchain %s {\n\t\ttype filter hook %s%s priority %s; policy %s;\n", g.name("b"), g.hook, device, priority,
		pick(g, "accept", "accept", "accept", "drop"))
	g.rules(b, 1+g.IntN(7))
	b.WriteString("\t}\n")
}

// rules writes rules and keeps their recipes.
func (g *generator) rules(b *strings.Builder, n int) {
	for range n {
		g.recipe = recipe{}
		text := g.rule()
		fmt.Fprintf(b, "\t\t%s\n", text)
		if len(g.recipe) > 0 {
			g.recipes = append(g.recipes, g.recipe)
		}
	}
}

// rule is zero to four matches, zero to two statements, and perhaps a verdict.
func (g *generator) rule() string {
	var parts []string
	layer := g.layer()
	for range pick(g, 0, 1, 1, 1, 2, 2, 3, 4) {
		parts = append(parts, g.match(&layer))
	}
	for range pick(g, 0, 1, 1, 2) {
		parts = append(parts, g.statement(&layer))
	}
	if g.untracked && g.chance(30) {
		parts = append(parts, g.early())
	}
	answer := ""
	if g.chance(12) {
		answer = g.answer(&layer)
	}
	if answer != "" {
		parts = append(parts, answer)
	}
	if verdict := g.verdict(); verdict != "" && !strings.HasPrefix(answer, "reject") && !strings.HasPrefix(answer, "fwd") {
		parts = append(parts, verdict)
	}
	if len(parts) == 0 {
		return "counter"
	}
	return strings.Join(parts, " ")
}

func (g *generator) verdict() string {
	list := []string{"", "accept", "accept", "drop", "continue", "return"}
	for _, c := range g.chains {
		list = append(list, "jump "+c, "goto "+c)
	}
	return pick(g, list...)
}
