package build

import (
	"bytes"
	"encoding/binary"
)

// itemSyntax describes the options or chunks of a header.
type itemSyntax struct {
	keyword string // "option" or "chunk"
	kinds   []itemKind
	// single reports whether an option consists of its type byte alone.
	single func(typ byte) bool
	// chunks have a flags byte and 16 bits of length, and are padded to
	// words; options have 8 bits of length.
	chunks bool
}

// itemKind is one option or chunk with its fields, counted from its start.
type itemKind struct {
	name    string
	typ     byte
	size    int
	fields  []field
	initial []byte // default for what follows the length
}

func (s *itemSyntax) byName(name string) *itemKind {
	for i := range s.kinds {
		if s.kinds[i].name == name {
			return &s.kinds[i]
		}
	}
	return nil
}

func (s *itemSyntax) byType(typ byte) *itemKind {
	for i := range s.kinds {
		if s.kinds[i].typ == typ {
			return &s.kinds[i]
		}
	}
	return nil
}

func (s *itemSyntax) names() []string {
	var names []string
	for i := range s.kinds {
		names = append(names, s.kinds[i].name)
	}
	return names
}

// lengthField is the length of an option or chunk.
func (s *itemSyntax) lengthField() field {
	if s.chunks {
		return field{name: "length", bit: 16, bits: 16}
	}
	return field{name: "length", bit: 8, bits: 8}
}

// item is one option or chunk with its bytes, padding not included.
type item struct {
	kind *itemKind // nil: unknown
	b    []byte
	// given are the fields that the text has set, lengthGiven the length.
	given       []string
	lengthGiven bool
}

// newItem makes an item of a type with its default contents.
func (s *itemSyntax) newItem(typ byte) item {
	kind := s.byType(typ)
	if s.single(typ) {
		return item{kind: kind, b: []byte{typ}}
	}
	size := 2
	if s.chunks {
		size = 4
	}
	head := size
	if kind != nil {
		size = max(size, kind.size)
	}
	b := make([]byte, size)
	b[0] = typ
	if kind != nil {
		copy(b[head:], kind.initial)
	}
	i := item{kind: kind, b: b}
	s.setLength(&i)
	return i
}

// setLength writes the length that the item has, unless one was given.
func (s *itemSyntax) setLength(i *item) {
	switch {
	case i.lengthGiven || s.single(i.b[0]):
	case s.chunks:
		binary.BigEndian.PutUint16(i.b[2:], uint16(len(i.b)))
	default:
		i.b[1] = byte(len(i.b))
	}
}

// field finds a field of the item.
func (s *itemSyntax) field(i *item, name string) *field {
	if name == "length" && !s.single(i.b[0]) {
		f := s.lengthField()
		return &f
	}
	if name == "flags" && s.chunks {
		return &field{name: "flags", bit: 8, bits: 8, hex: true}
	}
	if i.kind != nil {
		for k := range i.kind.fields {
			if i.kind.fields[k].name == name {
				return &i.kind.fields[k]
			}
		}
	}
	return nil
}

// itemBytes puts a layer's items in a row, padded to words.
func (l *layer) itemBytes() []byte {
	var out []byte
	for _, i := range l.items {
		out = append(out, i.b...)
		if l.header.items.chunks {
			out = padWords(out)
		}
	}
	return padWords(out)
}

