package packet

import "encoding/binary"

// ARPHRD_ values of interfaces whose packets have an Ethernet header, which
// a cooked capture has replaced by its own.
//
// Ref: include/uapi/linux/if_arp.h
const (
	arphrdEther    = 1
	arphrdLoopback = 772
)

// decodeCooked1 handles LINKTYPE_LINUX_SLL: packet type, ARPHRD type,
// address length, address (8 bytes), protocol.
func (v *View) decodeCooked1() {
	d := v.Data
	if len(d) < 16 {
		v.shortCooked(16)
		return
	}
	v.PktType = cookedPktType(binary.BigEndian.Uint16(d))
	v.cookedHW = binary.BigEndian.Uint16(d[2:])
	v.decodeCookedProtocol(16, binary.BigEndian.Uint16(d[14:]))
}

// decodeCooked2 handles LINKTYPE_LINUX_SLL2: protocol, reserved, interface
// index, ARPHRD type, packet type, address length, address (8 bytes).
func (v *View) decodeCooked2() {
	d := v.Data
	if len(d) < 20 {
		v.shortCooked(20)
		return
	}
	v.PktType = cookedPktType(uint16(d[10]))
	v.cookedHW = binary.BigEndian.Uint16(d[8:])
	v.decodeCookedProtocol(20, binary.BigEndian.Uint16(d))
}

func (v *View) shortCooked(header int) {
	v.setNetwork(min(header, v.OrigLen), 0)
	v.L4Cut = v.OrigLen >= header
}

func cookedPktType(t uint16) PktType {
	if t <= uint16(PktOutgoing) {
		return PktType(t)
	}
	return PktHost
}

func (v *View) decodeCookedProtocol(off int, typ uint16) {
	v.OuterType = typ
	if v.cookedHW == arphrdEther || v.cookedHW == arphrdLoopback {
		v.link |= linkCooked
		v.MacLen = 14
	}
	v.walkTags(off, typ)
}

// CookedIndex returns the interface index that a cooked capture of version 2
// names, and whether the frame has one.
func (v *View) CookedIndex() (uint32, bool) {
	if v.Link != LinkLinuxSLL2 || len(v.Data) < 20 {
		return 0, false
	}
	return binary.BigEndian.Uint32(v.Data[4:]), true
}

// CookedHardware returns the ARPHRD_ type of the interface of a cooked
// capture, and whether the frame has one.
func (v *View) CookedHardware() (uint16, bool) {
	ok := v.Link == LinkLinuxSLL && len(v.Data) >= 16 || v.Link == LinkLinuxSLL2 && len(v.Data) >= 20
	if !ok {
		return 0, false
	}
	return v.cookedHW, true
}

// cookedMac makes up byte k of the link header that a cooked header stands
// for. The destination is unknown, save on a loopback device, whose packets
// carry zeros.
func (v *View) cookedMac(k int) (byte, LoadResult) {
	source, length := 6, 4
	if v.Link == LinkLinuxSLL2 {
		source, length = 12, 11
	}
	addressLen := int(v.Data[length])
	if v.Link == LinkLinuxSLL {
		addressLen = int(binary.BigEndian.Uint16(v.Data[length:]))
	}
	switch {
	case v.cookedHW == arphrdLoopback && k < 12:
		return 0, OK
	case k < 6:
		return 0, Cut
	case k < 12:
		if addressLen < 6 {
			return 0, Cut
		}
		return v.Data[source+k-6], OK
	case k < 14 && (v.Position == PositionDevice || v.NumVLAN == 0):
		return byte(v.OuterType >> (8 * (13 - k))), OK
	}
	header := 16
	if v.Link == LinkLinuxSLL2 {
		header = 20
	}
	at := header + k - 14
	if v.Position == PositionIP {
		at += 4 * int(v.NumVLAN)
	}
	return v.byteAt(at)
}
