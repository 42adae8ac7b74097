package netlink

import (
	"verdict/catalog"
	"verdict/nft/expr"
)

// Numbers of constants and verdicts.
const (
	dataValue   = 1
	dataVerdict = 2

	verdictCode    = 1
	verdictChain   = 2
	verdictChainID = 3
)

// value appends a constant.
func (w *builder) value(t uint16, v expr.Value) {
	mark := w.begin(t)
	w.bytes(dataValue, v.Bytes)
	w.end(mark)
}

// data appends what an immediate or a map element holds.
func (w *encoder) data(t uint16, d *expr.Data) {
	if d.Verdict == nil {
		w.value(t, d.Value)
		return
	}
	mark := w.begin(t)
	inner := w.begin(dataVerdict)
	w.u32(verdictCode, uint32(d.Verdict.Kind))
	if chain := d.Verdict.Chain; chain != "" {
		if id := w.chain(chain); id != 0 {
			w.u32(verdictChainID, id)
		} else {
			w.str(verdictChain, chain)
		}
	}
	w.end(inner)
	w.end(mark)
}

func (w *encoder) chain(name string) uint32 {
	if w.chainID == nil {
		return 0
	}
	return w.chainID(name)
}

// value reads a constant.
func (f *fields) value(t uint16) expr.Value { return expr.Value{Bytes: f.constant(f.take(t))} }

func (f *fields) constant(b []byte) []byte {
	d := parseFields(b)
	v := d.take(dataValue)
	if !d.whole() {
		f.odd = true
	}
	return v
}

// data reads a constant or verdict.
func (f *fields) data(t uint16) expr.Data {
	d := parseFields(f.take(t))
	if !d.has(dataVerdict) {
		v := d.take(dataValue)
		f.odd = f.odd || !d.whole()
		return expr.Data{Value: expr.Value{Bytes: v}}
	}
	inner := parseFields(d.take(dataVerdict))
	v := expr.Verdict{Kind: catalog.VerdictKind(inner.u32(verdictCode)), Chain: inner.str(verdictChain)}
	f.odd = f.odd || !inner.whole() || !d.whole()
	return expr.Data{Verdict: &v}
}

// reg reads a register's number.
func (f *fields) reg(t uint16) expr.Reg { return expr.Reg(f.small(t, 255)) }

// present reads a register that may be missing.
func (f *fields) present(t uint16) (expr.Reg, bool) { return f.reg(t), f.has(t) }

func (w *builder) reg(t uint16, r expr.Reg) { w.u32(t, uint32(r)) }

func (w *builder) regIf(t uint16, r expr.Reg, has bool) {
	if has {
		w.reg(t, r)
	}
}

func bit(set bool) uint32 {
	if set {
		return 1
	}
	return 0
}
