package workload

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
)

// ElementField is one field of the keys of a set.
type ElementField struct {
	Type   string // as nft names it
	Select string // what a rule loads for it
	Len    int    // bytes
}

// The fields of the sets made here.
var (
	fieldAddr4 = ElementField{"ipv4_addr", "ip saddr", 4}
	fieldAddr6 = ElementField{"ipv6_addr", "ip6 saddr", 16}
	fieldPort  = ElementField{"inet_service", "udp dport", 2}
	fieldMAC   = ElementField{"ether_addr", "ether saddr", 6}
	fieldProto = ElementField{"inet_proto", "meta l4proto", 1}
)

// ElementShape is a kind of set: the fields of its keys, and a series of
// elements of which no two hold the same key.
type ElementShape struct {
	Name   string
	Fields []ElementField
	// Exact: the elements are single keys, the set has no flag interval.
	Exact bool
	// Most is the largest number of elements that there are.
	Most int

	bounds func(i, field int) (low, high uint64)
	// missing is a value for the last field, or the one before if that is a
	// protocol, such that a key of element i with it is in no element. A rule that
	// loads a port looks up packets of one protocol only.
	missing func(i int) uint64
}

// base6 is the network that all IPv6 addresses here are in.
var base6 = [8]byte{0x20, 0x01, 0x0d, 0xb8}

// spread is an odd number that scatters numbers over 24 bits.
const spread = 0x9e3779

// The shapes of sets for the headline measurements.
var (
	// Disjoint is 10.x.y.z-10.x.y.z+3 . port: every element has addresses of its
	// own.
	Disjoint = &ElementShape{
		Name: "disjoint", Fields: []ElementField{fieldAddr4, fieldPort}, Most: 1 << 22,
		bounds: func(i, field int) (uint64, uint64) {
			if field == 0 {
				return 10<<24 + 4*uint64(i), 10<<24 + 4*uint64(i) + 3
			}
			p := uint64(i)*7919%65535 + 1
			return p, p
		},
		missing: func(i int) uint64 { return (uint64(i)*7919+1)%65535 + 1 },
	}
	// Shared has 80 ranges of ports for each range of addresses.
	Shared = &ElementShape{
		Name: "shared", Fields: []ElementField{fieldAddr4, fieldPort}, Most: 80 << 20,
		bounds: func(i, field int) (uint64, uint64) {
			if field == 0 {
				a := 10<<24 + 16*uint64(i/80)
				return a, a + 15
			}
			p := uint64(i%80) * 800
			return p, p + uint64(i)*31%700
		},
		missing: func(i int) uint64 { return uint64(i%80)*800 + 750 },
	}
	// Addresses are single addresses all over 10.0.0.0/8.
	Addresses = &ElementShape{
		Name: "addresses", Fields: []ElementField{fieldAddr4}, Exact: true, Most: 1 << 23,
		bounds: func(i, _ int) (uint64, uint64) {
			a := 10<<24 + uint64(i)*spread&(1<<24-1)
			return a, a
		},
		missing: func(i int) uint64 { return 10<<24 + (uint64(i)+1<<23)*spread&(1<<24-1) },
	}
	// Ranges are ranges of addresses with gaps between them.
	Ranges = &ElementShape{
		Name: "ranges", Fields: []ElementField{fieldAddr4}, Most: 1 << 20,
		bounds:  func(i, _ int) (uint64, uint64) { return 10<<24 + 16*uint64(i), 10<<24 + 16*uint64(i) + 7 },
		missing: func(i int) uint64 { return 10<<24 + 16*uint64(i) + 11 },
	}
	// Ranges6 are ranges of IPv6 addresses.
	Ranges6 = &ElementShape{
		Name: "ranges6", Fields: []ElementField{fieldAddr6}, Most: 1 << 30,
		bounds:  func(i, _ int) (uint64, uint64) { return uint64(i) << 20, uint64(i)<<20 + 0xffff },
		missing: func(i int) uint64 { return uint64(i)<<20 + 0x10000 },
	}
)

