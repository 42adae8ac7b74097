package host

import (
	"slices"
	"strings"
)

// Input is one JSON text printed by a tool, with the name for errors.
type Input struct {
	Name string
	Text []byte
}

// FromIPJSON makes a host from the output of `ip -j`: addr, link, route
// (also -6, and of table all), neigh, rule, and of `bridge -j fdb`, with -d
// or without. Each input is one output as it is, told apart by its members,
// or an object that holds several under the names "addr", "link", "route",
// "route6", "neigh", "fdb", "rule" and "sysctl" (paths below /proc/sys to
// values). The order of inputs does not matter.
//
// Members that say nothing about packets are passed over. What would change
// packets' ways and is not supported is refused: policy routing rules, routes
// by type of service, names of tables and groups that only the machine's own
// files explain (print numbers: ip -N). Errors are of type *Error.
func FromIPJSON(inputs ...Input) (*Host, error) {
	r := ipReader{seen: make(map[string]int), routes: make(map[string]bool)}
	for _, input := range inputs {
		r.d = parseDocument(input.Name, input.Text)
		if r.d.err == nil {
			r.input()
		}
		if r.d.err != nil {
			return nil, r.d.err
		}
	}
	if len(inputs) == 0 {
		return nil, &Error{Reason: "no description given"}
	}
	r.markPrefixRoutes()
	return New(r.config)
}

// ipReader collects what the inputs say.
type ipReader struct {
	d      *document // the input being read
	config Config
	seen   map[string]int  // interfaces by name: place in config.Interfaces
	routes map[string]bool // routes read, since outputs may overlap
	// mainGiven says for IPv4 and for IPv6 whether table main was given.
	mainGiven [2]bool
}

// parts are the members of an input that holds several outputs.
var parts = []string{"addr", "link", "route", "route6", "neigh", "fdb", "rule", "sysctl", "topology"}

func (r *ipReader) input() {
	root := r.d.root
	switch root.kind {
	case arrayNode:
		r.output(outputKind(root), root)
	case objectNode:
		for i := range root.members {
			m := &root.members[i]
			r.output(m.name, m.value)
			if r.d.err != nil {
				return
			}
		}
	default:
		r.d.failAt(root, "neither a list nor an object of lists, as ip -j prints them")
	}
}

// outputKind tells what printed a list by the members of its first item.
func outputKind(list *node) string {
	for _, item := range list.items {
		has := func(name string) bool { return item.get(name) != nil }
		switch {
		case has("addr_info"):
			return "addr"
		case has("link_type"):
			return "link"
		case has("mac") && has("ifname"):
			return "fdb"
		case has("priority") && has("src"):
			return "rule"
		case has("dst") && has("state"):
			return "neigh"
		case has("dst"):
			return "route"
		case len(item.members) > 0:
			return ""
		}
	}
	return "link" // an empty list says nothing of any kind
}

// output reads one tool's output.
func (r *ipReader) output(kind string, list *node) {
	switch kind {
	case "addr", "link":
		r.list(list, kind, r.link)
	case "route":
		r.list(list, kind, func(n *node) { r.route(n, false) })
	case "route6":
		r.list(list, kind, func(n *node) { r.route(n, true) })
	case "neigh":
		r.list(list, kind, r.neighbour)
	case "fdb":
		r.list(list, kind, r.forwarding)
	case "rule":
		r.list(list, kind, r.rule)
	case "sysctl":
		r.config.Sysctl = r.d.settings(list)
	case "topology": // a remark
	case "":
		r.d.failAt(list, "not an output of ip -j addr, link, route, neigh, rule or bridge -j fdb")
	default:
		r.d.failAt(list, "unknown part %q", kind).Suggestion = nearest(kind, parts)
	}
}

// list reads the items of an output; old versions print empty ones between.
func (r *ipReader) list(n *node, what string, read func(*node)) {
	r.d.list(n, what, func(n *node) {
		if r.d.want(n, objectNode, "an item of "+what) && len(n.members) > 0 {
			read(n)
		}
	})
}

// The following return zero values for members that are missing.

func (r *ipReader) text(n *node, name string) string {
	if m := n.get(name); m != nil && m.text != "null" {
		return r.d.string(m, name)
	}
	return ""
}

func (r *ipReader) number(n *node, name string, limit uint64) uint64 {
	if m := n.get(name); m != nil {
		return r.d.number(m, name, limit)
	}
	return 0
}

func (r *ipReader) flag(n *node, name string) bool {
	m := n.get(name)
	return m != nil && m.kind == literalNode && m.text == "true"
}

// flagListed says whether the list in a member holds a word.
func flagListed(n *node, name, word string) bool {
	if m := n.get(name); m != nil {
		for _, item := range m.items {
			if strings.EqualFold(item.text, word) {
				return true
			}
		}
	}
	return false
}

// standardRules are the rules that every host has: the table by priority, by
// its name and by its number (ip -N).
var standardRules = map[string][2]string{
	"0":     {"local", "255"},
	"32766": {"main", "254"},
	"32767": {"default", "253"},
}

// rule accepts the three rules that every host has.
func (r *ipReader) rule(n *node) {
	priority := n.get("priority")
	if priority == nil || !slices.Contains(tables(priority.text), r.text(n, "table")) ||
		r.text(n, "src") != "all" || len(n.members) > 3 {
		r.d.failAt(n, "policy routing rules are not supported, apart from the three standard ones")
	}
}

func (r *ipReader) forwarding(n *node) {
	entry := ForwardingEntry{
		Dev:    r.text(n, "ifname"),
		Bridge: r.text(n, "master"),
		VLAN:   uint16(r.number(n, "vlan", 4095)),
		State:  r.text(n, "state"),
	}
	if mac := n.get("mac"); mac != nil {
		entry.MAC = r.d.mac(mac, "mac")
	}
	r.config.FDB = append(r.config.FDB, entry)
}

func (r *ipReader) neighbour(n *node) {
	entry := Neighbour{Dev: r.text(n, "dev")}
	if dst := n.get("dst"); dst != nil {
		entry.Address = r.d.address(dst, "dst")
	}
	if mac := n.get("lladdr"); mac != nil {
		if parsed, err := ParseMAC(mac.text); err == nil { // other hardware has longer addresses
			entry.MAC, entry.HasMAC = parsed, true
		}
	}
	if state := n.get("state"); state != nil && len(state.items) > 0 {
		entry.State = strings.ToLower(state.items[0].text)
	}
	r.config.Neighbours = append(r.config.Neighbours, entry)
}

// tables names the table of a standard rule, nil for other priorities.
func tables(priority string) []string {
	if names, ok := standardRules[priority]; ok {
		return names[:]
	}
	return nil
}
