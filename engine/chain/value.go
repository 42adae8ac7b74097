package chain

import (
	"verdict/catalog"
	"verdict/nft/expr"
)

// source is what a field is loaded from: equal sources give equal values.
type source struct {
	payload bool
	base    catalog.Base
	offset  int
	length  int
	text    string // of other loads: the expression with a fixed register
}

// loadOf recognises a load that can be a field, and gives its length.
func loadOf(e expr.Expr) (s source, dst expr.Reg, ok bool) {
	switch x := e.(type) {
	case *expr.Payload:
		if x.Write || x.Len == 0 || x.Len > 16 || x.Base > catalog.BaseTransport {
			return s, 0, false
		}
		return source{payload: true, base: x.Base, offset: int(x.Offset), length: int(x.Len)}, x.Dst, true
	case *expr.Meta:
		if x.Set || volatile(x.Key) {
			return s, 0, false
		}
		n := *x
		n.Dst = expr.Reg1
		return source{length: x.Key.Bytes(), text: string(n.AppendText(nil))}, x.Dst, x.Key.Bytes() <= 16
	case *expr.CT:
		if x.Set || x.Key == nil || x.Key.Bytes() > 16 || x.Key.Bytes() == 0 || x.Key.Family != catalog.FamilyUnspec || addressKey(x.Key) {
			return s, 0, false
		}
		n := *x
		n.Dst = expr.Reg1
		return source{length: x.Key.Bytes(), text: string(n.AppendText(nil))}, x.Dst, true
	}
	return s, 0, false
}

// volatile tells which meta keys give another value each time.
func volatile(k *catalog.Key) bool { return k == nil || k.Name == "random" || k.Bytes() == 0 }

// addressKey tells which keys have a length that depends on the table.
func addressKey(k *catalog.Key) bool { return k.Name == "saddr" || k.Name == "daddr" }

// loadFor makes the expression that loads a source.
func loadFor(s source, like expr.Expr) expr.Expr {
	if s.payload {
		return &expr.Payload{Base: s.base, Offset: uint32(s.offset), Len: uint32(s.length), Dst: expr.Reg1}
	}
	switch x := like.(type) {
	case *expr.Meta:
		n := *x
		n.Dst = expr.Reg1
		return &n
	case *expr.CT:
		n := *x
		n.Dst = expr.Reg1
		return &n
	}
	return like
}

// value is what a register holds: bytes of a source under a mask, exclusive-ored
// with constants.
type value struct {
	source    source
	mask, xor []byte
	load      int // the expression that loaded it
	at        int // register offset
}

func (v *value) length() int { return len(v.mask) }

// end is the first register byte behind the value, whole words.
func (v *value) end() int { return v.at + (v.length()+3)&^3 }

// registers are the values known at a point of a rule.
type registers []value

// forget drops what a write overwrites.
func (r *registers) forget(at, length int) {
	end := at + (length+3)&^3
	kept := (*r)[:0]
	for _, v := range *r {
		if v.end() <= at || v.at >= end {
			kept = append(kept, v)
		}
	}
	*r = kept
}

// set stores a value.
func (r *registers) set(v value) {
	r.forget(v.at, v.length())
	*r = append(*r, v)
}

// find returns the value that begins at a register, nil if none is known.
func (r registers) find(at int) *value {
	for i := range r {
		if r[i].at == at {
			return &r[i]
		}
	}
	return nil
}
