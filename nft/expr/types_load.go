package expr

import "verdict/catalog"

// Payload loads bytes of the packet into a register, or writes them
// (Write true, then Src is read).
type Payload struct {
	Base        catalog.Base
	Offset, Len uint32
	Dst, Src    Reg
	Write       bool
	CsumType    uint32 // 0 none, 1 inet, 2 sctp
	CsumOffset  uint32
	CsumFlags   uint32 // 1: pseudo header
}

// Meta loads a meta key into Dst, or sets it from Src.
type Meta struct {
	Key      *catalog.Key
	Dst, Src Reg
	Set      bool
}

// CT loads a conntrack key into Dst, or sets it from Src.
type CT struct {
	Key      *catalog.Key
	Dst, Src Reg
	Set      bool
	HasDir   bool
	Dir      uint8 // 0 original, 1 reply
}

// RT loads a routing key.
type RT struct {
	Key *catalog.Key // classid, nexthop4, nexthop6, tcpmss, ipsec
	Dst Reg
}

// Socket loads a property of the socket that would take the packet.
type Socket struct {
	Key   *catalog.Key // transparent, mark, wildcard, cgroupv2
	Level uint32
	Dst   Reg
}

// Fib result kinds. Ref: include/uapi/linux/netfilter/nf_tables.h.
const (
	FibResultOif     uint32 = 1
	FibResultOifname uint32 = 2
	FibResultType    uint32 = 3
)

// Fib flags.
const (
	FibSaddr   uint32 = 1
	FibDaddr   uint32 = 2
	FibMark    uint32 = 4
	FibIif     uint32 = 8
	FibOif     uint32 = 16
	FibPresent uint32 = 32
)

// Fib looks up the routing table.
type Fib struct {
	Result uint32
	Flags  uint32
	Dst    Reg
}

// Exthdr operations. Ref: enum nft_exthdr_op.
const (
	ExthdrIPv6   uint32 = 0
	ExthdrTCPOpt uint32 = 1
	ExthdrIPv4   uint32 = 2
	ExthdrSCTP   uint32 = 3
	ExthdrDCCP   uint32 = 4
)

// Exthdr loads from an extension header or option, writes into a TCP option
// (Write) or blanks one out (Strip).
type Exthdr struct {
	Op          uint32 // ExthdrIPv6, …
	Type        uint8
	Offset, Len uint32
	Present     bool // load 1 or 0 for presence
	Dst, Src    Reg
	Write       bool
	Strip       bool
}

// Inner runs a payload or meta expression on the packet inside a tunnel.
type Inner struct {
	Type, HdrSize, Flags uint32
	Expr                 Expr // *Payload or *Meta
}

// Numgen makes numbers, counting or random.
type Numgen struct {
	Random      bool
	Mod, Offset uint32
	Dst         Reg
}

// Hash hashes a register (jenkins) or the flow (symmetric).
type Hash struct {
	Symmetric         bool
	Src, Dst          Reg
	Len               uint32
	Seed, Mod, Offset uint32
	HasSeed           bool
}

// OSF fingerprints the sender's operating system.
type OSF struct {
	Dst   Reg
	TTL   uint8  // 0 true, 1 loose, 2 skip
	Flags uint32 // 1: version
}

// XFRM loads a key of the IPsec transformation.
type XFRM struct {
	Key   *catalog.Key // reqid, spi, saddr4, daddr4, saddr6, daddr6
	Out   bool
	Spnum uint32
	Dst   Reg
}

// Tunnel loads a key of tunnel metadata.
type Tunnel struct {
	Key *catalog.Key // path, id
	Dst Reg
}
