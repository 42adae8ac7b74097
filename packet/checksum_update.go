package packet

// UpdateChecksum16 returns the checksum field after one 16-bit word of the
// data that it covers changed from old to new. All are integers as read in
// network order.
//
// Ref: RFC 1624 §3, equation 3
func UpdateChecksum16(checksum, old, new uint16) uint16 {
	sum := uint32(^checksum) + uint32(^old) + uint32(new)
	return ^Fold(sum)
}

// UpdateChecksum32 is UpdateChecksum16 for a 32-bit value that starts at an
// even offset.
func UpdateChecksum32(checksum uint16, old, new uint32) uint16 {
	sum := uint32(^checksum) + uint32(^uint16(old>>16)) + uint32(^uint16(old)) +
		new>>16 + new&0xffff
	return ^Fold(sum)
}

// UpdateChecksum returns the checksum field after bytes of the data that it
// covers changed from old to new, which have the same length. odd says that
// the change starts at an odd offset of the covered data.
func UpdateChecksum(checksum uint16, old, new []byte, odd bool) uint16 {
	before, after := Fold(Sum(0, old)), Fold(Sum(0, new))
	if odd {
		before, after = before<<8|before>>8, after<<8|after>>8
	}
	return UpdateChecksum16(checksum, before, after)
}
