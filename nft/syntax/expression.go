package syntax

import "verdict/catalog"

// Expr is an expression: a value, a selector of something in the packet or
// its context, or an operation on them.
type Expr interface {
	Node
	expr()
}

// LiteralKind says how a literal was written, which decides how it may be
// read: "eth*" quoted is a wildcard, `3d` may be a time, `10` a number or a
// port.
type LiteralKind uint8

// The kinds of literals.
const (
	LitWord   LiteralKind = iota // bare: accept, 10.0.0.1, 1d2h, ::1, 00:11:22:33:44:55
	LitQuoted                    // "…", Text without the quotes
	LitNumber                    // decimal, 0x hex or 0 octal; Text as written
)

// Literal is a value or symbol whose meaning depends on where it stands.
type Literal struct {
	At
	Kind LiteralKind
	Text string
	// Value is the number of a LitNumber. A negative number has its two's
	// complement, and its sign in Text. Numbers over 64 bits are LitWord.
	Value uint64
}

// Variable is $NAME.
type Variable struct {
	At
	Name string
}

// SetRef is @NAME.
type SetRef struct {
	At
	Name string
}

// SetLiteral is { … }: an anonymous set or map, or a list of elements.
type SetLiteral struct {
	At
	Elements []Expr // *Element, or a nested *SetLiteral/*Variable that expands
	// PerLine is the number of elements on a line, 0 where all stand on one.
	PerLine int
	// Notes are the comments and blank lines around elements, by index.
	Notes []Note
	// End holds the comments behind the last element.
	End []Comment
}

// Note is what stands around the element with an index.
type Note struct {
	Index int
	Trivia
}

// Element is one element of a set or map, with what belongs to it.
type Element struct {
	At
	Key        Expr // *Wildcard for the catch-all element
	Data       Expr // map data or verdict; nil in sets
	Statements []Statement
	Timeout    *Duration
	Never      bool // `timeout never`
	Expires    *Duration
	Comment    Word
}

// Wildcard is the catch-all key *.
type Wildcard struct{ At }

// List is A,B,C outside braces: flags of a bitmask type.
type List struct {
	At
	Items []Expr
}

// Concat is A . B . C.
type Concat struct {
	At
	Parts []Expr
}

// Range is A-B.
type Range struct {
	At
	From, To Expr
}

// Prefix is A/N.
type Prefix struct {
	At
	Base   Expr
	Length Expr // *Literal number or *Variable
}

// Operator is a binary operator.
type Operator uint8

// The operators. OpImplicit stands for an unwritten comparison.
const (
	OpImplicit Operator = iota
	OpEq
	OpNeq
	OpLt
	OpLte
	OpGt
	OpGte
	OpAnd
	OpOr
	OpXor
	OpLshift
	OpRshift
	OpNot // `FLAGS ! x`: none of these bits is set
)

// Binary is L op R for the bitwise operators and shifts.
type Binary struct {
	At
	Op          Operator
	Left, Right Expr
}

// MapExpr is KEY map { … } or KEY map @m; a Verdict map (vmap) gives verdicts.
type MapExpr struct {
	At
	Key     Expr
	Map     Expr // *SetLiteral, *SetRef, *Variable
	Verdict bool
}

// FlagMatch is `VALUE / MASK` behind a flags field: the right side of
// `tcp flags syn / syn,ack`.
type FlagMatch struct {
	At
	Value, Mask Expr
}

// HeaderField is a field of a protocol header: `tcp dport`. Both names are as
// written; they are rows of the catalog.
type HeaderField struct {
	At
	Protocol Word
	Field    Word
}

// Inner is a match in the packet inside a tunnel: `vxlan ip saddr`.
type Inner struct {
	At
	Tunnel Word // vxlan, geneve, gre, gretap
	Expr   Expr // *HeaderField, or *Meta
}

// RawPayload is @BASE,OFFSET,LENGTH in bits.
type RawPayload struct {
	At
	Base           Word // ll, nh, th, ih
	Offset, Length uint32
}

// Meta is `meta KEY` or one of the keys that stand alone, such as iifname.
type Meta struct {
	At
	Key       Word
	Qualified bool // written with `meta`
}

