package catalog

// The base types. They have no size of their own and cannot be declared with
// `type`.
var (
	Integer = &Type{ID: 4, Name: "integer", Description: "integer", PerLine: 5, NotDeclarable: true}
	Bitmask = &Type{ID: 3, Name: "bitmask", Description: "bitmask", Form: FormHex, Base: Integer, Bitmask: true, NotDeclarable: true}
	String  = &Type{ID: 5, Name: "string", Description: "string", Form: FormString, NotDeclarable: true}
	LLAddr  = &Type{ID: 6, Name: "ll_addr", Description: "link layer address", Form: FormMAC, Base: Integer, NotDeclarable: true}
)

// Verdict is the data type of verdict maps. The kernel has a number of its
// own for it: see VerdictTypeID.
var Verdict = &Type{ID: 1, Name: "verdict", Description: "netfilter verdict", Form: FormVerdict}

// VerdictTypeID is the number by which a map's data type says verdict to the
// kernel.
// Ref: include/uapi/linux/netfilter/nf_tables.h, NFT_DATA_VERDICT.
const VerdictTypeID uint32 = 0xffffff00

// Addresses.
var (
	IPv4Addr = &Type{ID: 7, Name: "ipv4_addr", Description: "IPv4 address", Bits: 32,
		Order: OrderNetwork, Form: FormIPv4, Base: Integer, Prefix: true, PerLine: 2}
	IPv6Addr = &Type{ID: 8, Name: "ipv6_addr", Description: "IPv6 address", Bits: 128,
		Order: OrderNetwork, Form: FormIPv6, Base: Integer, Prefix: true}
	EtherAddr = &Type{ID: 9, Name: "ether_addr", Description: "Ethernet address", Bits: 48,
		Order: OrderNetwork, Form: FormMAC, Base: LLAddr}
)

// Protocols and what their headers hold.
var (
	NFProto = &Type{ID: 2, Name: "nf_proto", Description: "netfilter protocol", Bits: 8,
		Form: FormSymbolic, Base: Integer, Symbols: nfProtoSymbols, DecimalSymbols: true, PerLine: 5}
	EtherType = &Type{ID: 10, Name: "ether_type", Description: "Ethernet protocol", Bits: 16,
		Order: OrderNetwork, Form: FormEtherType, Base: Integer, Symbols: etherTypeSymbols}
	ARPOp = &Type{ID: 11, Name: "arp_op", Description: "ARP operation", Bits: 16,
		Order: OrderNetwork, Form: FormSymbolic, Base: Integer, Symbols: arpOpSymbols, PerLine: 5}
	InetProto = &Type{ID: 12, Name: "inet_proto", Description: "Internet protocol", Bits: 8,
		Form: FormProtocol, Base: Integer, Symbols: protocolSymbols, DecimalSymbols: true, PerLine: 5}
	InetService = &Type{ID: 13, Name: "inet_service", Description: "internet network service", Bits: 16,
		Order: OrderNetwork, Form: FormService, Base: Integer, Symbols: serviceSymbols, DecimalSymbols: true,
		QuotedSymbols: true, PerLine: 5}
	ICMPType = &Type{ID: 14, Name: "icmp_type", Description: "ICMP type", Bits: 8,
		Order: OrderNetwork, Form: FormSymbolic, Base: Integer, Symbols: icmpTypeSymbols, DecimalSymbols: true}
	ICMPCode = &Type{ID: 32, Name: "icmp_code", Description: "icmp code", Bits: 8,
		Order: OrderNetwork, Form: FormSymbolic, Base: Integer, Symbols: icmpCodeSymbols, DecimalSymbols: true}
	ICMPv6Type = &Type{ID: 29, Name: "icmpv6_type", Description: "ICMPv6 type", Bits: 8,
		Order: OrderNetwork, Form: FormSymbolic, Base: Integer, Symbols: icmpv6TypeSymbols, DecimalSymbols: true}
	ICMPv6Code = &Type{ID: 33, Name: "icmpv6_code", Description: "icmpv6 code", Bits: 8,
		Order: OrderNetwork, Form: FormSymbolic, Base: Integer, Symbols: icmpv6CodeSymbols, DecimalSymbols: true}
	ICMPXCode = &Type{ID: 34, Name: "icmpx_code", Description: "icmpx code", Bits: 8,
		Order: OrderNetwork, Form: FormSymbolic, Base: Integer, Symbols: icmpxCodeSymbols, DecimalSymbols: true}
	IGMPType = &Type{ID: 42, Name: "igmp_type", Description: "IGMP type", Bits: 8,
		Order: OrderNetwork, Form: FormSymbolic, Base: Integer, Symbols: igmpTypeSymbols, DecimalSymbols: true}
	TCPFlag = &Type{ID: 15, Name: "tcp_flag", Description: "TCP flag", Bits: 8,
		Order: OrderNetwork, Form: FormBitmask, Base: Bitmask, Symbols: tcpFlagSymbols, Bitmask: true, PerLine: 5}
	DCCPPktType = &Type{ID: 16, Name: "dccp_pkttype", Description: "DCCP packet type", Bits: 4,
		Form: FormSymbolic, Base: Integer, Symbols: dccpTypeSymbols, PerLine: 5}
	MHType = &Type{ID: 17, Name: "mh_type", Description: "Mobility Header Type", Bits: 8,
		Order: OrderNetwork, Form: FormSymbolic, Base: Integer, Symbols: mhTypeSymbols, DecimalSymbols: true}
	DSCP = &Type{ID: 36, Name: "dscp", Description: "Differentiated Services Code Point", Bits: 6,
		Order: OrderNetwork, Form: FormHex, Base: Integer, Symbols: dscpSymbols}
	ECN = &Type{ID: 37, Name: "ecn", Description: "Explicit Congestion Notification", Bits: 2,
		Order: OrderNetwork, Form: FormSymbolic, Base: Integer, Symbols: ecnSymbols}
	// MPTCPSubtype is what `tcp option mptcp subtype` holds. For the kernel it
	// is an integer.
	MPTCPSubtype = &Type{ID: 4, Name: "integer", Description: "mptcp option subtype", Bits: 4,
		Form: FormSymbolic, Base: Integer, Symbols: mptcpSubtypeSymbols, DecimalSymbols: true, NotDeclarable: true}
)

