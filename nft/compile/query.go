package compile

import (
	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// Elements encodes the elements that a get or reset command names, for
// look-ups in the set that it names: single values as keys, intervals of
// single fields as a start and an exclusive end with ElemIntervalEnd (left out
// where the interval runs to the end of the key space), intervals of
// concatenations as Key and KeyEnd. Data is left out. Options and errors are
// those of Compile.
func Elements(base *ruleset.Ruleset, cmd *syntax.Command, opts Options) ([]ruleset.Element, *diag.List) {
	c := newCompiler(base, opts)
	t, ok := c.resolveTarget(cmd)
	if !ok || cmd.Elements == nil {
		return nil, &c.diags
	}
	s := c.elementSet(t)
	if s == nil {
		return nil, &c.diags
	}
	b := &setBuild{compiler: c, info: s, at: t.place, keyOnly: true}
	if !b.literal(cmd.Elements) {
		return nil, &c.diags
	}
	if s.interval() && !s.key.isConcat() {
		out := b.boundaries(b.keys)
		if b.all != nil {
			out = append(out, *b.all)
		}
		return out, &c.diags
	}
	out, _ := b.finish()
	return out, &c.diags
}

// Value is what a type of the language looks like in a register.
type Value struct {
	Type  *catalog.Type // nil for concatenations
	Bits  int
	Order catalog.ByteOrder
	Parts []Value // of a concatenation
}

// TypeOf gives the type of a selector, as describe and typeof see it.
func TypeOf(e syntax.Expr) (Value, *diag.List) {
	c := newCompiler(nil, Options{})
	r := c.newRule(newTableInfo(catalog.FamilyInet, ""), nil)
	r.declare = true
	t, ok := r.declaredType(e)
	if !ok {
		return Value{}, &c.diags
	}
	return valueType(t), &c.diags
}

func valueType(t vtype) Value {
	v := Value{Type: t.typ, Bits: t.bits, Order: t.order}
	for _, p := range t.parts {
		v.Parts = append(v.Parts, valueType(p))
	}
	return v
}
