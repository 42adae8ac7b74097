package kernel

import (
	"fmt"
	"strings"
)

// storedSet is a named set, map or verdict map of the table at hand.
type storedSet struct {
	name     string
	selector string // what is looked up
	version  int    // 4 or 6 for sets of addresses
	port     string // the transport that the selector needs, or empty
	kind     string // set, vmap, map, dynamic
	small    bool   // packets may fill it
	recipes  []recipe
}

// recall makes packets for the rule carry one of the set's elements.
func (g *generator) recall(s *storedSet) {
	if len(s.recipes) == 0 {
		return
	}
	for pool, v := range pick(g, s.recipes...) {
		g.want(pool, v)
	}
}

// namedSet finds a set that the rule's headers allow.
func (g *generator) namedSet(l *layer, kinds ...string) *storedSet {
	if len(kinds) == 0 {
		kinds = []string{"set", "dynamic"}
	}
	var fit []*storedSet
	for _, s := range g.stored {
		for _, k := range kinds {
			versionFits := s.version == 0 || l.version == 0 || l.version == s.version
			portFits := s.port == "" || l.transport == "" || l.transport == s.port
			if s.kind == k && versionFits && portFits {
				fit = append(fit, s)
			}
		}
	}
	if len(fit) == 0 {
		return nil
	}
	s := pick(g, fit...)
	if s.version != 0 {
		l.version = s.version
		g.want("family", uint64(s.version))
	}
	if s.port != "" {
		l.transport = s.port
		g.wantTransport(s.port)
	}
	return s
}

func (g *generator) version() int {
	switch g.family {
	case "ip", "arp":
		return 4
	case "ip6":
		return 6
	}
	return pick(g, 4, 4, 6)
}

var words = map[int]string{4: "ip", 6: "ip6"}

// key is one element's key: its text and what packets need to meet it.
type key struct {
	text  string
	wants recipe
}

// makeSets declares named sets of several shapes.
func (g *generator) makeSets(b *strings.Builder) {
	if g.family == "arp" {
		return
	}
	for range g.IntN(4) {
		g.makeSet(b)
	}
}

func (g *generator) makeSet(b *strings.Builder) {
	v := g.version()
	s := &storedSet{name: g.name("s"), kind: pick(g, "set", "set", "vmap", "map", "dynamic")}
	address := fmt.Sprintf("ipv%d_addr", v)
	shape := pick(g, "address", "ranges", "port", "ports", "pair", "boxes", "mark")
	if s.kind == "dynamic" {
		shape = pick(g, "address", "pair")
	}
	side := pick(g, "saddr", "daddr")
	pool := fmt.Sprintf("%s%d", side, v)
	var typ, flags string
	switch shape {
	case "address", "ranges":
		typ, s.selector, s.version = address, words[v]+" "+side, v
	case "port", "ports":
		s.port = pick(g, "tcp", "udp")
		typ, s.selector = "inet_service", s.port+" dport"
	case "mark":
		typ, s.selector = "mark", "meta mark"
	default:
		s.port = pick(g, "tcp", "udp")
		typ, s.selector, s.version = address+" . inet_service", words[v]+" "+side+" . "+s.port+" dport", v
	}
	if shape == "ranges" || shape == "ports" || shape == "boxes" {
		flags = "\t\tflags interval\n"
	}
	data := map[string]string{"vmap": " : verdict", "map": " : mark"}[s.kind]
	word := "set"
	if data != "" {
		word = "map"
	}
	var items []string
	if s.kind != "dynamic" {
		items = g.elements(s, shape, pool, v)
	} else {
		s.small = g.chance(50)
		flags = "\t\tflags dynamic\n\t\tsize " + map[bool]string{true: "4", false: "128"}[s.small] + "\n"
		if g.chance(30) {
			flags = "\t\tflags dynamic,timeout\n\t\ttimeout 1h\n"
		}
	}
	fmt.Fprintf(b, "\t%s %s {\n\t\ttype %s%s\n%s", word, s.name, typ, data, flags)
	if s.kind == "set" && g.chance(25) {
		b.WriteString("\t\tcounter\n")
	}
	if len(items) > 0 {
		fmt.Fprintf(b, "\t\telements = { %s }\n", strings.Join(items, ", "))
	}
	b.WriteString("\t}\n")
	g.stored = append(g.stored, s)
}

