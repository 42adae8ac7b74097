package vm

import (
	"verdict/nft/expr"
)

// objrefRef is a linked objref expression that looks the object up in a map.
type objrefRef struct {
	set *setRef
}

// objref links a reference to a named object: to the object's own instruction
// where it is fixed, or a lookup.
func (l *linker) objref(x *expr.Objref) error {
	if !x.IsMap {
		t := l.objectTarget(x.Type, x.Name)
		return l.emit(inst{op: t.op, ref: t.ref})
	}
	i, err := l.set(x.Set)
	if err != nil {
		return err
	}
	ref := l.program.sets[i]
	l.program.objrefs = append(l.program.objrefs, &objrefRef{set: ref})
	return l.emit(inst{op: opObjref, src: reg(x.Src), len: uint8(ref.keyLen), ref: uint32(len(l.program.objrefs) - 1)})
}

// objectTarget is the instruction of a named object. Objects without effect on
// the verdict of a packet (marks of security modules, tunnels) let the rule go
// on.
func (l *linker) objectTarget(typ expr.ObjectType, name string) objectTarget {
	o := l.table.Object(typ, name)
	pass := objectTarget{op: opPass}
	if o == nil {
		return pass
	}
	var e expr.Expr
	switch {
	case o.Counter != nil:
		e = o.Counter
	case o.Quota != nil:
		e = o.Quota
	case o.Limit != nil:
		e = o.Limit
	case o.ConnLimit != nil:
		e = o.ConnLimit
	case o.Synproxy != nil:
		l.tracks()
		return objectTarget{op: opSynproxy, ref: l.effectRef(o.Synproxy)}
	case o.Helper != nil, o.TimeoutPol != nil, o.Expectation != nil:
		l.tracks()
		return l.ctObject(o)
	default:
		return pass
	}
	op, ref, _ := l.stateful(e)
	return objectTarget{op: op, ref: ref}
}

// objref runs the object that a map yields.
// Ref: nft_objref.c, nft_objref_map_eval.
func (m *Machine) objref(in *inst) outcome {
	ref := m.prog.objrefs[in.ref].set
	e := ref.find(m.bytes(in.src, int(in.len)), m.Now)
	if e == nil {
		return outBreak
	}
	i := int(e.Index) - 1
	if i < 0 || i >= len(ref.objects) {
		return outBreak
	}
	t := ref.objects[i]
	run := *in
	run.op, run.ref = t.op, t.ref
	return m.step(&run)
}
