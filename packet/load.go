package packet

import "encoding/binary"

// Base is the header that a load is relative to, with the kernel's numbers.
//
// Ref: include/uapi/linux/netfilter/nf_tables.h, enum nft_payload_bases
type Base uint8

const (
	BaseLink      Base = 0
	BaseNetwork   Base = 1
	BaseTransport Base = 2
	BaseInner     Base = 3 // what a transport header carries
)

// LoadResult is the outcome of a load.
type LoadResult uint8

const (
	// OK: all bytes were loaded.
	OK LoadResult = iota
	// Break: the kernel breaks off the rule.
	Break
	// Cut: the packet had the bytes, but the capture does not.
	Cut
	// innerUnset marks an inner offset that is not computed yet.
	innerUnset
)

// String names the result in lower case.
func (r LoadResult) String() string {
	switch r {
	case OK:
		return "ok"
	case Break:
		return "break"
	}
	return "cut"
}

// maxLoad bounds offset and length of a load; rules cannot ask for more.
const maxLoad = 65535

// Load copies n bytes at offset off of a header to dst, which holds at least
// n, in packet order. On a result other than OK dst is unspecified. A load
// is all or nothing: there is no partial one.
//
// Ref: nft_payload.c, nft_payload_eval
func (v *View) Load(base Base, off, n int, dst []byte) LoadResult {
	start, result := v.base(base)
	if result != OK {
		return result
	}
	if uint(off) > maxLoad || uint(n) > maxLoad {
		return Break
	}
	if base == BaseLink && off+n > v.llSpan {
		return v.loadLink(off, n, dst)
	}
	from := start + off
	if from+n > len(v.packet) {
		return v.beyond(from + n)
	}
	copy(dst[:n], v.packet[from:])
	return OK
}

// Check tells what Load would, without loading.
func (v *View) Check(base Base, off, n int) LoadResult {
	start, result := v.base(base)
	if result != OK {
		return result
	}
	if uint(off) > maxLoad || uint(n) > maxLoad {
		return Break
	}
	if base == BaseLink && off+n > v.llSpan {
		for k := off; k < off+n; k++ {
			if _, result := v.linkByte(k); result != OK {
				return result
			}
		}
		return OK
	}
	return v.beyond(start + off + n)
}

// base returns where a header starts, or why it is not there.
func (v *View) base(base Base) (int, LoadResult) {
	switch base {
	case BaseLink:
		if v.MacLen == 0 {
			return 0, Break
		}
		return v.MacOff, OK
	case BaseNetwork:
		return v.NetOff, OK
	case BaseTransport:
		return v.ThOff, v.transport()
	case BaseInner:
		return v.inner()
	}
	return 0, Break
}

// transport tells whether loads from the transport header are allowed.
func (v *View) transport() LoadResult {
	if v.L4OK && v.FragOff == 0 {
		return OK
	}
	if v.L4Cut {
		return Cut
	}
	return Break
}

// beyond tells what a load is that ends at offset end: OK if the bytes are
// there, Cut if only the packet had them, Break if not even that.
func (v *View) beyond(end int) LoadResult {
	switch {
	case end <= len(v.packet):
		return OK
	case end <= v.End:
		return Cut
	}
	return Break
}

// span returns n bytes of the packet at offset at.
func (v *View) span(at, n int) ([]byte, LoadResult) {
	if at < 0 {
		return nil, Break
	}
	if at+n > len(v.packet) {
		return nil, v.beyond(at + n)
	}
	return v.packet[at : at+n], OK
}

// byteAt returns one byte of the packet.
func (v *View) byteAt(at int) (byte, LoadResult) {
	if at < len(v.packet) {
		return v.packet[at], OK
	}
	return 0, v.beyond(at + 1)
}

// loadLink loads from a link header that does not lie in one piece.
func (v *View) loadLink(off, n int, dst []byte) LoadResult {
	for k := range n {
		b, result := v.linkByte(off + k)
		if result != OK {
			return result
		}
		dst[k] = b
	}
	return OK
}

// linkByte returns byte k counted from the link header's start, as it reads
// at the current position.
func (v *View) linkByte(k int) (byte, LoadResult) {
	if v.link&linkCooked != 0 {
		return v.cookedMac(k)
	}
	at := v.MacOff + k
	if k >= v.llSpan {
		at += v.llShift
	}
	return v.byteAt(at)
}

// Load8 loads the byte at offset at of the frame, for fast paths: at is
// NetOff or, where HasTransport, ThOff plus the rule's offset. It reports
// false where Load must be asked for the reason. Load16 and Load32 likewise.
func (v *View) Load8(at int) (byte, bool) {
	if p := v.packet; uint(at) < uint(len(p)) {
		return p[at], true
	}
	return 0, false
}

// Load16 loads two bytes as a little-endian integer: memory order, ready to
// be compared with constants that were read likewise.
func (v *View) Load16(at int) (uint16, bool) {
	if p := v.packet; at >= 0 && at <= len(p)-2 {
		return binary.LittleEndian.Uint16(p[at : at+2]), true
	}
	return 0, false
}

// Load32 loads four bytes as a little-endian integer.
func (v *View) Load32(at int) (uint32, bool) {
	if p := v.packet; at >= 0 && at <= len(p)-4 {
		return binary.LittleEndian.Uint32(p[at : at+4]), true
	}
	return 0, false
}

// HasTransport reports whether loads from the transport header are allowed.
func (v *View) HasTransport() bool { return v.L4OK && v.FragOff == 0 }

// Packet returns the captured bytes up to End: what may be loaded, at the
// offsets that they have in Data.
func (v *View) Packet() []byte { return v.packet }
