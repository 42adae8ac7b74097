package build

import "slices"

// kind is how the value of a field is written.
type kind uint8

const (
	number kind = iota // decimal or 0x, with the field's symbols
	flags              // symbols joined by , or |
	ipv4Addr
	ipv6Addr
	etherAddr
	port // number or service name
)

// field is one header field.
type field struct {
	name string // as nft writes it after the header's name
	// alias is a second spelling, if any.
	alias   string
	bit     int // offset from the header's start
	bits    int
	kind    kind
	symbols symbols
	// hex makes the field print in hexadecimal.
	hex bool
	// essential fields are always printed.
	essential bool
	// only tells for which contents the field has a meaning; nil: always.
	only func(header []byte) bool
}

// rank is the place of a header in the stack.
type rank uint8

const (
	rankEther rank = iota
	rankVLAN
	rankNetwork
	rankExtension
	rankTransport
	rankTunnel
)

// header describes one kind of header.
type header struct {
	name   string
	rank   rank
	fields []field
	// template holds the default values; its length is the header's.
	template []byte
	// protocol is the IP protocol number, -1 if the header has none.
	protocol int
	// etherType is the type below link headers, 0 if the header has none.
	etherType uint16
	// items describes options or chunks, nil if the header has none.
	items *itemSyntax
	// data says that raw bytes may follow the fields: "FIELD data 0x...".
	data bool
	// tunnels says that a packet may follow inside.
	tunnels bool
}

// field finds a field by either name.
func (h *header) field(name string) *field {
	for i := range h.fields {
		if f := &h.fields[i]; f.name == name || f.alias != "" && f.alias == name {
			return f
		}
	}
	return nil
}

// names lists what may follow the header's name.
func (h *header) names() []string {
	var names []string
	for i := range h.fields {
		names = append(names, h.fields[i].name)
	}
	if h.items != nil {
		names = append(names, h.items.keyword)
	}
	if h.data {
		names = append(names, "data")
	}
	return names
}

// getBits reads up to 64 bits at a bit offset; bits beyond b read as zero.
func getBits(b []byte, bit, bits int) uint64 {
	var value uint64
	for i := bit; i < bit+bits; i++ {
		value <<= 1
		if i/8 < len(b) {
			value |= uint64(b[i/8]>>(7-i%8)) & 1
		}
	}
	return value
}

// setBits writes up to 64 bits at a bit offset, which lie within b.
func setBits(b []byte, bit, bits int, value uint64) {
	for i := bit + bits - 1; i >= bit; i-- {
		mask := byte(1) << (7 - i%8)
		b[i/8] &^= mask
		if value&1 != 0 {
			b[i/8] |= mask
		}
		value >>= 1
	}
}

// layer is one header of a packet.
type layer struct {
	header *header
	// b holds the fields. It is at least as long as the template.
	b []byte
	// explicit marks fields, by index, whose value was given.
	explicit []bool
	items    []item
	data     []byte
	hasData  bool
}

func newLayer(h *header) *layer {
	l := &layer{header: h, b: slices.Clone(h.template), explicit: make([]bool, len(h.fields))}
	return l
}

// index finds a field's index by name.
func (l *layer) index(name string) int {
	return slices.IndexFunc(l.header.fields, func(f field) bool { return f.name == name })
}

// given reports whether a field's value was given.
func (l *layer) given(name string) bool {
	i := l.index(name)
	return i >= 0 && l.explicit[i]
}

// get returns a field's value.
func (l *layer) get(name string) uint64 {
	f := l.header.field(name)
	return getBits(l.b, f.bit, f.bits)
}

// auto sets a field that was not given.
func (l *layer) auto(name string, value uint64) {
	if i := l.index(name); i >= 0 && !l.explicit[i] {
		f := &l.header.fields[i]
		l.grow(f)
		setBits(l.b, f.bit, f.bits, value)
	}
}

// grow makes room for a field behind the default header.
func (l *layer) grow(f *field) {
	if end := (f.bit + f.bits + 7) / 8; end > len(l.b) {
		l.b = append(l.b, make([]byte, end-len(l.b))...)
	}
}

// bytes returns the header with its options and data.
func (l *layer) bytes() []byte {
	out := slices.Clone(l.b)
	out = append(out, l.data...)
	return append(out, l.itemBytes()...)
}

// stack is the headers of a packet, and what they carry.
type stack struct {
	raw        bool // no link header
	loopback   bool // comes in through lo, where link addresses are zero
	ether      *layer
	noStation  bool // the link destination is the default one
	vlans      []*layer
	network    *layer
	extensions []*layer
	transport  *layer
	tunnel     *layer
	inner      *stack

	payload    []byte
	hasPayload bool
	length     int // minimum of the payload's length
}

// layers lists the headers from outside to inside.
func (s *stack) layers() []*layer {
	var all []*layer
	add := func(l *layer) {
		if l != nil {
			all = append(all, l)
		}
	}
	add(s.ether)
	all = append(all, s.vlans...)
	add(s.network)
	all = append(all, s.extensions...)
	add(s.transport)
	add(s.tunnel)
	return all
}
