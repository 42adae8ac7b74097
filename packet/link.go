package packet

import "encoding/binary"

// ethernetPktType tells what a destination address says by itself. data
// holds at least six bytes.
func ethernetPktType(data []byte) PktType {
	if data[0]&1 == 0 {
		return PktUnicast
	}
	if binary.BigEndian.Uint32(data) == 0xffffffff && binary.BigEndian.Uint16(data[4:]) == 0xffff {
		return PktBroadcast
	}
	return PktMulticast
}

// decodeOther handles every link type but complete Ethernet headers.
func (v *View) decodeOther() {
	v.OuterType = 0
	v.PktType = PktHost
	v.MacLen = 0
	switch v.Link {
	case LinkEthernet:
		v.shortEthernet()
	case LinkRaw, LinkRawBSD, LinkRawOpenBSD:
		v.setNetwork(0, v.versionType(0))
	case LinkIPv4:
		v.setNetwork(0, TypeIPv4)
	case LinkIPv6:
		v.setNetwork(0, TypeIPv6)
	case LinkNull:
		v.setNetwork(min(4, v.OrigLen), v.familyType(false))
	case LinkLoop:
		v.setNetwork(min(4, v.OrigLen), v.familyType(true))
	case LinkPPP, LinkPPPHDLC:
		v.decodePPP(0)
	case LinkPPPPPPD, LinkPPPWithDir:
		if len(v.Data) > 0 && v.Data[0] != 0 {
			v.PktType = PktOutgoing
		}
		v.decodePPP(min(1, v.OrigLen))
	case LinkCiscoHDLC:
		v.decodeCiscoHDLC(0)
	case LinkPPPoE:
		v.decodePPPoE(0)
	case LinkLinuxSLL:
		v.decodeCooked1()
	case LinkLinuxSLL2:
		v.decodeCooked2()
	case LinkNFLOG:
		v.decodeNFLOG()
	default:
		v.setNetwork(0, 0)
	}
}

// shortEthernet is a frame of which less than the Ethernet header exists or
// was captured.
func (v *View) shortEthernet() {
	v.PktType = PktUnicast
	if len(v.Data) >= 6 {
		v.PktType = ethernetPktType(v.Data)
	}
	v.MacLen = min(14, v.OrigLen)
	v.setNetwork(v.MacLen, 0)
	v.L4Cut = v.OrigLen >= 14
}

// walkTags takes VLAN tags off. typ is the type field before off. The first
// tag that Linux knows is gone at both positions; the others only from the
// IP stack's view.
func (v *View) walkTags(off int, typ uint16) {
	data := v.Data
	devOff, devType := off, typ
	for isTag(typ) && int(v.NumVLAN) < MaxVLAN {
		if off+4 > len(data) {
			v.cutLink(off, typ, devOff, devType)
			return
		}
		v.VLANTPID[v.NumVLAN] = typ
		v.VLANTCI[v.NumVLAN] = binary.BigEndian.Uint16(data[off:])
		known := typ != TypeQinQOld
		typ = binary.BigEndian.Uint16(data[off+2:])
		off += 4
		if v.NumVLAN == 0 && known {
			devOff, devType = off, typ
		}
		v.NumVLAN++
	}
	if v.NumVLAN != 0 {
		v.link |= linkUntagged
	}
	ipOff, ipType := v.decapsulate(off, v.lengthType(off, typ))
	v.setPositions(ipOff, ipType, devOff, v.lengthType(devOff, devType))
}

func isTag(typ uint16) bool {
	return typ == TypeVLAN || typ == TypeSVLAN || typ == TypeQinQOld
}

// lengthType turns an 802.3 length into the protocol that the kernel gives
// such frames; cooked headers hold that protocol already.
//
// Ref: eth_type_trans
func (v *View) lengthType(off int, typ uint16) uint16 {
	if typ >= 0x600 || v.Link != LinkEthernet {
		return typ
	}
	if off+2 <= len(v.Data) && v.Data[off] == 0xff && v.Data[off+1] == 0xff {
		return Type8023
	}
	return Type8022
}

// setPositions ends the link layer where the positions may differ.
func (v *View) setPositions(ipOff int, ipType uint16, devOff int, devType uint16) {
	v.ipOff, v.ipType = ipOff, ipType
	v.devOff, v.devType = devOff, devType
	v.Position = PositionIP
	v.setLinkHeader()
	v.parseNetwork(ipOff, ipType)
}

// cutLink is a frame that ends inside its link headers at off. Whether more
// followed on the wire decides between a packet of the type so far and an
// unknown one.
func (v *View) cutLink(off int, typ uint16, devOff int, devType uint16) {
	if v.NumVLAN != 0 {
		v.link |= linkUntagged
	}
	v.setPositions(off, typ, devOff, devType)
	v.L4Cut = v.OrigLen >= off+4
}

// hasEthernetHeader reports whether the frame has a link header of its own,
// be it one that has to be made up.
func (v *View) hasEthernetHeader() bool {
	return v.Link == LinkEthernet || v.link&linkCooked != 0 || v.link&linkLogged != 0 && v.log.MacLen != 0
}

// setLinkHeader sets MacLen, llSpan and llShift for the current position.
func (v *View) setLinkHeader() {
	v.llSpan, v.llShift = unlimitedSpan, 0
	switch {
	case v.link&linkHidden != 0, !v.hasEthernetHeader(),
		v.Position == PositionIP && v.link&linkNoIPMac != 0:
		v.MacLen, v.llSpan = 0, 0
	case v.link&linkCooked != 0:
		v.MacLen, v.llSpan = 14+4*int(v.NumVLAN), 0
	case v.link&linkLogged != 0:
		v.MacLen, v.llSpan = v.log.MacLen, v.log.MacLen
		v.llShift = v.ipOff - v.log.MacLen - v.MacOff
	default:
		v.MacLen = v.ethernetLen()
		if v.Position == PositionIP && v.link&linkUntagged != 0 {
			v.llSpan, v.llShift = 12, 4*int(v.NumVLAN)
		}
	}
}

// ethernetLen is the length of an Ethernet header with its tags.
func (v *View) ethernetLen() int {
	return min(14+4*int(v.NumVLAN), v.OrigLen)
}

// versionType tells the protocol of a packet without any link header.
func (v *View) versionType(off int) uint16 {
	if off < len(v.Data) {
		switch v.Data[off] >> 4 {
		case 4:
			return TypeIPv4
		case 6:
			return TypeIPv6
		}
	}
	return 0
}

// familyType reads the address family of a loopback header. The values for
// IPv6 differ between systems, and the header is in the byte order of the
// capturing host unless network order is given.
func (v *View) familyType(networkOrder bool) uint16 {
	if len(v.Data) < 4 {
		return 0
	}
	family := binary.LittleEndian.Uint32(v.Data)
	if networkOrder || family > 0xffff {
		family = binary.BigEndian.Uint32(v.Data)
	}
	switch family {
	case 2:
		return TypeIPv4
	case 10, 24, 28, 30:
		return TypeIPv6
	}
	return 0
}
