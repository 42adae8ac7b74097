package catalog

// Base is the header a payload offset counts from.
// Ref: include/uapi/linux/netfilter/nf_tables.h, enum nft_payload_bases.
type Base uint8

// The payload bases.
const (
	BaseLink Base = iota
	BaseNetwork
	BaseTransport
	BaseInner
	BaseTunnel
)

func (b Base) String() string {
	return [...]string{"link", "network", "transport", "inner", "tunnel"}[min(b, BaseTunnel)]
}

// Field is a field of a header, in bits from the start of the header; bit 0
// is the most significant bit of the first byte.
type Field struct {
	Name         string
	Type         *Type
	Offset, Bits int
	Order        ByteOrder // of the field itself where it differs from the type's
	Form         Form      // how numbers print; FormDecimal leaves it to the type
	// IcmpTypes: the field exists only in these ICMP types, tested first.
	IcmpTypes []uint8
	// Pseudo: the transport checksum covers the field, so that writing it
	// updates that checksum too.
	Pseudo bool
}

// Next names the protocol that a selector value announces.
type Next struct {
	Value    uint64
	Protocol *Protocol
}

// Protocol is a header with its fields.
type Protocol struct {
	Name   string // the word of the language: ip, tcp, …
	Base   Base
	Fields []Field
	// Selector is the index of the field that names the next protocol, -1 if
	// there is none; Upper lists what it announces.
	Selector int
	Upper    []Next
	// ChecksumOffset is the byte offset of the checksum that a write to the
	// header updates, -1 if none; ChecksumType is its kind.
	ChecksumOffset int
	ChecksumType   uint32
	Tunnel         *TunnelHeader // nil for protocols that carry no packets
}

// TunnelHeader describes how packets inside a tunnel are reached.
// Ref: nft_inner.c.
type TunnelHeader struct {
	InnerType  uint32 // number in the inner expression: 1 vxlan, 2 geneve, 3 gre…
	HeaderSize uint32
	Flags      uint32
}

// Checksum types. Ref: enum nft_payload_csum_types.
const (
	ChecksumNone uint32 = 0
	ChecksumInet uint32 = 1
	ChecksumSCTP uint32 = 2
)

// Inner flags: which headers are looked for inside a tunnel.
// Ref: include/uapi/linux/netfilter/nf_tables.h, enum nft_inner_flags.
const (
	InnerHeaderSize uint32 = 1
	InnerLink       uint32 = 2
	InnerNetwork    uint32 = 4
	InnerTransport  uint32 = 8
)

// FieldByName finds a field, nil if there is none.
func (p *Protocol) FieldByName(name string) *Field {
	for i := range p.Fields {
		if p.Fields[i].Name == name {
			return &p.Fields[i]
		}
	}
	return nil
}

// Option is a TCP option, IP option, IPv6 extension header, SCTP chunk or
// DCCP option kind with its fields.
type Option struct {
	Name   string
	Kind   uint8 // option kind, chunk type, or extension header's protocol number
	Fields []OptionField
	// RoutingType is the type of routing header that has these fields, for
	// rt0, rt2 and srh; -1 elsewhere.
	RoutingType int
}

// OptionField is a field of an Option, in bits from its start.
type OptionField struct {
	Name         string
	Type         *Type
	Offset, Bits int
	Form         Form
	// Step is the distance in bits between the elements of an indexed field
	// (addr[N], sid[N]), 0 for plain fields.
	Step int
	// Indices is how many elements an indexed field has, counted from 1.
	Indices int
	// Order of the field where it differs from the type's.
	Order ByteOrder
}

// FieldByName finds a field, nil if there is none.
func (o *Option) FieldByName(name string) *OptionField {
	for i := range o.Fields {
		if o.Fields[i].Name == name {
			return &o.Fields[i]
		}
	}
	return nil
}
