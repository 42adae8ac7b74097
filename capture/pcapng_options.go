package capture

import (
	"bytes"
	"net/netip"
)

// Option codes. The first two are shared by all blocks, the others belong to
// interface description blocks and packet blocks.
//
// Ref: draft-ietf-opsawg-pcapng, sections 3.5, 4.2 and 4.3.
const (
	optionEnd     = 0
	optionComment = 1

	optionName        = 2
	optionDescription = 3
	optionIPv4        = 4
	optionIPv6        = 5
	optionMAC         = 6
	optionResolution  = 9
	optionFCSLen      = 13
	optionTimeOffset  = 14

	optionPacketFlags = 2
)

// optionList walks the options at the end of a block's body.
type optionList struct {
	state  *pcapngState
	offset int64 // of the block
	body   []byte
	at     int // next option within the body
	code   uint16
	value  []byte
	err    error
}

// next moves to the next option; it is false at the end or at damage.
func (l *optionList) next() bool {
	body := l.body
	if len(body)-l.at < 4 {
		return false // a list may end without opt_endofopt
	}
	code, length := l.state.u16(body[l.at:]), int(l.state.u16(body[l.at+2:]))
	if code == optionEnd {
		return false
	}
	if length > len(body)-l.at-4 {
		l.err = formatError(l.offset+8+int64(l.at), "option %d of %d bytes exceeds its block", code, length)
		return false
	}
	l.code, l.value = code, body[l.at+4:l.at+4+length]
	l.at += 4 + (length+3)&^3
	return true
}

// interfaceBlock adds the interface that an interface description block
// describes.
func (r *Reader) interfaceBlock(b *block) error {
	s := &r.ng
	if len(b.body) < 8 {
		return tooShort(b, "interface description block")
	}
	if len(r.interfaces) >= maxInterfaces {
		return formatError(b.offset, "more than %d interfaces", maxInterfaces)
	}
	described := Interface{LinkType: s.u16(b.body), SnapLen: s.u32(b.body[4:]), Section: s.section}
	clock := newInterfaceClock()
	list := optionList{state: s, offset: b.offset, body: b.body, at: 8}
	for list.next() {
		switch value := list.value; list.code {
		case optionName:
			described.Name = text(value)
		case optionDescription:
			described.Description = text(value)
		case optionMAC:
			described.HasMAC = copy(described.MAC[:], value) == len(described.MAC)
		case optionIPv4:
			if len(value) == 8 {
				described.Addresses = append(described.Addresses, ipv4Prefix(value))
			}
		case optionIPv6:
			if len(value) == 17 {
				address := netip.AddrFrom16([16]byte(value[:16]))
				described.Addresses = append(described.Addresses, netip.PrefixFrom(address, int(value[16])))
			}
		case optionResolution:
			if len(value) >= 1 {
				clock.setResolution(value[0])
			}
		case optionFCSLen:
			if len(value) >= 1 {
				clock.fcsLen = fcsBytes(value[0])
			}
		case optionTimeOffset:
			if len(value) >= 8 {
				clock.offset = int64(s.u64(value))
			}
		}
	}
	if list.err != nil {
		return list.err
	}
	r.interfaces = append(r.interfaces, described)
	s.clocks = append(s.clocks, clock)
	return nil
}

// fcsBytes reads if_fcslen, which counts bits, but bytes in the files of some
// writers. No link has a check sequence of under eight bits.
func fcsBytes(value byte) int {
	if value < 8 {
		return int(value)
	}
	return int(value) / 8
}

// maxInterfaces bounds the memory that a hostile file can claim.
const maxInterfaces = 1 << 16

// text reads a string option; some writers end them with zero bytes.
func text(value []byte) string { return string(bytes.TrimRight(value, "\x00")) }
