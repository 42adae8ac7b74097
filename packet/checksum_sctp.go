package packet

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// SCTPChecksum returns the CRC32c of an SCTP packet, which starts with its
// common header of 12 bytes, as if the checksum field were zero. The field
// holds it in little-endian order. A shorter packet has none: 0.
//
// Ref: RFC 9260 §6.8 and appendix A
func SCTPChecksum(segment []byte) uint32 {
	if len(segment) < 12 {
		return 0
	}
	var zero [4]byte
	crc := crc32.Update(0, castagnoli, segment[:8])
	crc = crc32.Update(crc, castagnoli, zero[:])
	return crc32.Update(crc, castagnoli, segment[12:])
}

// verifySCTP checks the CRC32c of a packet that is no fragment.
func (v *View) verifySCTP() (bool, LoadResult) {
	length := v.transportEnd() - v.ThOff
	if v.MoreFragments || length < 12 {
		return false, Break
	}
	segment, result := v.span(v.ThOff, length)
	if result != OK {
		return false, result
	}
	return binary.LittleEndian.Uint32(segment[8:]) == SCTPChecksum(segment), OK
}
