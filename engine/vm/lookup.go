package vm

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/set"
)

// setRef is a linked set.
type setRef struct {
	set      *ruleset.Set
	elements *ruleset.Elements
	live     *set.Set // where packets change the set, else nil
	verdicts []verdictTarget
	objects  []objectTarget
	keyLen   int
	withExpr bool // elements may carry stateful expressions
}

// verdictTarget is what an element of a verdict map leads to.
type verdictTarget struct {
	kind  catalog.VerdictKind
	chain uint32
}

// objectTarget is the stateful instruction of an object.
type objectTarget struct {
	op  opcode
	ref uint32
}

// set links a set once.
func (l *linker) set(name string) (uint32, error) {
	s := l.table.Set(name)
	if s == nil {
		return 0, l.unsupported("lookup in missing set " + name)
	}
	if i, ok := l.setIndex[s]; ok {
		return i, nil
	}
	ref := &setRef{set: s, elements: s.Elements, keyLen: int(s.KeyLen)}
	ref.withExpr = s.Flags&(ruleset.SetEval|ruleset.SetExpr) != 0 || len(s.Exprs) > 0
	if s.Flags&ruleset.SetEval != 0 {
		ref.live = s.Elements.Set()
		ref.withExpr = true
	}
	if err := l.targets(ref); err != nil {
		return 0, err
	}
	l.program.sets = append(l.program.sets, ref)
	i := uint32(len(l.program.sets) - 1)
	l.setIndex[s] = i
	return i, nil
}

// targets resolves the chains and objects that a map's elements lead to.
func (l *linker) targets(ref *setRef) error {
	if ref.elements == nil {
		return nil
	}
	for _, t := range ref.elements.Targets() {
		if ref.set.Flags&ruleset.SetObject != 0 {
			ref.objects = append(ref.objects, l.objectTarget(ref.set.ObjType, t.Object))
			continue
		}
		v := verdictTarget{kind: t.Verdict.Kind}
		if v.kind == catalog.VerdictJump || v.kind == catalog.VerdictGoto {
			chain, ok := l.chains[l.table][t.Verdict.Chain]
			if !ok {
				v.kind = catalog.VerdictContinue // a target that no element uses any more
			}
			v.chain = chain
		}
		ref.verdicts = append(ref.verdicts, v)
	}
	return nil
}

func (l *linker) lookup(x *expr.Lookup) error {
	ref, err := l.set(x.Set)
	if err != nil {
		return err
	}
	s := l.program.sets[ref]
	in := inst{op: opLookup, src: reg(x.Src), len: uint8(s.keyLen), ref: ref, inv: x.Invert}
	if x.HasDst {
		in.dst = reg(x.Dst)
		in.sub = lookupData
		if x.Dst == expr.RegVerdict {
			in.sub = lookupVerdict
		}
	}
	return l.emit(in)
}

// What a lookup does with the element it finds.
const (
	lookupOnly = iota
	lookupData
	lookupVerdict
)

// lookup looks a register up in a set. Ref: nft_lookup.c, nft_lookup_eval.
func (m *Machine) lookup(in *inst) outcome {
	ref := m.prog.sets[in.ref]
	e := ref.find(m.bytes(in.src, int(in.len)), m.Now)
	if (e != nil) == in.inv {
		return outBreak
	}
	if e == nil {
		return outNext
	}
	if in.sub == lookupData {
		m.storeData(in.dst, ruleset.PayloadOf(e))
	}
	if ref.withExpr {
		if did := m.elementExprs(e, in); did != outNext {
			return did
		}
	}
	if in.sub == lookupVerdict {
		if i := int(e.Index) - 1; i >= 0 && i < len(ref.verdicts) {
			v := ref.verdicts[i]
			return m.verdictOf(v.kind, v.chain, in)
		}
	}
	return outNext
}

func (r *setRef) find(key []byte, now int64) *set.Entry {
	if r.live != nil {
		return r.live.Lookup(key, now)
	}
	return r.elements.Lookup(key, now)
}

// storeData copies a map element's data to a register.
func (m *Machine) storeData(dst uint8, p *ruleset.Payload) {
	if p == nil || p.Data == nil {
		return
	}
	b := p.Data.Value.Bytes
	copy(m.bytes(dst, len(b)), b)
	m.zeroTail(dst, len(b))
}

// elementExprs runs the stateful expressions that an element carries.
// Ref: nf_tables_core.h, nft_set_elem_update_expr.
func (m *Machine) elementExprs(e *set.Entry, in *inst) outcome {
	p := ruleset.PayloadOf(e)
	if p == nil {
		return outNext
	}
	for _, x := range p.Exprs {
		if did := m.runState(x, in); did != outNext {
			return did
		}
	}
	return outNext
}

// runState runs a stateful expression that is not part of the rule itself.
func (m *Machine) runState(e expr.Expr, in *inst) outcome {
	state := m.prog.state
	switch x := e.(type) {
	case *expr.Counter:
		state.Counter(x).add(m.pkt.Length)
	case *expr.Limit:
		return keep(state.Limit(x).allow(m.Now, m.pkt.Length))
	case *expr.Quota:
		return keep(state.Quota(x).allow(m.pkt.Length))
	case *expr.ConnLimit:
		return m.connLimit(state.ConnLimit(x), in)
	case *expr.Last:
		last := state.Last(x)
		last.set, last.at = true, m.Now
	}
	return outNext
}
