package expr

import (
	"syscall"

	"verdict/catalog"
)

// NAT flags. Ref: include/uapi/linux/netfilter/nf_nat.h.
const (
	NATFlagMapIPs     uint32 = 1
	NATFlagProto      uint32 = 2
	NATFlagRandom     uint32 = 4
	NATFlagPersistent uint32 = 8
	NATFlagFully      uint32 = 16
	NATFlagOffset     uint32 = 32
	NATFlagNetmap     uint32 = 64

	natAll = 0x7f
)

// NAT translates source or destination addresses and ports. Registers are
// used where the Has fields say so.
// Ref: nft_nat.c.
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

// Kind is nat.
func (*NAT) Kind() string { return "nat" }

// AppendText appends `nat dnat ip addr_min reg 1 proto_min reg 2 flags 0x2`,
// with what applies of addr_min, addr_max, proto_min, proto_max and flags.
func (e *NAT) AppendText(b []byte) []byte {
	kind := "nat snat "
	if e.Destination {
		kind = "nat dnat "
	}
	b = append(append(b, kind...), catalog.Family(e.Family).String()...)
	b = appendNamedReg(b, "addr_min", e.AddrMin, e.HasAddr)
	b = appendNamedReg(b, "addr_max", e.AddrMax, e.HasAddrMax)
	b = appendPorts(b, e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax)
	return appendFlags(b, e.Flags)
}

func appendPorts(b []byte, lo Reg, hasLo bool, hi Reg, hasHi bool) []byte {
	b = appendNamedReg(b, "proto_min", lo, hasLo)
	return appendNamedReg(b, "proto_max", hi, hasHi)
}

// addressLen is the length of an address, 0 for families without one.
func (e *NAT) addressLen() uint32 { return addressLen(e.Family) }

func addressLen(family uint8) uint32 {
	switch family {
	case familyIP:
		return 4
	case familyIP6:
		return 16
	}
	return 0
}

const portLen = 2

// Check refuses unknown flags and rules with neither address nor port
// (EINVAL), a family other than the table's (EOPNOTSUPP), addresses without a
// family (EAFNOSUPPORT) and ports of no family (EPROTO).
// Ref: nft_nat.c, nft_nat_init.
func (e *NAT) Check(c *Checker) error {
	if err := checkNATFlags(e.Flags); err != nil {
		return err
	}
	switch {
	case !e.HasAddr && !e.HasProto:
		return refuse(syscall.EINVAL, "neither an address nor a port")
	case c.Place.Family != familyInet && c.Place.Family != e.Family:
		return refuse(syscall.EOPNOTSUPP, "family %d in a table of family %d", e.Family, c.Place.Family)
	case e.HasAddr && e.addressLen() == 0:
		return refuse(syscall.EAFNOSUPPORT, "an address of family %d", e.Family)
	}
	if e.HasAddr {
		if err := c.load(e.AddrMin, e.addressLen()); err != nil {
			return err
		}
		if e.HasAddrMax {
			if err := c.load(e.AddrMax, e.addressLen()); err != nil {
				return err
			}
		}
	}
	if err := c.loadPorts(e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax); err != nil {
		return err
	}
	switch e.Family {
	case familyIP, familyIP6, familyInet:
		return nil
	}
	return refuse(syscall.EPROTO, "family %d has no connection tracking", e.Family)
}

func (c *Checker) loadPorts(lo Reg, hasLo bool, hi Reg, hasHi bool) error {
	if !hasLo {
		return nil
	}
	if err := c.load(lo, portLen); err != nil {
		return err
	}
	if !hasHi {
		return nil
	}
	return c.load(hi, portLen)
}

func checkNATFlags(flags uint32) error {
	if flags&^natAll != 0 {
		return refuse(syscall.EINVAL, "unknown flags %#x", flags)
	}
	return nil
}

// Registers reads the addresses and ports that are there.
func (e *NAT) Registers(*Place) (u RegUse) {
	if e.HasAddr {
		u.addRead(e.AddrMin, e.addressLen())
		if e.HasAddrMax {
			u.addRead(e.AddrMax, e.addressLen())
		}
	}
	u.addPorts(e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax)
	return u
}

func (u *RegUse) addPorts(lo Reg, hasLo bool, hi Reg, hasHi bool) {
	if !hasLo {
		return
	}
	u.addRead(lo, portLen)
	if hasHi {
		u.addRead(hi, portLen)
	}
}

func parseNAT(p *textParser) Expr {
	e := &NAT{Destination: p.oneOf("kind", []string{"snat", "dnat"}) == 1}
	start := p.space()
	w := p.word()
	f, ok := catalog.FamilyByName(w)
	if !ok {
		p.failAt(start, "unknown family %s", found(w))
	}
	e.Family = uint8(f)
	if e.AddrMin, e.HasAddr = p.namedReg("addr_min"); e.HasAddr {
		e.AddrMax, e.HasAddrMax = p.namedReg("addr_max")
	}
	e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax = p.ports()
	e.Flags = p.flags()
	return e
}

// ports reads `proto_min reg N` and `proto_max reg N` where they are there.
func (p *textParser) ports() (lo Reg, hasLo bool, hi Reg, hasHi bool) {
	if lo, hasLo = p.namedReg("proto_min"); hasLo {
		hi, hasHi = p.namedReg("proto_max")
	}
	return
}
