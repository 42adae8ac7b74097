package nftjson

import (
	"slices"

	"verdict/nft/syntax"
)

// objectMembers are the members that make up each kind of object, besides
// those that all have.
var objectMembers = map[syntax.Object][]string{
	syntax.ObjCounter:       {"packets", "bytes"},
	syntax.ObjQuota:         {"bytes", "used", "inv"},
	syntax.ObjLimit:         {"rate", "rate_unit", "per", "burst", "burst_unit", "inv", "unit"},
	syntax.ObjCTHelper:      {"type", "protocol", "l3proto"},
	syntax.ObjCTTimeout:     {"protocol", "l3proto", "policy", "state", "value"},
	syntax.ObjCTExpectation: {"l3proto", "protocol", "dport", "timeout", "size"},
	syntax.ObjSynproxy:      {"mss", "wscale", "flags"},
	syntax.ObjSecmark:       {"context"},
	syntax.ObjTunnel: {
		"id", "src-ipv4", "src-ipv6", "dst-ipv4", "dst-ipv6", "sport", "dport", "tos", "ttl", "type", "tunnel",
	},
}

// addObject reads a stateful object.
func (d *decoder) addObject(c *syntax.Command, n *node) {
	known := slices.Concat([]string{"family", "table", "name", "handle", "comment"}, objectMembers[c.Object])
	if !d.object(n, known...) {
		return
	}
	d.target(c, n, true)
	at := d.at(n)
	o := &syntax.StatefulObj{
		At: at, Kind: c.Object, Name: c.Target.Name, HasBlock: true, Comment: d.word(n.get("comment")),
	}
	c.Stateful = o
	switch o.Kind {
	case syntax.ObjCounter:
		o.Counter = &syntax.Counter{At: at}
		if n.get("packets") != nil || n.get("bytes") != nil {
			o.Counter = &syntax.Counter{At: at, Given: true, Packets: d.count(n, "packets"), Bytes: d.count(n, "bytes")}
		}
	case syntax.ObjQuota:
		o.Quota = &syntax.Quota{At: at, Bytes: d.count(n, "bytes"), Used: d.count(n, "used"), Over: d.flag(n.get("inv"))}
	case syntax.ObjLimit:
		o.Limit = d.limitOf(at, n)
	case syntax.ObjSynproxy:
		if o.Synproxy = d.synproxy(at, n, known...); o.Synproxy != nil {
			// Listings have a 0 where a number was not given.
			o.Synproxy.MSS, o.Synproxy.WScale = given(o.Synproxy.MSS), given(o.Synproxy.WScale)
		}
	case syntax.ObjSecmark:
		o.Secmark = d.name(n, "context")
	case syntax.ObjCTHelper:
		o.Helper = &syntax.HelperSpec{At: at, Type: d.name(n, "type"), Protocol: d.name(n, "protocol"), L3Proto: d.l3proto(n)}
	case syntax.ObjCTTimeout:
		o.TimeoutSpec = d.timeoutPolicy(n)
	case syntax.ObjCTExpectation:
		o.Expectation = d.expectation(n)
	case syntax.ObjTunnel:
		o.Tunnel = d.tunnel(n)
	}
}

// given is a number unless it is 0.
func given(n *syntax.Number) *syntax.Number {
	if valueOf(n) == 0 {
		return nil
	}
	return n
}

// count reads a number; a missing one is 0.
func (d *decoder) count(n *node, name string) uint64 {
	m := n.get(name)
	if m == nil {
		return 0
	}
	v, _ := d.uint(m, maxUint64)
	return v
}

func (d *decoder) l3proto(n *node) syntax.Word {
	return d.oneOf(n.get("l3proto"), "family", families...)
}

// timeoutPolicy reads times in seconds by state.
func (d *decoder) timeoutPolicy(n *node) *syntax.TimeoutSpec {
	t := &syntax.TimeoutSpec{At: d.at(n), Protocol: d.name(n, "protocol"), L3Proto: d.l3proto(n)}
	p := n.get("policy")
	if p == nil || p.kind == kindNull || !d.want(p, kindObject) {
		return t
	}
	for i, k := range p.keys() {
		item := &p.items()[i]
		at := *item
		at.start, at.end = k.start, k.end
		if v := d.seconds(item); v != nil {
			t.Policy = append(t.Policy, syntax.TimeoutState{State: syntax.Word{At: d.at(&at), Text: k.name}, Value: v})
		}
	}
	return t
}

// expectation reads a ct expectation; its timeout counts in milliseconds.
func (d *decoder) expectation(n *node) *syntax.ExpectationSpec {
	return &syntax.ExpectationSpec{
		At: d.at(n), Protocol: d.name(n, "protocol"), L3Proto: d.l3proto(n), Dport: d.optional(n, "dport"),
		Timeout: d.duration(n.get("timeout"), 1), Size: d.number(n.get("size"), maxUint8),
	}
}

func (d *decoder) tunnel(n *node) *syntax.TunnelSpec {
	t := &syntax.TunnelSpec{
		At: d.at(n), ID: d.optional(n, "id"), Sport: d.optional(n, "sport"), Dport: d.optional(n, "dport"),
		TTL: d.optional(n, "ttl"), TOS: d.optional(n, "tos"),
		IPv6: n.get("src-ipv6") != nil || n.get("dst-ipv6") != nil,
	}
	family := "-ipv4"
	if t.IPv6 {
		family = "-ipv6"
	}
	t.SrcIP, t.DstIP = d.optional(n, "src"+family), d.optional(n, "dst"+family)
	t.Kind = d.oneOf(n.get("type"), "kind of tunnel", "vxlan", "erspan", "geneve")
	body := n.get("tunnel")
	if body == nil {
		return t
	}
	switch t.Kind.Text {
	case "vxlan":
		if d.object(body, "gbp") {
			t.VXLANGBP = d.optional(body, "gbp")
		}
	case "erspan":
		if d.object(body, "version", "index", "dir", "hwid") {
			t.ERSPANVersion, t.ERSPANIndex = d.optional(body, "version"), d.optional(body, "index")
			t.ERSPANDirection = d.oneOf(body.get("dir"), "direction", "ingress", "egress")
			t.ERSPANHardwareID = d.optional(body, "hwid")
		}
	case "geneve":
		if !d.want(body, kindArray) {
			break
		}
		for i := range body.items() {
			o := &body.items()[i]
			if d.object(o, "class", "opt-type", "data") {
				t.Geneve = append(t.Geneve, syntax.GeneveOption{
					At: d.at(o), Class: d.optional(o, "class"), Type: d.optional(o, "opt-type"), Data: d.optional(o, "data"),
				})
			}
		}
	}
	return t
}
