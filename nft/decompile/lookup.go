package decompile

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// lookup takes a set lookup: a match, a verdict map or a map that delivers a
// value.
func (r *rule) lookup(e *expr.Lookup) {
	set := r.table.Set(e.Set)
	key := r.regs.span(e.Src, keyLength(set))
	if key == nil {
		return
	}
	if e.HasDst && e.Dst != expr.RegVerdict {
		o := &operand{kind: operandMap, key: key, set: set, setName: e.Set, bytes: 4, format: formatOf(catalog.Integer)}
		if set != nil {
			o.bytes = int(set.DataLen)
			if data := setDataFormats(set); len(data) > 0 {
				o.format = data[0]
			}
		}
		r.regs.set(e.Dst, o)
		return
	}
	left, formats := r.nameKey(key, set)
	right := r.setExpr(e.Set, set, formats, nil, false)
	if e.HasDst {
		r.emit(&syntax.VMapStatement{Map: &syntax.MapExpr{Key: left, Map: right, Verdict: true}})
		return
	}
	m := &syntax.Match{Left: left, Right: right}
	switch {
	case e.Invert:
		m.Op = syntax.OpNeq
	case key.kind == operandBinary && !isField(left):
		m.Op = syntax.OpEq
	}
	r.emit(m)
}

// nameKey writes the key of a lookup. Constants in it read as the set's keys
// do.
func (r *rule) nameKey(key *operand, set *ruleset.Set) (syntax.Expr, []format) {
	x, formats := r.nameParts(key)
	c, ok := x.(*syntax.Concat)
	if !ok {
		return x, formats
	}
	var declared []format
	for i, p := range key.parts {
		if p.kind != operandConstant {
			continue
		}
		if declared == nil {
			declared = setKeyFormats(set)
		}
		if i < len(declared) {
			c.Parts[i], formats[i] = r.o.literal(&declared[i], p.value), declared[i]
		}
	}
	return x, formats
}

func keyLength(set *ruleset.Set) int {
	if set == nil {
		return 0
	}
	return int(set.KeyLen)
}

// setExpr writes a set by its name, or an anonymous one by its elements. keys
// says how the keys read, data how the data is used; interval says that the
// data is ranges.
func (r *rule) setExpr(name string, set *ruleset.Set, keys, data []format, interval bool) syntax.Expr {
	if set == nil || set.Flags&ruleset.SetAnonymous == 0 {
		return &syntax.SetRef{Name: name}
	}
	w := newElementWriter(r.o, set)
	w.useKeys(keys)
	w.useData(data, interval)
	return &syntax.SetLiteral{Elements: w.elements()}
}

// nameMap writes KEY map SET as a value.
func (r *rule) nameMap(o *operand) (syntax.Expr, format) {
	return r.mapAs(o, nil, false), o.format
}

// mapAs writes a map lookup whose data is used as want says.
func (r *rule) mapAs(o *operand, want []format, interval bool) syntax.Expr {
	left, formats := r.nameKey(o.key, o.set)
	return &syntax.MapExpr{Key: left, Map: r.setExpr(o.setName, o.set, formats, want, interval)}
}

// objref takes the use of a stateful object, by name or through a map.
func (r *rule) objref(e *expr.Objref) {
	s := &syntax.ObjectRef{Kind: objectKind(e.Type)}
	if !e.IsMap {
		s.Name = quoted(e.Name)
		r.emit(s)
		return
	}
	set := r.table.Set(e.Set)
	key := r.regs.span(e.Src, keyLength(set))
	if key == nil {
		return
	}
	if set != nil {
		s.Kind = objectKind(set.ObjType)
	}
	left, formats := r.nameKey(key, set)
	s.Name = &syntax.MapExpr{Key: left, Map: r.setExpr(e.Set, set, formats, nil, false)}
	r.emit(s)
}

var objectKinds = [...]syntax.Object{
	expr.ObjectCounter: syntax.ObjCounter, expr.ObjectQuota: syntax.ObjQuota, expr.ObjectCTHelper: syntax.ObjCTHelper,
	expr.ObjectLimit: syntax.ObjLimit, expr.ObjectConnLimit: syntax.ObjNone, expr.ObjectTunnel: syntax.ObjTunnel,
	expr.ObjectCTTimeout: syntax.ObjCTTimeout, expr.ObjectSecmark: syntax.ObjSecmark,
	expr.ObjectCTExpectation: syntax.ObjCTExpectation, expr.ObjectSynproxy: syntax.ObjSynproxy,
}

func objectKind(t expr.ObjectType) syntax.Object {
	if int(t) < len(objectKinds) {
		return objectKinds[t]
	}
	return syntax.ObjNone
}
