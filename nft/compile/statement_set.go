package compile

import (
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

var dynsetOps = map[syntax.SetOp]expr.DynsetOp{
	syntax.SetAdd: expr.DynsetAdd, syntax.SetRefresh: expr.DynsetUpdate, syntax.SetDelete: expr.DynsetDelete,
}

// setUpdate evaluates a statement that changes a set.
func (r *rule) setUpdate(s *syntax.SetUpdate) {
	if s.Set == nil || s.Element == nil {
		return
	}
	set := r.findSet(s.Set)
	if set == nil {
		return
	}
	if !set.isMap() {
		set.makeDynamic()
	}
	key := r.setKey(s.Element, set)
	if key == nil {
		return
	}
	out := expr.Dynset{Set: set.name, SetID: set.id, Op: dynsetOps[s.Op]}
	if !r.dynsetAttributes(s.Element, &out) {
		return
	}
	var data operand
	if s.Element.Data != nil {
		if !set.isMap() {
			r.errorf(s.Element.Data.Place(), "compile/map", "mapping outside of map context")
			return
		}
		if data = r.setData(s.Element.Data, set); data == nil {
			return
		}
	} else if set.isMap() && s.Op != syntax.SetDelete {
		r.errorf(s.Element.Span, "compile/map", "map element needs data").Hint = "write KEY : DATA"
		return
	}
	r.insert(emitFunc(func(g *generator) {
		e := out
		e.Key = g.loaded(key)
		if data != nil {
			e.Data, e.HasData = g.loaded(data), true
		}
		g.emit(&e)
	}))
}

// makeDynamic declares a set of the same batch as one that packets change,
// also where its flags did not say so. One that exists already stays, and so
// do maps, as with nft.
func (s *setInfo) makeDynamic() {
	if s.def != nil {
		s.flags |= ruleset.SetEval
		s.def.Flags |= ruleset.SetEval
	}
}

func (r *rule) setKey(el *syntax.Element, set *setInfo) operand {
	key := r.evaluate(el.Key, &set.key)
	if key == nil {
		return nil
	}
	switch key.(type) {
	case *span, *prefix:
		r.errorf(el.Key.Place(), "compile/set-update", "a single value is needed here")
		return nil
	}
	key = valueOf(key)
	if !isConstant(key) && !sameType(key.head().vtype, set.key) {
		r.errorf(el.Key.Place(), "compile/type", "datatype mismatch, expected %s, expression has type %s", set.key.describe(), key.head().describe())
		return nil
	}
	return forSet(key, set)
}

func (r *rule) setData(e syntax.Expr, set *setInfo) operand {
	r.assigning = set.data.bits
	defer func() { r.assigning = 0 }()
	o := r.evaluate(e, &set.data)
	if o == nil {
		return nil
	}
	if _, isVerdict := o.(*verdict); isVerdict || set.object != 0 {
		r.errorf(e.Place(), "compile/set-update", "only values can be stored from a rule")
		return nil
	}
	o = valueOf(o)
	if !isConstant(o) && !assignable(set.data, o.head().vtype) {
		r.errorf(e.Place(), "compile/type", "datatype mismatch, expected %s, expression has type %s", set.data.describe(), o.head().describe())
		return nil
	}
	if set.data.isConcat() {
		return o
	}
	return toOrder(o, set.data.order)
}

func (r *rule) dynsetAttributes(el *syntax.Element, out *expr.Dynset) bool {
	if el.Timeout != nil {
		ms, ok := r.duration(el.Timeout)
		if !ok {
			return false
		}
		out.Timeout = ms
	}
	for _, s := range el.Statements {
		e := r.stateful(s)
		if e == nil {
			return false
		}
		out.Exprs = append(out.Exprs, e)
	}
	return true
}

// meter evaluates the old form of a dynamic set: it declares the set, and
// updates it.
func (r *rule) meter(s *syntax.Meter) {
	if s.Element == nil {
		return
	}
	key := r.evaluate(s.Element.Key, nil)
	if key == nil {
		return
	}
	if isConstant(key) {
		r.errorf(s.Element.Key.Place(), "compile/meter", "meter key must not be constant")
		return
	}
	key = valueOf(key)
	if old := r.setFor(r.table, s.Name.Text); old != nil && !old.meter {
		r.errorf(s.Name.Span, "compile/meter", "File exists; set '%s' is not a meter", s.Name.Text)
		return
	}
	r.lastSetID++
	set := &setInfo{name: s.Name.Text, id: r.lastSetID, key: key.head().vtype, meter: true, flags: ruleset.SetEval}
	out := expr.Dynset{Set: set.name, SetID: set.id, Op: expr.DynsetAdd}
	if !r.dynsetAttributes(s.Element, &out) {
		return
	}
	if out.Timeout != 0 {
		set.flags |= ruleset.SetTimeout
		out.Op = expr.DynsetUpdate
	}
	r.table.sets[set.name] = set
	def := set.definition()
	def.Size = defaultDynamicSize
	if s.Size != nil {
		def.Size = uint32(s.Size.Value)
	}
	r.made = append(r.made, ruleset.Change{
		Op: ruleset.OpAdd, Kind: ruleset.KindSet, Family: r.family, Table: r.table.name, Name: set.name,
		SetDef: def, SetID: set.id, Place: s.Span, TablePlace: s.Span, NamePlace: s.Name.Span,
	})
	r.insert(emitFunc(func(g *generator) {
		e := out
		e.Key = g.loaded(key)
		g.emit(&e)
	}))
}

// defaultDynamicSize bounds dynamic sets that declare no size.
const defaultDynamicSize = 65535
