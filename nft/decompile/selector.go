package decompile

import (
	"verdict/catalog"
	"verdict/nft/syntax"
)

// name writes what an operand is and says how its values read. It drops the
// protocol tests that the text implies.
func (r *rule) name(o *operand) (syntax.Expr, format) {
	x, f := r.nameKind(o)
	switch o.kind {
	case operandConstant, operandMap, operandConcat:
	default:
		f.order = o.order // a byte swap may have turned it
	}
	return x, f
}

func (r *rule) nameKind(o *operand) (syntax.Expr, format) {
	switch o.kind {
	case operandPayload:
		return r.namePayload(o)
	case operandExthdr:
		return r.nameExthdr(o)
	case operandConstant:
		f := format{typ: catalog.Integer, form: catalog.FormHex, bits: len(o.value) * 8}
		return r.o.literal(&f, o.value), f
	case operandBinary:
		return r.nameBinary(o)
	case operandMap:
		return r.nameMap(o)
	case operandHash:
		return r.hashText(o), o.format
	case operandConcat:
		x := &syntax.Concat{Parts: make([]syntax.Expr, len(o.parts))}
		for i, p := range o.parts {
			x.Parts[i], _ = r.name(p)
		}
		return x, format{typ: catalog.Integer}
	}
	if o.ct != nil && (o.ct.Bytecode == "src" || o.ct.Bytecode == "dst") {
		r.drop(&r.outer, slotNetwork)
	}
	return o.text, o.format
}

// valueAs writes an operand that is used as a value: constants read as want
// says.
func (r *rule) valueAs(o *operand, want *format) syntax.Expr {
	if o == nil {
		return decimal(0)
	}
	switch o.kind {
	case operandConstant:
		return r.o.literal(want, o.value)
	case operandMap:
		return r.mapAs(o, []format{*want}, false)
	}
	x, _ := r.name(o)
	return x
}

// nameParts writes an operand and gives the formats of its parts: one for
// each field of a concatenation, else one.
func (r *rule) nameParts(o *operand) (syntax.Expr, []format) {
	if o.kind != operandConcat {
		x, f := r.name(o)
		return x, []format{f}
	}
	x := &syntax.Concat{Parts: make([]syntax.Expr, len(o.parts))}
	formats := make([]format, len(o.parts))
	for i, p := range o.parts {
		x.Parts[i], formats[i] = r.name(p)
	}
	return x, formats
}