// What the kernel knows of a packet besides its bytes.
var (
	Mark = &Type{ID: 19, Name: "mark", Description: "packet mark", Bits: 32,
		Order: OrderHost, Form: FormMark, Base: Integer, QuotedSymbols: true, PerLine: 5}
	IfIndex = &Type{ID: 20, Name: "iface_index", Description: "network interface index", Bits: 32,
		Order: OrderHost, Form: FormIfIndex, Base: Integer, PerLine: 5}
	IfName = &Type{ID: 41, Name: "ifname", Description: "network interface name", Bits: 128,
		Form: FormString, Base: String}
	IfType = &Type{ID: 21, Name: "iface_type", Description: "network interface type", Bits: 16,
		Order: OrderHost, Form: FormSymbolic, Base: Integer, Symbols: ifTypeSymbols}
	Realm = &Type{ID: 22, Name: "realm", Description: "routing realm", Bits: 32,
		Order: OrderHost, Form: FormRealm, Base: Integer, Symbols: realmSymbols, QuotedSymbols: true, HiddenSymbols: true}
	ClassID = &Type{ID: 23, Name: "classid", Description: "TC classid", Bits: 32,
		Order: OrderHost, Form: FormClassID, Base: Integer, Symbols: classIDSymbols, HiddenSymbols: true, PerLine: 5}
	UID = &Type{ID: 24, Name: "uid", Description: "user ID", Bits: 32,
		Order: OrderHost, Form: FormUID, Base: Integer, QuotedSymbols: true, PerLine: 5}
	GID = &Type{ID: 25, Name: "gid", Description: "group ID", Bits: 32,
		Order: OrderHost, Form: FormGID, Base: Integer, QuotedSymbols: true, PerLine: 5}
	PktType = &Type{ID: 31, Name: "pkt_type", Description: "packet type", Bits: 8,
		Order: OrderHost, Form: FormSymbolic, Base: Integer, Symbols: pktTypeSymbols, DecimalSymbols: true, PerLine: 2}
	DevGroup = &Type{ID: 35, Name: "devgroup", Description: "devgroup name", Bits: 32,
		Order: OrderHost, Form: FormDevGroup, Base: Integer, Symbols: devGroupSymbols, QuotedSymbols: true, HiddenSymbols: true}
	FibAddrType = &Type{ID: 38, Name: "fib_addrtype", Description: "fib address type", Bits: 32,
		Order: OrderHost, Form: FormSymbolic, Base: Integer, Symbols: fibTypeSymbols, DecimalSymbols: true}
	Boolean = &Type{ID: 39, Name: "boolean", Description: "boolean type", Bits: 1,
		Order: OrderHost, Form: FormBoolean, Base: Integer, Symbols: booleanSymbols, DecimalSymbols: true}
	CgroupV2 = &Type{ID: 46, Name: "cgroupsv2", Description: "cgroupsv2 path", Bits: 64,
		Order: OrderHost, Form: FormCgroup2, Base: Integer}
)