func padWords(b []byte) []byte {
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

// readItems cuts bytes into items. It reports false where they are not
// well-formed, or would be written differently.
func (s *itemSyntax) readItems(b []byte) ([]item, bool) {
	var items []item
	for len(b) > 0 {
		if !s.chunks && allZero(b) && len(b) < 4 {
			return items, true // padding
		}
		size, ok := s.itemSize(b)
		if !ok {
			return nil, false
		}
		items = append(items, item{kind: s.byType(b[0]), b: b[:size:size]})
		if s.chunks {
			size = (size + 3) &^ 3
			if size > len(b) {
				return nil, false
			}
		}
		b = b[size:]
	}
	return items, true
}

// itemSize is the length of the item at the start of b.
func (s *itemSyntax) itemSize(b []byte) (int, bool) {
	if s.single(b[0]) {
		return 1, true
	}
	size, least := 0, 2
	switch {
	case s.chunks:
		least = 4
		if len(b) < 4 {
			return 0, false
		}
		size = int(binary.BigEndian.Uint16(b[2:]))
	case len(b) < 2:
		return 0, false
	default:
		size = int(b[1])
	}
	return size, size >= least && size <= len(b)
}

func allZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

var tcpOptions = itemSyntax{
	keyword: "option",
	single:  func(typ byte) bool { return typ < 2 },
	kinds: []itemKind{
		{name: "eol", typ: 0}, {name: "nop", typ: 1},
		{name: "maxseg", typ: 2, size: 4, initial: []byte{0x05, 0xb4}, fields: []field{{name: "size", bit: 16, bits: 16}}},
		{name: "window", typ: 3, size: 3, initial: []byte{7}, fields: []field{{name: "count", bit: 16, bits: 8}}},
		{name: "sack-perm", typ: 4, size: 2},
		{name: "sack-permitted", typ: 4, size: 2},
		{name: "sack", typ: 5, size: 10, fields: []field{
			{name: "left", bit: 16, bits: 32}, {name: "right", bit: 48, bits: 32}}},
		{name: "timestamp", typ: 8, size: 10, fields: []field{
			{name: "tsval", bit: 16, bits: 32}, {name: "tsecr", bit: 48, bits: 32}}},
		{name: "md5sig", typ: 19, size: 18},
		{name: "mptcp", typ: 30, size: 4, fields: []field{{name: "subtype", bit: 16, bits: 4}}},
		{name: "fastopen", typ: 34, size: 2},
	},
}

var routeFields = []field{{name: "ptr", bit: 16, bits: 8}, {name: "addr", bit: 24, bits: 32, kind: ipv4Addr}}

var ipOptions = itemSyntax{
	keyword: "option",
	single:  func(typ byte) bool { return typ < 2 },
	kinds: []itemKind{
		{name: "eol", typ: 0}, {name: "nop", typ: 1},
		{name: "rr", typ: 7, size: 7, initial: []byte{4}, fields: routeFields},
		{name: "lsrr", typ: 131, size: 7, initial: []byte{4}, fields: routeFields},
		{name: "ssrr", typ: 137, size: 7, initial: []byte{4}, fields: routeFields},
		{name: "ra", typ: 148, size: 4, fields: []field{{name: "value", bit: 16, bits: 16}}},
	},
}

var dccpOptions = itemSyntax{
	keyword: "option",
	single:  func(typ byte) bool { return typ < 32 },
}

// words32 names fields of 32 bits in a row, from bit on.
func words32(bit int, names ...string) []field {
	var fields []field
	for _, name := range names {
		fields = append(fields, field{name: name, bit: bit, bits: 32})
		bit += 32
	}
	return fields
}

var initFields = []field{
	{name: "init-tag", bit: 32, bits: 32}, {name: "a-rwnd", bit: 64, bits: 32},
	{name: "num-outbound-streams", bit: 96, bits: 16}, {name: "num-inbound-streams", bit: 112, bits: 16},
	{name: "initial-tsn", bit: 128, bits: 32},
}

var sctpChunks = itemSyntax{
	keyword: "chunk",
	chunks:  true,
	single:  func(byte) bool { return false },
	kinds: []itemKind{
		{name: "data", typ: 0, size: 16, fields: []field{
			{name: "tsn", bit: 32, bits: 32}, {name: "stream", bit: 64, bits: 16}, {name: "ssn", bit: 80, bits: 16},
			{name: "ppid", bit: 96, bits: 32}}},
		{name: "init", typ: 1, size: 20, fields: initFields},
		{name: "init-ack", typ: 2, size: 20, fields: initFields},
		{name: "sack", typ: 3, size: 16, fields: []field{
			{name: "cum-tsn-ack", bit: 32, bits: 32}, {name: "a-rwnd", bit: 64, bits: 32},
			{name: "num-gap-ack-blocks", bit: 96, bits: 16}, {name: "num-dup-tsns", bit: 112, bits: 16}}},
		{name: "heartbeat", typ: 4}, {name: "heartbeat-ack", typ: 5}, {name: "abort", typ: 6},
		{name: "shutdown", typ: 7, size: 8, fields: words32(32, "cum-tsn-ack")},
		{name: "shutdown-ack", typ: 8}, {name: "error", typ: 9}, {name: "cookie-echo", typ: 10}, {name: "cookie-ack", typ: 11},
		{name: "ecne", typ: 12, size: 8, fields: words32(32, "lowest-tsn")},
		{name: "cwr", typ: 13, size: 8, fields: words32(32, "lowest-tsn")},
		{name: "shutdown-complete", typ: 14},
		{name: "asconf-ack", typ: 0x80, size: 8, fields: words32(32, "seqno")},
		{name: "forward-tsn", typ: 0xc0, size: 8, fields: words32(32, "new-cum-tsn")},
		{name: "asconf", typ: 0xc1, size: 8, fields: words32(32, "seqno")},
	},
}
