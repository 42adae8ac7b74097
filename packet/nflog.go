package packet

import "encoding/binary"

// LogInfo is what an NFLOG record tells besides the packet.
type LogInfo struct {
	Family   uint8  // address family of the logging hook: 2 IPv4, 7 bridge, 10 IPv6
	Hook     uint8  // hook number within the family
	HWProto  uint16 // EtherType, 0 if the kernel did not know it
	Mark     uint32 // packet mark, 0 if absent
	InIndex  uint32 // input interface, 0 if none
	OutIndex uint32 // output interface, 0 if none
	UID, GID uint32 // owner of the socket
	HasUID   bool
	HasGID   bool
	MacLen   int // length of the recorded link header, 0 if none
}

// NFLOG attribute types.
//
// Ref: include/uapi/linux/netfilter/nfnetlink_log.h
const (
	nflogPacketHeader = 1
	nflogMark         = 2
	nflogInDev        = 4
	nflogOutDev       = 5
	nflogPayload      = 9
	nflogUID          = 11
	nflogGID          = 14
	nflogHWHeader     = 16
)

const (
	familyIPv4 = 2
	familyIPv6 = 10
)

// Log returns what an NFLOG record tells, and whether the frame is one.
func (v *View) Log() (LogInfo, bool) {
	if v.link&linkLogged == 0 {
		return LogInfo{}, false
	}
	return v.log, true
}

// decodeNFLOG handles LINKTYPE_NFLOG: family, version, resource, then
// attributes in the byte order of the logging host. The packet is the payload
// attribute; the log target may have shortened it, so that its real length
// comes from its IP header.
func (v *View) decodeNFLOG() {
	d := v.Data
	if len(d) < 4 {
		v.setNetwork(min(4, v.OrigLen), 0)
		return
	}
	v.link |= linkLogged
	v.log = LogInfo{Family: d[0]}
	off, end, ok := v.readLogAttributes(binary.ByteOrder(binary.LittleEndian))
	if !ok {
		v.log = LogInfo{Family: d[0]}
		off, end, ok = v.readLogAttributes(binary.BigEndian)
	}
	if !ok {
		v.log.MacLen = 0
		v.setNetwork(4, 0)
		return
	}
	typ := v.log.HWProto
	if typ == 0 {
		switch v.log.Family {
		case familyIPv4:
			typ = TypeIPv4
		case familyIPv6:
			typ = TypeIPv6
		}
	}
	v.OuterType = typ
	v.Data = d[:end]
	v.OrigLen = end
	if length := v.headerLength(off, typ); length > end-off {
		v.OrigLen = off + length
	}
	v.setPositions(off, typ, off, typ)
}

// readLogAttributes walks the attributes and returns where the payload lies.
// It fails where lengths do not fit, as they do not in the wrong byte order.
func (v *View) readLogAttributes(order binary.ByteOrder) (off, end int, ok bool) {
	d := v.Data
	for at := 4; at+4 <= len(d); {
		length := int(order.Uint16(d[at:]))
		if length < 4 || at+length > len(d) {
			return 0, 0, false
		}
		body := d[at+4 : at+length]
		switch order.Uint16(d[at+2:]) {
		case nflogPayload:
			off, end = at+4, at+length
		case nflogHWHeader:
			v.MacOff, v.log.MacLen = at+4, len(body)
		case nflogPacketHeader:
			if len(body) >= 3 {
				v.log.HWProto, v.log.Hook = binary.BigEndian.Uint16(body), body[2]
			}
		default:
			v.readLogNumber(order.Uint16(d[at+2:]), body)
		}
		at += (length + 3) &^ 3
	}
	return off, end, off != 0
}

// readLogNumber keeps the 32-bit attributes, all in network order.
func (v *View) readLogNumber(typ uint16, body []byte) {
	if len(body) < 4 {
		return
	}
	value := binary.BigEndian.Uint32(body)
	switch typ {
	case nflogMark:
		v.log.Mark = value
	case nflogInDev:
		v.log.InIndex = value
	case nflogOutDev:
		v.log.OutIndex = value
	case nflogUID:
		v.log.UID, v.log.HasUID = value, true
	case nflogGID:
		v.log.GID, v.log.HasGID = value, true
	}
}

// headerLength is the length that the IP header at off claims for the
// packet, 0 if it says nothing.
func (v *View) headerLength(off int, typ uint16) int {
	d := v.Data[off:]
	switch {
	case typ == TypeIPv4 && len(d) >= 4:
		return int(binary.BigEndian.Uint16(d[2:]))
	case typ == TypeIPv6 && len(d) >= 6:
		return 40 + int(binary.BigEndian.Uint16(d[4:]))
	}
	return 0
}