// Times.
var (
	// Time is a duration: milliseconds in the register.
	Time = &Type{ID: 18, Name: "time", Description: "relative time", Bits: 32,
		Order: OrderHost, Form: FormDuration, Base: Integer}
	// Date is the packet's arrival in nanoseconds since 1970 UTC.
	Date = &Type{ID: 43, Name: "time", Description: "Relative time of packet reception", Bits: 64,
		Order: OrderHost, Form: FormDate, Base: Integer, NotDeclarable: true}
	// Hour is the second of the UTC day.
	Hour = &Type{ID: 44, Name: "hour", Description: "Hour of day of packet reception", Bits: 32,
		Order: OrderHost, Form: FormHour, Base: Integer}
	Day = &Type{ID: 45, Name: "day", Description: "Day of week of packet reception", Bits: 8,
		Order: OrderNone, Form: FormDay, Base: Integer, Symbols: daySymbols, DecimalSymbols: true, QuotedSymbols: true}
)

// Connection tracking.
var (
	CTState = &Type{ID: 26, Name: "ct_state", Description: "conntrack state", Bits: 32,
		Order: OrderHost, Form: FormBitmask, Base: Bitmask, Symbols: ctStateSymbols, Bitmask: true, PerLine: 2}
	CTDir = &Type{ID: 27, Name: "ct_dir", Description: "conntrack direction", Bits: 8,
		Form: FormSymbolic, Base: Integer, Symbols: ctDirSymbols, DecimalSymbols: true, PerLine: 5}
	CTStatus = &Type{ID: 28, Name: "ct_status", Description: "conntrack status", Bits: 32,
		Order: OrderHost, Form: FormBitmask, Base: Bitmask, Symbols: ctStatusSymbols, Bitmask: true, PerLine: 2}
	CTLabel = &Type{ID: 30, Name: "ct_label", Description: "conntrack label", Bits: 128,
		Order: OrderHost, Form: FormLabel, Base: Bitmask, Bitmask: true, QuotedSymbols: true}
	CTEvent = &Type{ID: 40, Name: "ct_event", Description: "conntrack event bits", Bits: 32,
		Order: OrderHost, Form: FormBitmask, Base: Bitmask, Symbols: ctEventSymbols, Bitmask: true}
)

// Types lists the data types by number.
var Types = []*Type{
	Verdict, NFProto, Bitmask, Integer, String, LLAddr, IPv4Addr, IPv6Addr, EtherAddr, EtherType, ARPOp,
	InetProto, InetService, ICMPType, TCPFlag, DCCPPktType, MHType, Time, Mark, IfIndex, IfType, Realm,
	ClassID, UID, GID, CTState, CTDir, CTStatus, ICMPv6Type, CTLabel, PktType, ICMPCode, ICMPv6Code,
	ICMPXCode, DevGroup, DSCP, ECN, FibAddrType, Boolean, CTEvent, IfName, IGMPType, Date, Hour, Day, CgroupV2,
}

// TypeByName finds a data type by its name in declarations, nil if there is
// none. For `time`, which two types share, it gives the duration.
func TypeByName(name string) *Type {
	for _, t := range Types {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// TypeByID finds a data type by its number, nil if there is none. Both
// numbers of Verdict find it.
func TypeByID(id uint32) *Type {
	if id == VerdictTypeID {
		return Verdict
	}
	if id == 0 || int(id) > len(Types) {
		return nil
	}
	return Types[id-1]
}

// ConcatBits is how many bits of a concatenation's type number each of its
// parts takes; the first part is the most significant.
const ConcatBits = 6

// ConcatTypes splits the type number of a key into its parts, in order. It is
// nil if one of them is unknown.
func ConcatTypes(id uint32) []*Type {
	if id == VerdictTypeID {
		return []*Type{Verdict}
	}
	var parts []*Type
	for ; id != 0; id >>= ConcatBits {
		t := TypeByID(id & (1<<ConcatBits - 1))
		if t == nil {
			return nil
		}
		parts = append([]*Type{t}, parts...)
	}
	return parts
}

// ConcatID is the type number of a concatenation of types.
func ConcatID(parts []*Type) uint32 {
	var id uint32
	for _, t := range parts {
		id = id<<ConcatBits | t.ID
	}
	return id
}

// Bytes is the size of the type in whole bytes, 0 where it has none.
func (t *Type) Bytes() int { return (t.Bits + 7) / 8 }

// IsA reports whether the type is base or derives from it.
func (t *Type) IsA(base *Type) bool {
	for ; t != nil; t = t.Base {
		if t == base {
			return true
		}
	}
	return false
}