// CT is `ct [DIRECTION] [ip|ip6] KEY`.
type CT struct {
	At
	Key       Word
	Direction Word // original, reply
	Family    Word // ip, ip6
}

// RT is `rt [ip|ip6] KEY` of routing data.
type RT struct {
	At
	Key    Word // classid, nexthop, mtu, ipsec
	Family Word
}

// Socket is `socket KEY [level N]`.
type Socket struct {
	At
	Key   Word
	Level *Number
}

// Fib is `fib FLAG . FLAG RESULT`.
type Fib struct {
	At
	Flags  []Word // saddr, daddr, mark, iif, oif
	Result Word   // oif, oifname, type, check
}

// OSF is `osf [ttl loose|skip] name|version`.
type OSF struct {
	At
	TTL Word
	Key Word
}

// Numgen is `numgen inc|random mod N [offset N]`.
type Numgen struct {
	At
	Mode        Word
	Mod, Offset *Number
}

// Hash is `jhash EXPR mod N [seed N] [offset N]` or `symhash mod N …`.
type Hash struct {
	At
	Symmetric         bool
	Of                Expr
	Mod, Seed, Offset *Number
}

// IPsec is `ipsec in|out [spnum N] KEY`.
type IPsec struct {
	At
	Direction Word
	Spnum     *Number
	Family    Word // ip, ip6 for the addresses
	Key       Word // reqid, spi, saddr, daddr
}

// TunnelMeta is `tunnel path|id`.
type TunnelMeta struct {
	At
	Key Word
}

// ExthdrField is a field of an IPv6 extension header: `frag id`,
// `srh sid[1]`, or `exthdr frag` (Field empty) in an existence test.
type ExthdrField struct {
	At
	Header Word
	Field  Word
	Index  *Number // for addr[N], sid[N]
}

// TCPOption is `tcp option KIND FIELD`, or `tcp option @KIND,OFF,LEN`.
// Field is empty in an existence test.
type TCPOption struct {
	At
	Kind           Word // name (also sack0 to sack3) or number
	Field          Word
	Raw            bool
	RawKind        uint8
	Offset, Length uint32 // bits, for the raw form
}

// IPOption is `ip option NAME FIELD`.
type IPOption struct {
	At
	Name, Field Word
}

// SCTPChunk is `sctp chunk TYPE FIELD`; Field is empty in an existence test.
type SCTPChunk struct {
	At
	Type, Field Word
}

// DCCPOption is `dccp option N`, for existence tests.
type DCCPOption struct {
	At
	Kind Word
}

// VerdictExpr is a verdict as a value: in a vmap, or as a statement.
type VerdictExpr struct {
	At
	Kind catalog.VerdictKind
	// Chain is the target of jump and goto: *Literal or *Variable.
	Chain Expr
	// Block is the anonymous chain of `jump { … }`: rules in order.
	Block []Item
}

func (*Literal) expr()     {}
func (*Variable) expr()    {}
func (*SetRef) expr()      {}
func (*SetLiteral) expr()  {}
func (*Element) expr()     {}
func (*Wildcard) expr()    {}
func (*List) expr()        {}
func (*Concat) expr()      {}
func (*Range) expr()       {}
func (*Prefix) expr()      {}
func (*Binary) expr()      {}
func (*MapExpr) expr()     {}
func (*FlagMatch) expr()   {}
func (*HeaderField) expr() {}
func (*Inner) expr()       {}
func (*RawPayload) expr()  {}
func (*Meta) expr()        {}
func (*CT) expr()          {}
func (*RT) expr()          {}
func (*Socket) expr()      {}
func (*Fib) expr()         {}
func (*OSF) expr()         {}
func (*Numgen) expr()      {}
func (*Hash) expr()        {}
func (*IPsec) expr()       {}
func (*TunnelMeta) expr()  {}
func (*ExthdrField) expr() {}
func (*TCPOption) expr()   {}
func (*IPOption) expr()    {}
func (*SCTPChunk) expr()   {}
func (*DCCPOption) expr()  {}
func (*VerdictExpr) expr() {}
