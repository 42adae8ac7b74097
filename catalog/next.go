package catalog

// EtherTypes lists what an EtherType announces, NetworkProtocols what a
// packet's family (meta nfproto) does, and TransportProtocols what a protocol
// number (meta l4proto) does.
var (
	EtherTypes         []Next
	NetworkProtocols   []Next
	TransportProtocols []Next
)

// The headers announce each other in circles (VLAN in VLAN, IP in GRE), which
// initialisers of variables cannot express.
func init() {
	NetworkProtocols = []Next{{2, IP}, {10, IP6}}
	EtherTypes = []Next{{0x0800, IP}, {0x0806, ARP}, {0x86dd, IP6}, {0x8100, VLAN}, {0x88a8, VLAN}}
	TransportProtocols = []Next{
		{1, ICMP}, {2, IGMP}, {6, TCP}, {17, UDP}, {33, DCCP}, {47, GRE}, {47, GRETap}, {50, ESP}, {51, AH},
		{58, ICMPv6}, {108, Comp}, {132, SCTP}, {136, UDPLite},
	}
	Ether.Upper = EtherTypes
	VLAN.Upper = EtherTypes
	GRE.Upper = []Next{{0x0800, IP}, {0x86dd, IP6}}
	IP.Upper = TransportProtocols
	IP6.Upper = TransportProtocols
	AH.Upper = TransportProtocols
	Comp.Upper = TransportProtocols
}

// Protocols lists the protocols of the language.
var Protocols = []*Protocol{
	Ether, VLAN, ARP, IP, IP6, ICMP, ICMPv6, IGMP, TCP, UDP, UDPLite, SCTP, DCCP, TH,
	ESP, AH, Comp, VXLAN, Geneve, GRE, GRETap,
}

// ProtocolByName finds a protocol by its word, nil if there is none.
func ProtocolByName(name string) *Protocol {
	for _, p := range Protocols {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// NextByValue finds what a selector value announces, nil if nothing.
func (p *Protocol) NextByValue(value uint64) *Protocol { return nextByValue(p.Upper, value) }

// ValueOf gives the selector value that announces next, the first one in the
// table.
func (p *Protocol) ValueOf(next *Protocol) (uint64, bool) { return valueOf(p.Upper, next) }

// TransportByNumber finds a protocol by its IP protocol number, nil if none.
func TransportByNumber(number uint64) *Protocol { return nextByValue(TransportProtocols, number) }

// TransportNumber is the IP protocol number of a protocol.
func TransportNumber(p *Protocol) (uint64, bool) { return valueOf(TransportProtocols, p) }

// NetworkByEtherType finds a protocol by its EtherType, nil if none.
func NetworkByEtherType(etherType uint64) *Protocol { return nextByValue(EtherTypes, etherType) }

// EtherTypeOf is the EtherType of a protocol.
func EtherTypeOf(p *Protocol) (uint64, bool) { return valueOf(EtherTypes, p) }

func nextByValue(table []Next, value uint64) *Protocol {
	for _, n := range table {
		if n.Value == value {
			return n.Protocol
		}
	}
	return nil
}

func valueOf(table []Next, p *Protocol) (uint64, bool) {
	for _, n := range table {
		if n.Protocol == p {
			return n.Value, true
		}
	}
	return 0, false
}

// FieldAt finds the field at a place of the header, in bits; nil if no field
// has exactly that place. Fields that are tied to ICMP types are found only
// if icmpType is among them; pass -1 where the type is unknown.
func (p *Protocol) FieldAt(offset, bits, icmpType int) *Field {
	for i := range p.Fields {
		f := &p.Fields[i]
		if f.Offset == offset && f.Bits == bits && f.inType(icmpType) {
			return f
		}
	}
	return nil
}

func (f *Field) inType(icmpType int) bool {
	if f.IcmpTypes == nil {
		return true
	}
	for _, t := range f.IcmpTypes {
		if int(t) == icmpType {
			return true
		}
	}
	return false
}

// ByteOrder is the order of the field's bytes in a register.
func (f *Field) ByteOrder() ByteOrder {
	if f.Order != OrderNone {
		return f.Order
	}
	return f.Type.Order
}

// NumberForm is how the field's numbers print.
func (f *Field) NumberForm() Form {
	if f.Form != FormDecimal {
		return f.Form
	}
	return f.Type.Form
}

// Bytes is the range of whole bytes that holds the field.
func (f *Field) Bytes() (offset, length int) {
	first, last := f.Offset/8, (f.Offset+f.Bits-1)/8
	return first, last - first + 1
}
