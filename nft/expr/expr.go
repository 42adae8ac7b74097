package expr

import "verdict/catalog"

// Expr is one expression of a rule. Each file of this package that is named
// after an expression defines one.
type Expr interface {
	// Kind is the expression's name in bytecode text and in the kernel: cmp,
	// payload, lookup, …
	Kind() string
	// AppendText appends the text of the expression without brackets, such as
	// `payload load 2b @ transport header + 2 => reg 1`.
	AppendText(b []byte) []byte
	// Check makes the checks of the kernel's init function: operands, lengths,
	// registers (also that every register read was written by an earlier
	// expression of the rule). The error is a *Error.
	Check(c *Checker) error
	// Registers tells which registers the expression reads and writes. The
	// place is needed where lengths depend on a set or the family; a set that
	// does not exist counts as one with keys and data of no length.
	Registers(p *Place) RegUse
}

// Reg is a register by its netlink number: 0 is the verdict register, 1 to 4
// the 16-byte registers, 8 to 23 the 4-byte registers. 1 covers 8 to 11, and
// so on.
// Ref: nf_tables_api.c, nft_parse_register.
type Reg uint8

// The registers' numbers.
const (
	RegVerdict Reg = 0
	Reg1       Reg = 1
	Reg2       Reg = 2
	Reg3       Reg = 3
	Reg4       Reg = 4
	Reg32_00   Reg = 8
	Reg32_15   Reg = 23
)

// FileSize is the size of a register file in bytes: 4 words of verdict and 16
// words of data.
const FileSize = 80

// Valid reports whether the number names a register.
func (r Reg) Valid() bool { return r <= Reg4 || (r >= Reg32_00 && r <= Reg32_15) }

// Offset is the register's first byte in the register file; -1 for numbers
// that name no register.
func (r Reg) Offset() int {
	switch {
	case r == RegVerdict:
		return 0
	case r <= Reg4:
		return 16 * int(r)
	case r >= Reg32_00 && r <= Reg32_15:
		return 16 + 4*int(r-Reg32_00)
	}
	return -1
}

// Value is a constant in memory order, as it meets a register: packet data in
// network order, host-order data little endian.
type Value struct {
	Bytes []byte
	// Host says that the bytes are one little-endian number, which text shows
	// most significant byte first. The kernel does not keep it; it serves
	// only the text of a rule that was just compiled.
	Host bool
}

// Verdict is a verdict with its target chain for jump and goto.
type Verdict struct {
	Kind  catalog.VerdictKind
	Chain string
}

// Data is what an immediate or a map element holds: a value, or a verdict
// (Verdict non-nil).
type Data struct {
	Value   Value
	Verdict *Verdict
}

// ObjectType is the kind of a stateful object, with the kernel's numbers.
// Ref: include/uapi/linux/netfilter/nf_tables.h, NFT_OBJECT_*.
type ObjectType uint32

// The object types.
const (
	ObjectCounter       ObjectType = 1
	ObjectQuota         ObjectType = 2
	ObjectCTHelper      ObjectType = 3
	ObjectLimit         ObjectType = 4
	ObjectConnLimit     ObjectType = 5
	ObjectTunnel        ObjectType = 6
	ObjectCTTimeout     ObjectType = 7
	ObjectSecmark       ObjectType = 8
	ObjectCTExpectation ObjectType = 9
	ObjectSynproxy      ObjectType = 10
)
