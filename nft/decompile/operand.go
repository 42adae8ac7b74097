package decompile

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// format says how a value reads: the data type, and what the selector that
// delivered it adds to the type.
type format struct {
	typ   *catalog.Type
	form  catalog.Form
	bits  int               // significant bits, 0 if unknown
	order catalog.ByteOrder // of the bytes in a register
	// shift is how far the value stands above bit 0: a masked load of bits
	// inside a byte that was not shifted down.
	shift int
	// short: the value holds only the leading bytes of an address.
	short bool
	// numeric: the type's symbols are not used in listings.
	numeric bool
	// unmasked: a payload field compared whole, whose flags print as a number.
	unmasked bool
}

func formatOf(t *catalog.Type) format {
	return format{typ: t, form: t.Form, bits: t.Bits, order: t.Order, numeric: numericType(t)}
}

// numericType says that values of a type are listed as numbers although it
// has symbols: what an ICMP code means depends on the ICMP type.
func numericType(t *catalog.Type) bool { return t == catalog.ICMPCode || t == catalog.ICMPv6Code }

// flags reports whether values are flags with names. Plain bitmasks are
// numbers.
func (f *format) flags() bool { return f.typ.Base == catalog.Bitmask }

// host reports whether the value's bytes are one little-endian number.
func (f *format) host() bool {
	return f.order == catalog.OrderHost && f.form != catalog.FormString
}

type operandKind uint8

const (
	operandSelector operandKind = iota // meta, ct, fib, …: the text is known
	operandPayload                     // bits of a header, named when used
	operandExthdr                      // bits of an extension header or option
	operandConstant
	operandBinary
	operandMap // what a map lookup delivers
	operandConcat
	operandHash // jhash of another operand
)

// operand is what a register holds, as far as the text needs it. Operands are
// made once and then only read.
type operand struct {
	kind operandKind
	format
	bytes int // in the register

	text syntax.Expr  // operandSelector
	meta *catalog.Key // operandSelector: a meta key, for the protocol context
	ct   *catalog.Key // operandSelector: a ct key

	base         catalog.Base // operandPayload
	offset       int          // operandPayload, operandExthdr: in bits
	tunnel       *layers      // loads inside a tunnel: its own context
	tunnelHeader *catalog.Protocol
	exthdr       *expr.Exthdr

	value []byte // operandConstant, memory order

	op          syntax.Operator // operandBinary
	left, right *operand
	shiftBy     uint32

	key     *operand // operandMap, operandHash
	set     *ruleset.Set
	setName string
	hash    *expr.Hash

	parts []*operand // operandConcat
}

// words is how many 4-byte registers the operand takes.
func (o *operand) words() int { return max((o.bytes+3)/4, 1) }

// reordered is the operand after a byte swap.
func (o *operand) reordered(order catalog.ByteOrder) *operand {
	c := *o
	c.order = order
	return &c
}
