package decompile

import (
	"reflect"

	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

var setOps = [...]syntax.SetOp{
	expr.DynsetAdd: syntax.SetAdd, expr.DynsetUpdate: syntax.SetRefresh, expr.DynsetDelete: syntax.SetDelete,
}

// dynset takes `add @SET { KEY … }` and its relatives, which is also how sets
// of the meter statement are listed.
func (r *rule) dynset(e *expr.Dynset) {
	set := r.table.Set(e.Set)
	key := r.regs.span(e.Key, keyLength(set))
	if key == nil {
		return
	}
	el := &syntax.Element{}
	keys := setKeyFormats(set)
	el.Key = r.valuesAs(key, keys)
	if e.HasData {
		length := 0
		if set != nil {
			length = int(set.DataLen)
		}
		if data := r.regs.span(e.Data, length); data != nil {
			el.Data = r.valuesAs(data, setDataFormats(set))
		}
	}
	if !sameDeclared(e.Exprs, set) {
		for _, x := range e.Exprs {
			if s := r.o.statefulAs(x, true); s != nil {
				el.Statements = append(el.Statements, s)
			}
		}
	}
	if e.Timeout != 0 {
		el.Timeout = r.o.span(e.Timeout)
	}
	r.emit(&syntax.SetUpdate{Op: setOps[min(e.Op, expr.DynsetDelete)], Set: &syntax.SetRef{Name: e.Set}, Element: el})
}

// sameDeclared reports whether the element's expressions are the ones that
// the set declares for all of its elements; then they are not written.
func sameDeclared(exprs []expr.Expr, set *ruleset.Set) bool {
	if set == nil || len(exprs) != len(set.Exprs) {
		return false
	}
	for i := range exprs {
		if !reflect.DeepEqual(exprs[i], set.Exprs[i]) {
			return false
		}
	}
	return true
}

// valuesAs writes an operand as a key or as data: constants read as the
// formats say, one for each part.
func (r *rule) valuesAs(o *operand, want []format) syntax.Expr {
	if o.kind != operandConcat {
		f := generated
		if len(want) > 0 {
			f = want[0]
		}
		if o.kind == operandConstant && len(want) > 1 {
			return r.constantParts(o.value, want)
		}
		return r.valueAs(o, &f)
	}
	x := &syntax.Concat{Parts: make([]syntax.Expr, len(o.parts))}
	for i, p := range o.parts {
		f := generated
		if i < len(want) {
			f = want[i]
		}
		x.Parts[i] = r.valueAs(p, &f)
	}
	return x
}

// constantParts writes one constant that holds a whole concatenation.
func (r *rule) constantParts(v []byte, want []format) syntax.Expr {
	x := &syntax.Concat{}
	at := 0
	for i := range want {
		n := (want[i].bits + 7) / 8
		end := min(at+n, len(v))
		x.Parts = append(x.Parts, r.o.literal(&want[i], v[at:end]))
		at = min(at+(n+3)/4*4, len(v))
	}
	return x
}
