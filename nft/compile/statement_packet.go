package compile

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

// tproxy evaluates a transparent proxy.
func (r *rule) tproxy(s *syntax.TProxy) {
	if r.ctx.layers[catalog.BaseTransport].proto == nil {
		r.errorf(s.Span, "compile/no-transport", "Transparent proxy support requires transport protocol match")
		return
	}
	switch r.family {
	case catalog.FamilyIP, catalog.FamilyIP6, catalog.FamilyInet:
	default:
		r.errorf(s.Span, "compile/family", "tproxy is only supported for IPv4/IPv6")
		return
	}
	if s.Addr == nil && s.Port == nil {
		r.errorf(s.Span, "compile/tproxy", "Either address or port must be specified!")
		return
	}
	family, ok := r.natFamily(s.Family, s.Addr, "tproxy", s.Span)
	if !ok {
		return
	}
	out := expr.TProxy{Family: uint8(family), HasAddr: s.Addr != nil, HasPort: s.Port != nil}
	if family == catalog.FamilyInet {
		out.Family = 0
	}
	var addr, port operand
	if s.Addr != nil {
		want := typeOf(addressType(family))
		if addr = r.single(s.Addr, want); addr == nil {
			return
		}
	}
	if s.Port != nil {
		if port = r.evaluatePort(s.Port); port == nil {
			return
		}
		if _, isRange := port.(*span); isRange {
			r.errorf(s.Port.Place(), "compile/tproxy", "Port ranges are not allowed for tproxy.")
			return
		}
	}
	r.insert(emitFunc(func(g *generator) {
		e := out
		if addr != nil {
			e.Addr = g.loaded(addr)
		}
		if port != nil {
			e.Port = g.loaded(port)
		}
		g.emit(&e)
	}))
}

// single evaluates an argument that is one value: a constant, something of
// the packet, or a map lookup.
func (r *rule) single(e syntax.Expr, want vtype) operand {
	o := r.evaluate(e, &want)
	if o == nil {
		return nil
	}
	switch x := o.(type) {
	case *span, *prefix, *verdict:
		r.errorf(e.Place(), "compile/argument", "a single value is needed here")
		return nil
	case *constant:
		if x.partial {
			r.errorf(e.Place(), "compile/argument", "a single value is needed here")
			return nil
		}
		return o
	}
	o = valueOf(o)
	t := o.head().vtype
	if l, ok := o.(*lookup); ok {
		t = l.set.data
	}
	if !assignable(want, t) {
		r.errorf(e.Place(), "compile/type", "datatype mismatch: expected %s, expression has type %s", want.describe(), t.describe())
		return nil
	}
	return toOrder(o, want.order)
}

func (r *rule) synproxy(s *syntax.Synproxy) *expr.Synproxy {
	const mss, wscale, sackPerm, timestamp = 1, 2, 4, 8
	out := &expr.Synproxy{}
	if s.MSS != nil {
		out.MSS = uint16(s.MSS.Value)
		out.Flags |= mss
	}
	if s.WScale != nil {
		out.WScale = uint8(s.WScale.Value)
		out.Flags |= wscale
	}
	if s.SackPerm {
		out.Flags |= sackPerm
	}
	if s.Timestamp {
		out.Flags |= timestamp
	}
	return out
}

// queue evaluates queue with a number, a range or an expression.
func (r *rule) queue(s *syntax.Queue) {
	out := expr.Queue{Total: 1}
	if s.Bypass {
		out.Flags |= 1
	}
	if s.Fanout {
		out.Flags |= 2
	}
	t := vtype{typ: catalog.Integer, bits: 16, order: catalog.OrderHost}
	if s.Number != nil {
		o := r.evaluate(s.Number, &t)
		switch x := o.(type) {
		case nil:
			return
		case *constant:
			out.Num = uint16(x.n.lo)
		case *span:
			out.Num, out.Total = uint16(x.from.lo), uint16(x.to.lo-x.from.lo+1)
		case *prefix, *concat, *verdict:
			r.errorf(s.Number.Place(), "compile/queue", "a queue number is needed here")
			return
		default:
			if s.Fanout {
				r.errorf(s.Span, "compile/queue", "fanout requires a range of queues")
				return
			}
			switch o.(type) {
			case *other, *jhash, *lookup:
			default:
				r.errorf(s.Number.Place(), "compile/queue", "queue number is not a map, numgen or hash expression")
				return
			}
			r.ended = true
			r.insert(emitFunc(func(g *generator) {
				e := out
				e.Num, e.Total = 0, 0
				e.Src, e.HasSrc = g.loaded(o), true
				g.emit(&e)
			}))
			return
		}
	}
	if s.Fanout && out.Total == 1 {
		r.errorf(s.Span, "compile/queue", "fanout requires a range to be specified")
		return
	}
	r.ended = true
	r.insert(emitted{&out})
}

var interfaceType = vtype{typ: catalog.IfIndex, bits: 32, order: catalog.OrderHost}

func (r *rule) dup(s *syntax.Dup) {
	switch r.family {
	case catalog.FamilyIP, catalog.FamilyIP6:
		addr := r.single(s.Addr, typeOf(addressType(r.family)))
		if addr == nil {
			return
		}
		var dev operand
		if s.Device != nil {
			if dev = r.single(s.Device, interfaceType); dev == nil {
				return
			}
		}
		r.insert(emitFunc(func(g *generator) {
			e := expr.Dup{HasAddr: true}
			e.Addr = g.loaded(addr)
			if dev != nil {
				e.Dev, e.HasDev = g.loaded(dev), true
			}
			g.emit(&e)
		}))
	case catalog.FamilyNetdev:
		if s.Device != nil {
			r.errorf(s.Device.Place(), "compile/dup", "cannot specify device")
			return
		}
		dev := r.single(s.Addr, interfaceType)
		if dev == nil {
			return
		}
		r.insert(emitFunc(func(g *generator) {
			g.emit(&expr.Dup{Dev: g.loaded(dev), HasDev: true})
		}))
	default:
		r.errorf(s.Span, "compile/family", "unsupported family")
	}
}

func (r *rule) fwd(s *syntax.Fwd) {
	if r.family != catalog.FamilyNetdev {
		r.errorf(s.Span, "compile/family", "unsupported family")
		return
	}
	dev := r.single(s.Device, interfaceType)
	if dev == nil {
		return
	}
	var addr operand
	family, _ := catalog.FamilyByName(s.Family.Text)
	if s.Addr != nil {
		if addr = r.single(s.Addr, typeOf(addressType(family))); addr == nil {
			return
		}
	}
	r.ended = true
	r.insert(emitFunc(func(g *generator) {
		e := expr.Fwd{}
		e.Dev = g.loaded(dev)
		if addr != nil {
			e.Addr, e.HasAddr, e.NFProto = g.loaded(addr), true, uint8(family)
		}
		g.emit(&e)
	}))
}