// KernelShapes are the layouts of the kernel's own performance script for
// concatenated ranges.
var KernelShapes = []*ElementShape{
	kernelShape("net,port", fieldAddr4, fieldPort),
	kernelShape("port,net", fieldPort, fieldAddr4),
	kernelShape("net6,port", fieldAddr6, fieldPort),
	kernelShape("port,proto", fieldPort, fieldProto),
	kernelShape("net6,port,mac", fieldAddr6, fieldPort, fieldMAC),
	kernelShape("net6,port,mac,proto", fieldAddr6, fieldPort, fieldMAC, fieldProto),
	kernelShape("net,mac", fieldAddr4, fieldMAC),
}

// kernelShape makes a shape whose element i has two neighbouring values in
// each field, and one protocol for all.
func kernelShape(name string, fields ...ElementField) *ElementShape {
	value := func(f ElementField, v uint64) uint64 {
		switch f {
		case fieldAddr4:
			return 10<<24 + v
		case fieldPort:
			return v%65532 + 2
		case fieldMAC:
			return 1<<32 + v
		case fieldProto:
			return protoUDP
		}
		return v
	}
	return &ElementShape{
		Name: name, Fields: fields, Most: 32766,
		bounds: func(i, field int) (uint64, uint64) {
			f := fields[field]
			low := value(f, 2*uint64(i))
			if f == fieldProto {
				return low, low
			}
			return low, low + 1
		},
		// A port that no element has, or a value of an element far away.
		missing: func(i int) uint64 {
			if len(fields) == 2 && fields[1] == fieldProto {
				return uint64(i) % 2
			}
			last := fields[len(fields)-1]
			if last == fieldProto {
				last = fields[len(fields)-2]
			}
			return value(last, 2*uint64(i)+100)
		},
	}
}

// missAt is the field that makes a miss.
func (s *ElementShape) missAt() int {
	last := len(s.Fields) - 1
	if s.Fields[last] == fieldProto {
		return last - 1
	}
	return last
}

// KeyLen is the length of a key in bytes: each field is padded to a multiple
// of four bytes, except where there is only one.
func (s *ElementShape) KeyLen() int {
	if len(s.Fields) == 1 {
		return s.Fields[0].Len
	}
	n := 0
	for _, f := range s.Fields {
		n += (f.Len + 3) &^ 3
	}
	return n
}

// AppendBounds appends the lowest and the highest key of element i.
func (s *ElementShape) AppendBounds(low, high []byte, i int) (newLow, newHigh []byte) {
	for n, f := range s.Fields {
		l, h := s.bounds(i, n)
		low, high = s.appendField(low, f, l), s.appendField(high, f, h)
	}
	return low, high
}

// appendField appends a field's value with its padding.
func (s *ElementShape) appendField(b []byte, f ElementField, v uint64) []byte {
	switch f.Len {
	case 1:
		b = append(b, byte(v))
	case 2:
		b = binary.BigEndian.AppendUint16(b, uint16(v))
	case 4:
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	case 6:
		b = binary.BigEndian.AppendUint16(b, uint16(v>>32))
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	default:
		b = append(b, base6[:]...)
		b = binary.BigEndian.AppendUint64(b, v)
	}
	if len(s.Fields) == 1 {
		return b
	}
	return append(b, make([]byte, (f.Len+3)&^3-f.Len)...)
}

// Keys makes count keys of a set of the first n elements, one after the other:
// keys that are in it, or keys of which only one field, the last but for a
// protocol, makes that they are not.
func (s *ElementShape) Keys(n, count int, hit bool, seed uint64) []byte {
	r := &random{seed}
	var keys []byte
	for range count {
		i := r.below(n)
		for at, f := range s.Fields {
			low, high := s.bounds(i, at)
			v := low + r.next()%(high-low+1)
			if !hit && at == s.missAt() {
				v = s.missing(i)
			}
			keys = s.appendField(keys, f, v)
		}
	}
	return keys
}

// Order gives the numbers below n in a scattered order.
func Order(n int, seed uint64) []int {
	r := &random{seed}
	order := make([]int, n)
	for i := range order {
		j := r.below(i + 1)
		order[i], order[j] = order[j], i
	}
	return order
}

