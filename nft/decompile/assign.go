package decompile

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

// setMeta takes `meta KEY set VALUE`.
func (r *rule) setMeta(e *expr.Meta) {
	f := keyFormat(e.Key)
	x := metaExpr(e.Key)
	x.Qualified = true
	r.assign(x, e.Src, &f)
}

// setCT takes `ct KEY set VALUE`.
func (r *rule) setCT(e *expr.CT) {
	x := &syntax.CT{Key: text(e.Key.Name)}
	if e.HasDir {
		x.Direction = text(directionName(e.Dir))
	}
	f := keyFormat(e.Key)
	if e.Key.Type == catalog.CTEvent {
		if v := r.regs.get(e.Src); v != nil && v.kind == operandConstant && !isZero(v.value) {
			r.emit(&syntax.Assign{Left: x, Right: r.o.flagList(&f, bigEndian(&f, v.value))})
			return
		}
	}
	r.assign(x, e.Src, &f)
}

func (r *rule) assign(left syntax.Expr, src expr.Reg, f *format) {
	v := r.regs.get(src)
	if v == nil {
		return
	}
	r.emit(&syntax.Assign{Left: left, Right: r.valueAs(v, f)})
}
