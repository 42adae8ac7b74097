package expr

// Immediate puts a value or verdict into a register.
type Immediate struct {
	Dst  Reg
	Data Data
}

// CmpOp is the relation of a Cmp. Ref: enum nft_cmp_ops.
type CmpOp uint8

// The relations.
const (
	CmpEq CmpOp = iota
	CmpNeq
	CmpLt
	CmpLte
	CmpGt
	CmpGte
)

// Cmp compares a register with a constant, bytewise unsigned.
type Cmp struct {
	Src   Reg
	Op    CmpOp
	Value Value
}

// Range compares a register with a closed interval; Neq inverts.
type Range struct {
	Src      Reg
	Neq      bool
	From, To Value
}

// BitwiseOp is the operation of a Bitwise. Ref: enum nft_bitwise_ops.
type BitwiseOp uint8

// The operations.
const (
	BitwiseMaskXor BitwiseOp = iota
	BitwiseLshift
	BitwiseRshift
	BitwiseAnd
	BitwiseOr
	BitwiseXor
)

// Bitwise computes on Len bytes: (Src & Mask) ^ Xor, a shift by Shift bits,
// or Src op Data / Src op Src2.
type Bitwise struct {
	Src, Dst  Reg
	Len       uint32
	Op        BitwiseOp
	Mask, Xor Value  // BitwiseMaskXor
	Shift     uint32 // shifts
	Data      Value  // and, or, xor with a constant
	Src2      Reg    // and, or, xor with a register
	HasSrc2   bool
}

// Byteorder swaps between host and network order.
type Byteorder struct {
	Src, Dst  Reg
	ToHost    bool // ntoh; else hton (the same operation, another text)
	Len, Size uint32
}

// Lookup looks a key up in a set. With HasDst it delivers the map's data;
// Dst RegVerdict makes it a verdict map.
type Lookup struct {
	Set    string // as in the ruleset: __set%d before, __set0 after loading
	SetID  uint32 // the set's number within its batch, 0 if unknown
	Src    Reg
	Dst    Reg
	HasDst bool
	Invert bool
}

// DynsetOp is what a Dynset does. Ref: enum nft_dynset_ops.
type DynsetOp uint8

// The operations.
const (
	DynsetAdd DynsetOp = iota
	DynsetUpdate
	DynsetDelete
)

// Dynset adds, updates or deletes an element of a set from a rule.
type Dynset struct {
	Set     string
	SetID   uint32
	Op      DynsetOp
	Key     Reg
	Data    Reg
	HasData bool
	Timeout uint64 // milliseconds, 0: the set's default
	Exprs   []Expr // stateful expressions of the element
	Invert  bool
}

// Objref runs a named stateful object, or the one a map yields.
type Objref struct {
	Type ObjectType
	Name string
	// Map form: Set and Src.
	Set   string
	SetID uint32
	Src   Reg
	IsMap bool
}