// elements draws the elements of a set: keys, and what they map to.
func (g *generator) elements(s *storedSet, shape, pool string, v int) (items []string) {
	seen := map[string]bool{}
	base := uint64(g.IntN(200))
	for i := range uint64(1 + g.IntN(12)) {
		k := g.key(shape, pool, v, base+i*300)
		if seen[k.text] {
			continue
		}
		seen[k.text] = true
		s.recipes = append(s.recipes, k.wants)
		items = append(items, k.text+g.target(s))
	}
	if g.chance(15) && s.kind != "set" {
		items = append(items, "*"+g.target(s))
	}
	return items
}

// target is what an element of a map maps to.
func (g *generator) target(s *storedSet) string {
	switch s.kind {
	case "vmap":
		list := []string{"accept", "drop", "continue", "return"}
		for _, c := range g.chains {
			list = append(list, "jump "+c, "goto "+c)
		}
		return " : " + pick(g, list...)
	case "map":
		return fmt.Sprintf(" : %d", pick(g, 1, 7, 255, 256))
	}
	return ""
}

// key draws a key; at spreads ranges so that they do not overlap.
func (g *generator) key(shape, pool string, v int, at uint64) key {
	k := key{wants: recipe{}}
	port := min(at, 65000)
	switch shape {
	case "address":
		a := g.address(v)
		k.wants[pool] = g.keep(pool, a)
		k.text = a.String()
	case "ranges":
		n := networks[v][int(at/300)%len(networks[v])]
		low := n.Addr().Next().Next()
		high := low
		for range g.IntN(6) {
			high = high.Next()
		}
		k.wants[pool] = g.keep(pool, high)
		g.keep(pool, high.Next())
		if k.text = low.String(); low != high {
			k.text += "-" + high.String()
		}
	case "port", "mark":
		p := pick(g, ports...)
		k.text = fmt.Sprint(p)
		if shape == "port" {
			k.wants["dport"] = p
			g.pools["dport"] = append(g.pools["dport"], p, p+1)
		}
	case "ports":
		high := port + g.Uint64N(200)
		k.wants["dport"] = high
		g.pools["dport"] = append(g.pools["dport"], port, high, high+1)
		if k.text = fmt.Sprint(port); high != port {
			k.text = fmt.Sprintf("%d-%d", port, high)
		}
	case "pair":
		a, p := g.address(v), pick(g, ports...)
		k.wants[pool], k.wants["dport"] = g.keep(pool, a), p
		k.text = fmt.Sprintf("%s . %d", a, p)
	case "boxes":
		a := g.address(v)
		p, _ := a.Prefix(a.BitLen() - g.IntN(5))
		high := port + g.Uint64N(200)
		k.wants[pool], k.wants["dport"] = g.keep(pool, a), high
		g.pools["dport"] = append(g.pools["dport"], port, high+1)
		k.text = fmt.Sprintf("%s . %d-%d", p, port, high+1)
	}
	return k
}

// concatMatch looks several fields up at once.
func (g *generator) concatMatch(l *layer) string {
	v := g.settle(l)
	if l.transport != "" && l.transport != "tcp" && l.transport != "udp" {
		return g.addressMatch(v)
	}
	if l.transport == "" {
		l.transport = pick(g, "tcp", "udp")
	}
	g.wantTransport(l.transport)
	side := pick(g, "saddr", "daddr")
	pool := fmt.Sprintf("%s%d", side, v)
	shape := pick(g, "pair", "boxes")
	s := &storedSet{kind: "set"}
	items := g.elements(s, shape, pool, v)
	g.recall(s)
	return fmt.Sprintf("%s %s . %s dport %s{ %s }", words[v], side, l.transport, pick(g, "", "", "!= "), strings.Join(items, ", "))
}
