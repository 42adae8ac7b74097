package packet

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
)

// bytesOf joins pieces of a frame: numbers are single bytes, strings are hex
// with blanks, slices are taken as they are.
func bytesOf(t testing.TB, pieces ...any) []byte {
	t.Helper()
	var out []byte
	for _, piece := range pieces {
		switch p := piece.(type) {
		case int:
			out = append(out, byte(p))
		case []byte:
			out = append(out, p...)
		case string:
			b, err := hex.DecodeString(strings.Join(strings.Fields(p), ""))
			if err != nil {
				t.Fatalf("%q: %v", p, err)
			}
			out = append(out, b...)
		default:
			t.Fatalf("piece %T", piece)
		}
	}
	return out
}

const macs = "020000000002 020000000001"

// ipv4 is an IPv4 packet from 10.0.0.1 to 10.0.0.2 with right lengths and
// checksum.
func ipv4(t testing.TB, protocol int, fragment uint16, options string, payload []byte) []byte {
	t.Helper()
	h := bytesOf(t, "45000000 00010000 40000000 0a000001 0a000002", options)
	h[0] = 0x40 | byte(len(h)/4)
	h[9] = byte(protocol)
	binary.BigEndian.PutUint16(h[2:], uint16(len(h)+len(payload)))
	binary.BigEndian.PutUint16(h[6:], fragment)
	binary.BigEndian.PutUint16(h[10:], IPv4HeaderChecksum(h))
	return append(h, payload...)
}

// ipv6 is an IPv6 packet from 2001:db8::1 to 2001:db8::2.
func ipv6(t testing.TB, next int, payload []byte) []byte {
	t.Helper()
	h := bytesOf(t, "60000000 0000", next, "40",
		"20010db8 00000000 00000000 00000001", "20010db8 00000000 00000000 00000002")
	binary.BigEndian.PutUint16(h[4:], uint16(len(payload)))
	return append(h, payload...)
}

// tcp is a TCP SYN from port 4000 to 22 with the given options.
func tcp(t testing.TB, options string) []byte {
	t.Helper()
	h := bytesOf(t, "0fa0 0016 00000001 00000000 5002 ffff 0000 0000", options)
	h[12] = byte(len(h) / 4 << 4)
	return h
}

// udp is a UDP datagram from port 4000 to 53.
func udp(t testing.TB, payload string) []byte {
	t.Helper()
	h := bytesOf(t, "0fa0 0035 0000 0000", payload)
	binary.BigEndian.PutUint16(h[4:], uint16(len(h)))
	return h
}

// ethernet is an Ethernet frame; types are the type field and any tags.
func ethernet(t testing.TB, types string, payload []byte) []byte {
	t.Helper()
	return bytesOf(t, macs, types, payload)
}

func decoded(link LinkType, frame []byte) *View {
	v := new(View)
	v.Decode(link, frame, len(frame))
	return v
}