// Text is a ruleset in which table inet bench has a set with the first n
// elements, in a scattered order, and a chain that looks packets up in it.
func (s *ElementShape) Text(n int, seed uint64) []byte {
	b := make([]byte, 0, 200+n*40)
	b = append(b, "table inet bench {\n\tset s {\n\t\ttype "...)
	b = append(b, s.list(" . ", func(f ElementField) string { return f.Type })...)
	if !s.Exact {
		b = append(b, "\n\t\tflags interval"...)
	}
	b = fmt.Appendf(b, "\n\t\tsize %d\n\t\telements = {\n", n+1024)
	for _, i := range Order(n, seed) {
		b = s.AppendElement(b, i)
		b = append(b, ",\n"...)
	}
	b = append(b, "\t\t}\n\t}\n\tchain look {\n\t\ttype filter hook prerouting priority -300; policy accept;\n\t\t"...)
	b = append(b, s.list(" . ", func(f ElementField) string { return f.Select })...)
	return append(b, " @s accept\n\t}\n\tchain empty {\n\t\ttype filter hook prerouting priority -500; policy accept;\n\t}\n}\n"...)
}

func (s *ElementShape) list(sep string, of func(ElementField) string) string {
	text := ""
	for i, f := range s.Fields {
		if i > 0 {
			text += sep
		}
		text += of(f)
	}
	return text
}

// AppendElement appends element i as nft writes it.
func (s *ElementShape) AppendElement(b []byte, i int) []byte {
	for n, f := range s.Fields {
		if n > 0 {
			b = append(b, " . "...)
		}
		low, high := s.bounds(i, n)
		b = f.appendText(b, low)
		if low != high {
			b = f.appendText(append(b, '-'), high)
		}
	}
	return b
}

func (f ElementField) appendText(b []byte, v uint64) []byte {
	switch f.Len {
	case 4:
		for shift := 24; shift >= 0; shift -= 8 {
			b = strconv.AppendUint(b, v>>shift&255, 10)
			if shift > 0 {
				b = append(b, '.')
			}
		}
		return b
	case 6:
		return fmt.Appendf(b, "%02x:%02x:%02x:%02x:%02x:%02x", v>>40&255, v>>32&255, v>>24&255, v>>16&255, v>>8&255, v&255)
	case 16:
		var a [16]byte
		copy(a[:], base6[:])
		binary.BigEndian.PutUint64(a[8:], v)
		return netip.AddrFrom16(a).AppendTo(b)
	}
	return strconv.AppendUint(b, v, 10)
}

// Frame is an Ethernet frame of a UDP packet whose fields have a key's values;
// every frame of a shape has the same length. What the key does not say is
// fixed.
func (s *ElementShape) Frame(key []byte) []byte {
	src, dst := netip.MustParseAddr("198.51.100.7"), netip.MustParseAddr("192.0.2.1")
	port, proto, from := uint16(9), uint8(protoUDP), mac{2, 0, 0, 0, 0, 0x0b}
	for _, f := range s.Fields {
		value := key[:f.Len]
		key = key[min((f.Len+3)&^3, len(key)):]
		switch f {
		case fieldAddr4:
			src = netip.AddrFrom4([4]byte(value))
		case fieldAddr6:
			src, dst = netip.AddrFrom16([16]byte(value)), netip.MustParseAddr("2001:db8:ffff::1")
		case fieldPort:
			port = binary.BigEndian.Uint16(value)
		case fieldMAC:
			copy(from[:], value)
		case fieldProto:
			proto = value[0]
		}
	}
	ends := [2]netip.AddrPort{netip.AddrPortFrom(src, 1024), netip.AddrPortFrom(dst, port)}
	h := ipHeader{src: src, dst: dst, protocol: proto, ttl: 64}
	kind, b := h.packet(udpDatagram(ends[0], ends[1], make([]byte, 22)))
	return ethernet(mac{2, 0, 0, 0, 0, 0x0a}, from, kind, b)
}
