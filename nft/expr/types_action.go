package expr

// Counter counts packets and bytes. The values are those it starts from.
type Counter struct{ Packets, Bytes uint64 }

// Limit is a token bucket.
type Limit struct {
	Rate, Unit uint64 // Rate per Unit seconds
	Burst      uint32
	Bytes      bool
	Over       bool
}

// Quota matches until, or from, a number of bytes.
type Quota struct {
	Bytes, Consumed uint64
	Over            bool
}

// ConnLimit counts connections.
type ConnLimit struct {
	Count uint32
	Over  bool
}

// Last remembers when the rule matched last.
type Last struct {
	Set   bool
	Msecs uint64
}

// Log logs the packet. Which attributes are present matters for the text.
type Log struct {
	Prefix     string
	HasPrefix  bool
	Group      uint16
	HasGroup   bool
	Snaplen    uint32
	HasSnaplen bool
	QThreshold uint16
	HasQThresh bool
	Level      uint32
	HasLevel   bool
	Flags      uint32 // 1 tcpseq, 2 tcpopt, 4 ipopt, 8 uid, 0x20 macdecode
	HasFlags   bool
}

// Reject types. Ref: enum nft_reject_types.
const (
	RejectICMP  uint32 = 0
	RejectTCP   uint32 = 1
	RejectICMPX uint32 = 2
)

// Reject answers and drops.
type Reject struct {
	Type uint32
	Code uint8
}

// NAT flags. Ref: include/uapi/linux/netfilter/nf_nat.h.
const (
	NATFlagProto      uint32 = 2
	NATFlagRandom     uint32 = 4
	NATFlagPersistent uint32 = 8
	NATFlagFully      uint32 = 16
	NATFlagNetmap     uint32 = 64
)

// NAT translates source or destination addresses and ports. Registers are
// used where the Has fields say so.
type NAT struct {
	Destination        bool
	Family             uint8 // 2 ip, 10 ip6, 1 inet (ports only)
	AddrMin, AddrMax   Reg
	ProtoMin, ProtoMax Reg
	HasAddr            bool
	HasAddrMax         bool
	HasProto           bool
	HasProtoMax        bool
	Flags              uint32
}

// Masq is masquerade; Redir is redirect.
type Masq struct {
	ProtoMin, ProtoMax Reg
	HasProto           bool
	HasProtoMax        bool
	Flags              uint32
}

// Redir redirects to the host itself.
type Redir struct {
	ProtoMin, ProtoMax Reg
	HasProto           bool
	HasProtoMax        bool
	Flags              uint32
}

// TProxy hands the packet to a local socket.
type TProxy struct {
	Family           uint8 // 2, 10, or 0 for either
	Addr, Port       Reg
	HasAddr, HasPort bool
}

// Synproxy answers SYN packets in place of the server.
type Synproxy struct {
	MSS    uint16
	WScale uint8
	Flags  uint32 // 1 mss, 2 wscale, 4 sack-perm, 8 timestamp
}

// Queue hands the packet to user space.
type Queue struct {
	Num, Total uint16 // Total queues from Num
	Flags      uint16 // 1 bypass, 2 fanout
	Src        Reg    // queue number from a register
	HasSrc     bool
}

// Dup sends a copy elsewhere.
type Dup struct {
	Addr, Dev       Reg
	HasAddr, HasDev bool
}

// Fwd forwards the packet to a device.
type Fwd struct {
	Dev, Addr Reg
	HasAddr   bool
	NFProto   uint8
}

// Notrack exempts the packet from connection tracking.
type Notrack struct{}

// FlowOffload puts the connection into a flowtable.
type FlowOffload struct{ Flowtable string }

// XT stands for an iptables extension in a rule of iptables-nft. It has no
// native form.
type XT struct {
	Target bool
	Name   string
	Rev    uint32
	Info   []byte
}
