package compile

import (
	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

var natFlagBits = map[string]uint32{
	"random": expr.NATFlagRandom, "fully-random": expr.NATFlagFully, "persistent": expr.NATFlagPersistent,
}

// nat evaluates snat, dnat, masquerade and redirect.
func (r *rule) nat(s *syntax.NAT) {
	var flags uint32
	for _, w := range s.Flags {
		bit, ok := natFlagBits[w.Text]
		if !ok {
			r.errorf(w.Span, "compile/nat", "unknown nat flag '%s'", w.Text)
			return
		}
		flags |= bit
	}
	switch r.family {
	case catalog.FamilyIP, catalog.FamilyIP6, catalog.FamilyInet:
	default:
		r.errorf(s.Span, "compile/family", "NAT is only supported for IPv4/IPv6")
		return
	}
	if s.Port != nil {
		flags |= expr.NATFlagProto
	}
	if s.Kind == syntax.NATMasquerade || s.Kind == syntax.NATRedirect {
		r.localNAT(s, flags)
		return
	}
	if s.Addr == nil && s.Port == nil {
		r.errorf(s.Span, "compile/nat", "an address or port is needed")
		return
	}
	what := "snat"
	if s.Kind == syntax.NATDestination {
		what = "dnat"
	}
	family, ok := r.natFamily(s.Family, s.Addr, what, s.Span)
	if !ok {
		return
	}
	out := expr.NAT{Destination: s.Kind == syntax.NATDestination, Family: uint8(family), Flags: flags}
	var addr operand
	if s.Addr != nil {
		if addr = r.natAddress(s, family, &out); addr == nil {
			return
		}
	}
	var port operand
	if s.Port != nil {
		if l, ok := addr.(*lookup); ok && l.set.data.isConcat() {
			d := r.errorf(firstWord(s.Span), "compile/nat", "nat map and protocol are mutually exclusive")
			d.Related = append(d.Related, s.Port.Place())
			return
		}
		if port = r.evaluatePort(s.Port); port == nil {
			return
		}
	}
	r.ended = r.ended || s.Addr != nil || s.Port != nil
	r.insert(emitFunc(func(g *generator) {
		e := out
		g.natAddress(addr, &e, family)
		g.ports(port, &e.ProtoMin, &e.ProtoMax, &e.HasProto, &e.HasProtoMax)
		g.emit(&e)
	}))
}

// needPorts makes sure that the rule is about a protocol with ports.
func (r *rule) needPorts(at diag.Span) bool {
	if r.ctx.layers[catalog.BaseTransport].proto == nil {
		r.errorf(at, "compile/no-transport", "transport protocol mapping is only valid after transport protocol match").
			Hint = "test the protocol first, as in meta l4proto tcp"
		return false
	}
	return true
}

// natFamily settles whether addresses are IPv4 or IPv6.
func (r *rule) natFamily(w syntax.Word, addr syntax.Expr, what string, at diag.Span) (catalog.Family, bool) {
	family := r.family
	if w.Given() {
		f, _ := catalog.FamilyByName(w.Text)
		if family != catalog.FamilyInet && f != family {
			r.errorf(w.Span, "compile/family", "conflicting families: %s in a table of family %s", f, family)
			return 0, false
		}
		if known := r.networkFamily(); known != catalog.FamilyUnspec && known != f {
			r.errorf(at, "compile/conflicting-protocols",
				"conflicting protocols specified: %s vs. %s. You must specify ip or ip6 family in %s statement", known, f, what)
			return 0, false
		}
		return f, true
	}
	if family != catalog.FamilyInet || addr == nil {
		return family, true
	}
	if m, ok := r.peek(addr).(*syntax.MapExpr); ok && r.networkFamily() == catalog.FamilyUnspec && !r.constantSyntax(m.Key) {
		// The key may say which family the packets are of.
		if r.evaluate(m.Key, r.keyOf(m.Key, m.Map)) == nil {
			return 0, false
		}
	}
	if known := r.networkFamily(); known != catalog.FamilyUnspec {
		return known, true
	}
	if what != "tproxy" {
		at = firstWord(at)
	}
	r.errorf(at, "compile/family", "specify `%s ip' or '%[1]s ip6' in inet table to disambiguate", what)
	return 0, false
}

// natAddress evaluates the address of snat and dnat: a value, range, prefix or
// map, whose data may hold ports too.
func (r *rule) natAddress(s *syntax.NAT, family catalog.Family, out *expr.NAT) operand {
	want := typeOf(addressType(family))
	if m, ok := r.peek(s.Addr).(*syntax.MapExpr); ok && r.mapsToPorts(m, s.Mode) {
		want = concatType([]vtype{want, typeOf(catalog.InetService)})
	}
	r.assigning = 0
	o := r.evaluate(s.Addr, &want)
	if o == nil {
		return nil
	}
	switch x := o.(type) {
	case *lookup:
		if !r.fitsNAT(x, want, s) {
			return nil
		}
		if x.set.data.isConcat() && !r.needPorts(s.Addr.Place()) {
			return nil
		}
		if s.Mode == syntax.NATPrefix {
			out.Flags |= expr.NATFlagNetmap
		}
	case *prefix:
		if s.Mode == syntax.NATPrefix {
			out.Flags |= expr.NATFlagNetmap
		}
		return &span{info: x.info, from: x.n, to: x.n.or(ones(x.bits - x.length))}
	case *constant, *span:
	case *concat:
		r.errorf(s.Addr.Place(), "compile/nat", "a concatenation can only be the data of a map here")
		return nil
	default:
		if !sameType(o.head().vtype, want) {
			r.errorf(s.Addr.Place(), "compile/type", "datatype mismatch: expected %s, expression has type %s", want.describe(), o.head().describe())
			return nil
		}
	}
	return o
}

func (r *rule) fitsNAT(x *lookup, want vtype, s *syntax.NAT) bool {
	if sameType(x.set.data, want) {
		return true
	}
	r.errorf(s.Addr.Place(), "compile/type", "datatype mismatch: expected %s, expression has type %s", want.describe(), x.set.data.describe())
	return false
}

// mapsToPorts reports whether a map's data are addresses with ports.
func (r *rule) mapsToPorts(m *syntax.MapExpr, mode syntax.NATMode) bool {
	if mode == syntax.NATAddrPort {
		return true
	}
	switch x := r.peek(m.Map).(type) {
	case *syntax.SetRef:
		s := r.setFor(r.table, x.Name)
		return s != nil && s.data.isConcat()
	case *syntax.SetLiteral:
		for e := range x.All() {
			if el, ok := e.(*syntax.Element); ok && el.Data != nil {
				_, isConcat := r.peek(el.Data).(*syntax.Concat)
				return isConcat
			}
		}
	}
	return false
}

// evaluatePort evaluates a port, a range of ports or a map to ports.
func (r *rule) evaluatePort(e syntax.Expr) operand {
	want := typeOf(catalog.InetService)
	o := r.evaluate(e, &want)
	if o == nil || !r.needPorts(e.Place()) {
		return nil
	}
	if c, ok := o.(*constant); ok && c.list {
		r.errorf(e.Place(), "compile/nat", "a list is not valid here")
		return nil
	}
	switch o.(type) {
	case *constant, *span:
		return o
	}
	t := o.head().vtype
	if l, ok := o.(*lookup); ok {
		t = l.set.data
	}
	if isConstant(o) || t.bits != 16 && t.typ != catalog.Integer {
		r.errorf(e.Place(), "compile/type", "datatype mismatch: expected %s, expression has type %s", want.describe(), t.describe())
		return nil
	}
	return toOrder(valueOf(o), catalog.OrderNetwork)
}

// localNAT completes masquerade and redirect.
func (r *rule) localNAT(s *syntax.NAT, flags uint32) {
	var port operand
	if s.Port != nil {
		if port = r.evaluatePort(s.Port); port == nil {
			return
		}
	}
	masquerade := s.Kind == syntax.NATMasquerade
	r.ended = true
	r.insert(emitFunc(func(g *generator) {
		e := expr.Masq{Flags: flags}
		g.ports(port, &e.ProtoMin, &e.ProtoMax, &e.HasProto, &e.HasProtoMax)
		if masquerade {
			g.emit(&e)
			return
		}
		redir := expr.Redir(e)
		g.emit(&redir)
	}))
}

// natAddress loads the address, and names the registers that hold it.
func (g *generator) natAddress(o operand, e *expr.NAT, family catalog.Family) {
	if o == nil {
		return
	}
	e.HasAddr = true
	if s, ok := o.(*span); ok {
		lo, hi := g.takeWords(4), g.takeWords(4)
		g.load(&constant{info: s.info, n: s.from}, lo)
		g.load(&constant{info: s.info, n: s.to}, hi)
		e.AddrMin, e.AddrMax, e.HasAddrMax = regAt(lo), regAt(hi), true
		return
	}
	at := g.take(o)
	g.load(o, at)
	e.AddrMin = regAt(at)
	l, ok := o.(*lookup)
	if !ok {
		return
	}
	data := l.set.data
	width := words(data.bits)
	addr := words(addressType(family).Bits)
	if data.isConcat() {
		e.ProtoMin, e.HasProto = regAt(at+addr), true
	}
	if l.set.dataInterval {
		e.AddrMax, e.HasAddrMax = regAt(at+width), true
		if data.isConcat() {
			e.ProtoMax, e.HasProtoMax = regAt(at+width+addr), true
		}
	}
}

// ports loads a port or a range of ports.
func (g *generator) ports(o operand, lo, hi *expr.Reg, has, hasMax *bool) {
	if o == nil {
		return
	}
	*has = true
	if s, ok := o.(*span); ok {
		a, b := g.takeWords(4), g.takeWords(4)
		g.load(&constant{info: s.info, n: s.from}, a)
		g.load(&constant{info: s.info, n: s.to}, b)
		*lo, *hi, *hasMax = regAt(a), regAt(b), true
		return
	}
	at := g.take(o)
	g.load(o, at)
	*lo = regAt(at)
	if l, ok := o.(*lookup); ok && l.set.dataInterval {
		*hi, *hasMax = regAt(at+words(l.set.data.bits)), true
	}
}
