package compile

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

// assign evaluates a statement that sets a field or key.
func (r *rule) assign(s *syntax.Assign) {
	left := r.evaluate(s.Left, nil)
	if left == nil {
		return
	}
	switch l := left.(type) {
	case *payload:
		r.assignPayload(l, nil, s)
	case *bitfield:
		if p, ok := l.of.(*payload); ok {
			r.assignPayload(p, l, s)
			return
		}
		r.errorf(s.Left.Place(), "compile/assign", "this field cannot be set")
	case *exthdr:
		r.assignOption(l, s)
	case *meta:
		r.assignMeta(l, s)
	case *conntrack:
		r.assignConntrack(l, s)
	default:
		r.errorf(s.Left.Place(), "compile/assign", "this expression cannot be set")
	}
}

// assignable reports whether a value of a type may be stored as another.
func assignable(want, have vtype) bool {
	if sameType(want, have) {
		return true
	}
	if want.isConcat() || have.isConcat() || want.typ == nil || have.typ == nil || want.isString() != have.isString() {
		return false
	}
	return numeric(want.typ) && numeric(have.typ)
}

// numeric types mix freely in assignments: marks, integers and what derives
// from them.
func numeric(t *catalog.Type) bool {
	switch t {
	case catalog.IPv4Addr, catalog.IPv6Addr, catalog.EtherAddr, catalog.Verdict:
		return false
	}
	return t.IsA(catalog.Integer)
}

// argument evaluates the value that a statement stores.
func (r *rule) argument(e syntax.Expr, want vtype) operand {
	r.assigning = want.bits
	defer func() { r.assigning = 0 }()
	o := r.single(e, want)
	if c, ok := o.(*constant); ok {
		c.list = false
	}
	return o
}

func (r *rule) assignMeta(l *meta, s *syntax.Assign) {
	if !l.key.Settable {
		r.errorf(s.Left.Place(), "compile/assign", "meta %s cannot be set", l.key.Name)
		return
	}
	if l.tunnel != nil {
		r.errorf(s.Left.Place(), "compile/assign", "the packet inside a tunnel cannot be changed")
		return
	}
	r.assignLoaded(s.Right, l.vtype, func(src expr.Reg) expr.Expr {
		return &expr.Meta{Key: l.key, Src: src, Set: true}
	})
}

func (r *rule) assignConntrack(l *conntrack, s *syntax.Assign) {
	if !l.key.Settable {
		r.errorf(s.Left.Place(), "compile/assign", "ct %s cannot be set", l.key.Name)
		return
	}
	r.assignLoaded(s.Right, l.vtype, func(src expr.Reg) expr.Expr {
		return &expr.CT{Key: l.key, Src: src, Set: true, HasDir: l.hasDir, Dir: l.dir}
	})
}

func (r *rule) assignOption(l *exthdr, s *syntax.Assign) {
	if l.op != expr.ExthdrTCPOpt || l.present {
		r.errorf(s.Left.Place(), "compile/assign", "this option cannot be set")
		return
	}
	r.assignLoaded(s.Right, l.vtype, func(src expr.Reg) expr.Expr {
		return &expr.Exthdr{Op: l.op, Type: l.kind, Offset: uint32(l.offset / 8), Len: uint32(l.bytes()), Src: src, Write: true}
	})
}

// assignLoaded loads the value on the right and emits what takes it from there.
func (r *rule) assignLoaded(value syntax.Expr, want vtype, write func(src expr.Reg) expr.Expr) {
	o := r.argument(value, want)
	if o == nil {
		return
	}
	r.insert(emitFunc(func(g *generator) { g.emit(write(g.loaded(o))) }))
}
