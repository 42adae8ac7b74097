package nftjson

import (
	"verdict/nft/syntax"
)

// acting reads the statements that change packets, send them elsewhere, or
// change sets.
func (d *decoder) acting(at syntax.At, name string, body *node) syntax.Statement {
	switch name {
	case "mangle":
		return d.mangle(at, body)
	case "snat", "dnat", "masquerade", "redirect":
		return d.nat(at, name, body)
	case "tproxy":
		if d.object(body, "family", "addr", "port") {
			return &syntax.TProxy{
				At: at, Family: d.oneOf(body.get("family"), "family", "ip", "ip6"),
				Addr: d.optional(body, "addr"), Port: d.optional(body, "port"),
			}
		}
	case "queue":
		return d.queue(at, body)
	case "dup":
		if d.object(body, "addr", "dev") && d.need(body, "addr") != nil {
			return &syntax.Dup{At: at, Addr: d.optional(body, "addr"), Device: d.optional(body, "dev")}
		}
	case "fwd":
		if d.object(body, "dev", "addr", "family") && d.need(body, "dev") != nil {
			return &syntax.Fwd{
				At: at, Family: d.oneOf(body.get("family"), "family", "ip", "ip6"),
				Addr: d.optional(body, "addr"), Device: d.optional(body, "dev"),
			}
		}
	case "notrack":
		return &syntax.Notrack{At: at}
	case "flow":
		if d.object(body, "op", "flowtable") {
			d.oneOf(d.need(body, "op"), "operation on a flowtable", "add")
			if t := d.need(body, "flowtable"); t != nil {
				return &syntax.FlowAdd{At: at, Table: d.setRef(t)}
			}
		}
	case "set", "map":
		return d.setUpdate(at, name, body)
	case "meter":
		return d.meter(at, body)
	case "reset":
		return d.resetOption(at, body)
	case "xt":
		if body.kind == kindNull || d.object(body, "type", "name") {
			return &syntax.XT{At: at, Target: body.get("type") != nil && d.textOf(body.get("type")) == "target", Name: d.word(body.get("name"))}
		}
	}
	return nil
}

// optional reads a member that is an expression, nil if it is missing.
func (d *decoder) optional(body *node, name string) syntax.Expr {
	n := body.get(name)
	if n == nil {
		return nil
	}
	return d.expr(n)
}

func (d *decoder) mangle(at syntax.At, body *node) syntax.Statement {
	if !d.object(body, "key", "value") {
		return nil
	}
	key, value := d.need(body, "key"), d.need(body, "value")
	if key == nil || value == nil {
		return nil
	}
	a := &syntax.Assign{At: at, Left: d.expr(key), Right: d.expr(value)}
	if a.Left == nil || a.Right == nil {
		return nil
	}
	return a
}

// natKinds are the NAT statements by name.
var natKinds = map[string]syntax.NATKind{
	"snat": syntax.NATSource, "dnat": syntax.NATDestination,
	"masquerade": syntax.NATMasquerade, "redirect": syntax.NATRedirect,
}

func (d *decoder) nat(at syntax.At, name string, body *node) syntax.Statement {
	s := &syntax.NAT{At: at, Kind: natKinds[name]}
	if body.kind == kindNull && s.Kind >= syntax.NATMasquerade {
		return s
	}
	if s.Kind >= syntax.NATMasquerade {
		if !d.object(body, "port", "flags") {
			return nil
		}
	} else if !d.object(body, "family", "addr", "port", "flags", "type_flags") {
		return nil
	}
	s.Family = d.oneOf(body.get("family"), "family", "ip", "ip6")
	s.Addr, s.Port = d.optional(body, "addr"), d.optional(body, "port")
	flags := d.words(body.get("flags"), "flag of "+name, "random", "fully-random", "persistent", "netmap")
	for _, w := range flags {
		if w.Text == "netmap" { // the mode says so
			s.Mode = syntax.NATPrefix
			continue
		}
		s.Flags = append(s.Flags, w)
	}
	for _, w := range d.words(body.get("type_flags"), "type flag", "interval", "prefix", "concat") {
		switch {
		case w.Text == "prefix":
			s.Mode = syntax.NATPrefix
		case w.Text == "interval" && s.Mode == syntax.NATPlain:
			s.Mode = syntax.NATInterval
		case w.Text == "concat" && s.Mode == syntax.NATPlain:
			s.Mode = syntax.NATAddrPort
		}
	}
	return s
}

func (d *decoder) queue(at syntax.At, body *node) syntax.Statement {
	s := &syntax.Queue{At: at}
	if body.kind == kindNull {
		return s
	}
	if !d.object(body, "num", "flags") {
		return nil
	}
	s.Number = d.optional(body, "num")
	for _, w := range d.words(body.get("flags"), "flag of queue", "bypass", "fanout") {
		s.Bypass = s.Bypass || w.Text == "bypass"
		s.Fanout = s.Fanout || w.Text == "fanout"
	}
	return s
}

// setOps are the operations on sets by name.
var setOps = map[string]syntax.SetOp{"add": syntax.SetAdd, "update": syntax.SetRefresh, "delete": syntax.SetDelete}

func (d *decoder) setUpdate(at syntax.At, name string, body *node) syntax.Statement {
	known := []string{"op", "elem", "stmt", "set"}
	if name == "map" {
		known = []string{"op", "elem", "stmt", "data", "map"}
	}
	if !d.object(body, known...) {
		return nil
	}
	s := &syntax.SetUpdate{At: at, Op: setOps[d.oneOf(d.need(body, "op"), "operation on a set", "add", "update", "delete").Text]}
	elem, set := d.need(body, "elem"), d.need(body, name)
	if elem == nil || set == nil {
		return nil
	}
	s.Set, s.Element = d.setRef(set), d.elementKey(elem)
	if s.Set == nil || s.Element == nil {
		return nil
	}
	if name == "map" {
		data := d.need(body, "data")
		if data == nil {
			return nil
		}
		s.Element.Data = d.expr(data)
	}
	if st := body.get("stmt"); st != nil {
		for _, x := range st.each() {
			s.Element.Statements = append(s.Element.Statements, d.stateful(x)...)
		}
	}
	return s
}

// meter reads the old form of a set that a rule updates.
func (d *decoder) meter(at syntax.At, body *node) syntax.Statement {
	if !d.object(body, "name", "key", "stmt", "size") {
		return nil
	}
	m := &syntax.Meter{At: at, Name: d.name(body, "name"), Size: d.number(body.get("size"), maxUint32)}
	key, stmt := d.need(body, "key"), d.need(body, "stmt")
	if key == nil || stmt == nil {
		return nil
	}
	if m.Element = d.elementKey(key); m.Element == nil {
		return nil
	}
	for _, x := range stmt.each() {
		m.Element.Statements = append(m.Element.Statements, d.stateful(x)...)
	}
	return m
}

func (d *decoder) resetOption(at syntax.At, body *node) syntax.Statement {
	k, inner := d.only(body)
	if k == nil {
		return nil
	}
	if k.name != "tcp option" {
		d.unknownKey(k, inner, "thing to reset", []string{"tcp option"})
		return nil
	}
	o, ok := d.tcpOption(d.at(inner), inner).(*syntax.TCPOption)
	if !ok {
		return nil
	}
	return &syntax.ResetTCPOption{At: at, Option: o}
}
