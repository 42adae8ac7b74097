package compile

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

func (r *rule) socketKey(e *syntax.Socket) operand {
	key := catalog.SocketKey(e.Key.Text)
	if key == nil {
		d := r.errorf(e.Key.Span, "compile/unknown-key", "unknown socket key '%s'", e.Key.Text)
		suggest(d, e.Key.Text, keyNames(catalog.SocketKeys))
		return nil
	}
	level := uint32(0)
	if e.Level != nil {
		if e.Level.Value > 255 {
			r.errorf(e.Level.Span, "compile/range", "cgroup level %d is too large", e.Level.Value)
			return nil
		}
		level = uint32(e.Level.Value)
	}
	t := keyType(key)
	if key.Name == "transparent" || key.Name == "wildcard" {
		t.limit = 1
	}
	return &other{info: info{vtype: t, at: e.Span}, name: "socket", make: func(dst expr.Reg) expr.Expr {
		return &expr.Socket{Key: key, Level: level, Dst: dst}
	}}
}

func (r *rule) fibLookup(e *syntax.Fib) operand {
	key := catalog.FibResult(e.Result.Text)
	if key == nil {
		d := r.errorf(e.Result.Span, "compile/unknown-key", "unknown fib result '%s'", e.Result.Text)
		suggest(d, e.Result.Text, append(keyNames(catalog.FibResults), "check"))
		return nil
	}
	if len(e.Flags) == 0 {
		r.errorf(e.Span, "compile/fib", "fib: need either saddr or daddr")
		return nil
	}
	var flags uint32
	for _, w := range e.Flags {
		found := uint32(0)
		for _, s := range catalog.FibFlags {
			if s.Name == w.Text {
				found = uint32(s.Value)
			}
		}
		if found == 0 {
			r.errorf(w.Span, "compile/fib", "unknown fib flag '%s'", w.Text)
			return nil
		}
		flags |= found
	}
	at := e.Flags[0].Span.To(e.Flags[len(e.Flags)-1].Span)
	if flags&(expr.FibSaddr|expr.FibDaddr) == 0 {
		r.errorf(at, "compile/fib", "fib: need either saddr or daddr")
		return nil
	}
	if flags&expr.FibSaddr != 0 && flags&expr.FibDaddr != 0 {
		r.errorf(at, "compile/fib", "fib: saddr and daddr are mutually exclusive")
		return nil
	}
	if flags&expr.FibIif != 0 && flags&expr.FibOif != 0 {
		r.errorf(at, "compile/fib", "fib: iif and oif are mutually exclusive")
		return nil
	}
	o := &fib{info: info{vtype: keyType(key), at: e.Span}, result: key.Number, flags: flags}
	if key == catalog.FibCheck {
		o.flags |= expr.FibPresent
	}
	return o
}

func (r *rule) osfKey(e *syntax.OSF) operand {
	key := catalog.OSFKey(e.Key.Text)
	if key == nil {
		r.errorf(e.Key.Span, "compile/unknown-key", "unknown osf key '%s'", e.Key.Text)
		return nil
	}
	var ttl uint8
	if e.TTL.Given() {
		for _, s := range catalog.OSFTTLs {
			if s.Name == e.TTL.Text {
				ttl = uint8(s.Value)
			}
		}
		if ttl == 0 {
			r.errorf(e.TTL.Span, "compile/osf", "invalid ttl option '%s'", e.TTL.Text).Expected = []string{"loose", "skip"}
			return nil
		}
	}
	if r.ctx.layers[catalog.BaseTransport].proto != nil && r.ctx.layers[catalog.BaseTransport].proto != catalog.TCP && !r.declare {
		return r.conflictOperand(e, catalog.TCP)
	}
	flags := key.Number
	return &other{info: info{vtype: keyType(key), at: e.Span}, name: "osf", make: func(dst expr.Reg) expr.Expr {
		return &expr.OSF{Dst: dst, TTL: ttl, Flags: flags}
	}}
}

