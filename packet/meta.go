package packet

// Name is an interface name or kind, padded with zeros.
type Name [16]byte

// MakeName returns s as Name. What does not fit into 15 bytes is left out,
// so that the last byte is always zero.
func MakeName(s string) Name {
	var n Name
	copy(n[:15], s)
	return n
}

// String returns the name without its padding.
func (n Name) String() string {
	for i, b := range n {
		if b == 0 {
			return string(n[:i])
		}
	}
	return string(n[:])
}

// Device is what meta can read of an interface. The zero Device is none.
type Device struct {
	Name  Name   // first: a copy of a Device then stores it in one piece
	Kind  Name   // of the link operations, empty if none: "vlan", "veth"
	Index uint32 // 0: no device
	Group uint32
	Type  uint16 // ARPHRD_
}

// Exists reports whether there is a device.
func (d *Device) Exists() bool { return d.Index != 0 }

// MetaHas says which optional facts of a Meta are given.
type MetaHas uint16

const (
	HasSKUID     MetaHas = 1 << iota // a socket with owner: SKUID
	HasSKGID                         // a socket with owner: SKGID
	HasCGroup                        // a socket with class id
	HasRtClassID                     // a route
	HasPktType                       // PktType is decided
	HasPVID                          // the bridge port has a PVID and the bridge a VLAN protocol
)

// Meta is what nft's meta can read and set that does not come from the
// packet's bytes. Values are plain integers; meta stores them in a register
// as little-endian, as do rules that were compiled for such a machine.
// The zero Meta is a packet without interfaces, socket and route.
//
// Ref: nft_meta.c
type Meta struct {
	Has MetaHas

	IIF, OIF Device
	// BridgeIn and BridgeOut are the names of the bridges that IIF and OIF
	// are ports of, empty if none.
	BridgeIn, BridgeOut Name
	BridgePVID          uint16
	BridgeVLANProto     uint16  // EtherType
	BridgeHWAddr        [6]byte // of the bridge that IIF is a port of

	SDIF     uint32 // index of the VRF's port, 0 if none
	SDIFName Name

	Mark      uint32
	Priority  uint32
	SKUID     uint32
	SKGID     uint32
	CGroup    uint32
	RtClassID uint32
	Secmark   uint32
	CPU       uint32
	PktType   PktType
	NFTrace   bool
	SecPath   bool // the packet came out of IPsec
	BRoute    bool // meta broute set 1 was executed

	// Time is when the packet came, in nanoseconds since the epoch: the
	// capture's timestamp.
	Time int64
}

// Reset makes m the zero Meta.
func (m *Meta) Reset() { *m = Meta{} }
