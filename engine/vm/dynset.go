package vm

import (
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/set"
	"verdict/set/elem"
	"verdict/set/hash"
)

// dynsetRef is a linked dynset expression.
type dynsetRef struct {
	expr    *expr.Dynset
	set     *setRef
	exprs   []expr.Expr // of new elements
	timeout int64       // nanoseconds, 0: the set's default
	dataLen int
}

func (l *linker) dynset(x *expr.Dynset) error {
	i, err := l.set(x.Set)
	if err != nil {
		return err
	}
	ref := l.program.sets[i]
	if ref.live == nil {
		return l.unsupported("dynset on set " + x.Set + ", which packets cannot change,")
	}
	d := &dynsetRef{expr: x, set: ref, exprs: x.Exprs, timeout: int64(x.Timeout) * 1e6, dataLen: int(ref.set.DataLen)}
	if len(d.exprs) == 0 {
		d.exprs = ref.set.Exprs
	}
	for _, e := range d.exprs {
		if _, ok := e.(*expr.ConnLimit); ok {
			l.tracks()
		}
	}
	l.program.dynsets = append(l.program.dynsets, d)
	return l.emit(inst{op: opDynset, src: reg(x.Key), len: uint8(ref.keyLen), dst: reg(x.Data), ref: uint32(len(l.program.dynsets) - 1)})
}

// dynset changes a set from the packet path.
// Ref: nft_dynset.c, nft_dynset_eval.
func (m *Machine) dynset(in *inst) outcome {
	d := m.prog.dynsets[in.ref]
	key := m.bytes(in.src, int(in.len))
	if d.expr.Op == expr.DynsetDelete {
		d.set.live.Remove(key, m.Now)
		return outNext
	}
	op := hash.Add
	if d.expr.Op == expr.DynsetUpdate {
		op = hash.Update
	}
	e, _ := d.set.live.Update(op, key, m.Now, d.timeout, func(key []byte) *set.Entry {
		return m.newElement(d, in, key)
	})
	if e == nil {
		return keep(d.expr.Invert)
	}
	if did := m.elementExprs(e, in); did != outNext {
		return did
	}
	return keep(!d.expr.Invert)
}

// newElement makes the element that a packet adds, with its own state.
func (m *Machine) newElement(d *dynsetRef, in *inst, key []byte) *set.Entry {
	e := elem.New(key, nil)
	p := &ruleset.Payload{Exprs: expr.CloneState(d.exprs)}
	if d.expr.HasData {
		data := append([]byte(nil), m.bytes(in.dst, d.dataLen)...)
		p.Data = &expr.Data{Value: expr.Value{Bytes: data}}
	}
	if p.Exprs != nil || p.Data != nil {
		e.Ext = p
	}
	return e
}