func (r *rule) conflictOperand(e syntax.Expr, p *catalog.Protocol) operand {
	r.conflict(e.Place(), p.Base, r.ctx.layers[p.Base].proto, p)
	return nil
}

func number32(n *syntax.Number) uint32 {
	if n == nil {
		return 0
	}
	return uint32(min(n.Value, 1<<32-1))
}

var generated = vtype{typ: catalog.Integer, bits: 32, order: catalog.OrderHost}

// checkModulus refuses results that do not fit 32 bits.
func (r *rule) checkModulus(e syntax.Expr, mod, offset *syntax.Number) bool {
	if mod == nil || mod.Value == 0 {
		r.errorf(e.Place(), "compile/modulus", "modulus must be at least 1")
		return false
	}
	sum := mod.Value
	if offset != nil {
		sum += offset.Value
	}
	if mod.Value > 1<<32-1 || sum < mod.Value || sum > 1<<32 {
		r.errorf(e.Place(), "compile/modulus", "modulus and offset exceed 32 bits")
		return false
	}
	return true
}

func (r *rule) numberGenerator(e *syntax.Numgen) operand {
	if !r.checkModulus(e, e.Mod, e.Offset) {
		return nil
	}
	n := expr.Numgen{Random: e.Mode.Text == "random", Mod: number32(e.Mod), Offset: number32(e.Offset)}
	return &other{info: info{vtype: generated, at: e.Span}, name: "numgen", make: func(dst expr.Reg) expr.Expr {
		x := n
		x.Dst = dst
		return &x
	}}
}

func (r *rule) hashOf(e *syntax.Hash) operand {
	if !r.checkModulus(e, e.Mod, e.Offset) {
		return nil
	}
	h := expr.Hash{Symmetric: e.Symmetric, Mod: number32(e.Mod), Offset: number32(e.Offset), HasSeed: e.Seed != nil, Seed: number32(e.Seed)}
	if e.Symmetric {
		return &other{info: info{vtype: generated, at: e.Span}, name: "hash", make: func(dst expr.Reg) expr.Expr {
			x := h
			x.Dst = dst
			return &x
		}}
	}
	of := r.evaluate(e.Of, nil)
	if of == nil {
		return nil
	}
	if isConstant(of) {
		r.errorf(e.Of.Place(), "compile/hash", "cannot hash a constant")
		return nil
	}
	return &jhash{info: info{vtype: generated, at: e.Span}, of: valueOf(of), hash: h}
}

func (r *rule) ipsecKey(e *syntax.IPsec) operand {
	family, _ := catalog.FamilyByName(e.Family.Text)
	key := catalog.XFRMKey(e.Key.Text, family)
	if key == nil {
		d := r.errorf(e.Key.Span, "compile/unknown-key", "unknown ipsec key '%s'", e.Key.Text)
		suggest(d, e.Key.Text, keyNames(catalog.XFRMKeys))
		return nil
	}
	if e.Spnum != nil && e.Spnum.Value > 255 {
		r.errorf(e.Spnum.Span, "compile/range", "value too large")
		return nil
	}
	out, spnum := e.Direction.Text == "out", number32(e.Spnum)
	return &other{info: info{vtype: keyType(key), at: e.Span}, name: "ipsec", make: func(dst expr.Reg) expr.Expr {
		return &expr.XFRM{Key: key, Out: out, Spnum: spnum, Dst: dst}
	}}
}

func (r *rule) tunnelKey(e *syntax.TunnelMeta) operand {
	key := catalog.TunnelKey(e.Key.Text)
	if key == nil {
		r.errorf(e.Key.Span, "compile/unknown-key", "unknown tunnel key '%s'", e.Key.Text)
		return nil
	}
	return &other{info: info{vtype: keyType(key), at: e.Span}, name: "tunnel", make: func(dst expr.Reg) expr.Expr {
		return &expr.Tunnel{Key: key, Dst: dst}
	}}
}
