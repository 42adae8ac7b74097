package kernel

import (
	"bytes"
	"encoding/binary"
	"net/netip"
)

// reply turns a packet round: it comes from where the packet went. TCP SYN
// becomes SYN ACK, an echo request a reply; other segments keep their flags.
// What cannot be turned stays as it is.
func reply(p Injection) Injection {
	d := bytes.Clone(p.Data)
	if len(d) < 34 {
		return p
	}
	var src, dst, transport []byte
	var protocol byte
	switch binary.BigEndian.Uint16(d[12:]) {
	case 0x0800:
		head := int(d[14]&15) * 4
		if head < 20 || len(d) < 14+head+8 {
			return p
		}
		src, dst, transport, protocol = d[26:30], d[30:34], d[14+head:], d[23]
	case 0x86dd:
		if len(d) < 62 {
			return p
		}
		src, dst, transport, protocol = d[22:38], d[38:54], d[54:], d[20]
	default:
		return p
	}
	a, b := bytes.Clone(src), bytes.Clone(dst)
	copy(src, b)
	copy(dst, a)
	from, _ := netip.AddrFromSlice(b)
	in := side(from)
	d = station(d, in)
	turn(transport, protocol)
	return Injection{Interface: in, Data: d}
}

// station gives the frame the link header of a station behind an interface.
func station(d []byte, in string) []byte {
	last := byte(1)
	if in == "wan0" {
		last = 2
	}
	copy(d, []byte{2, 0, 0, 0, last, 1, 2, 0, 0, 0, last, 2})
	return d
}

// turn swaps the ports and makes the segment an answer, checksum included.
func turn(b []byte, protocol byte) {
	switch protocol {
	case 6, 17, 132:
		b[0], b[1], b[2], b[3] = b[2], b[3], b[0], b[1] // the sum stays the same
	}
	switch {
	case protocol == 6 && len(b) >= 20:
		seq, ack := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
		flags := b[13]
		if flags&0x02 != 0 && flags&0x10 == 0 {
			set16(b, 16, 12, binary.BigEndian.Uint16(b[12:])|0x10)
			seq++
		}
		set32(b, 16, 4, ack)
		set32(b, 16, 8, seq)
	case protocol == 1 && b[0] == 8:
		set16(b, 2, 0, uint16(b[1]))
	case protocol == 58 && b[0] == 128:
		set16(b, 2, 0, 129<<8|uint16(b[1]))
	}
}

// set16 writes a field and corrects the checksum at sum by the difference.
// Ref: RFC 1624.
func set16(b []byte, sum, at int, v uint16) {
	old := binary.BigEndian.Uint16(b[at:])
	binary.BigEndian.PutUint16(b[at:], v)
	total := uint32(^binary.BigEndian.Uint16(b[sum:])) + uint32(^old) + uint32(v)
	total = total&0xffff + total>>16
	total = total&0xffff + total>>16
	binary.BigEndian.PutUint16(b[sum:], ^uint16(total))
}

func set32(b []byte, sum, at int, v uint32) {
	set16(b, sum, at, uint16(v>>16))
	set16(b, sum, at+2, uint16(v))
}
