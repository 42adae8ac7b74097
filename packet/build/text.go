package build

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"verdict/packet"
)

// longPayload is the length from which Text leaves out the payload's bytes.
const longPayload = 64

// Text prints a packet in the language of Parse: addresses and ports first,
// then every field that differs from what Parse would fill in by itself.
// Parse of the result makes the same frame, except that
//
//   - a payload of more than 64 bytes, and one that was not captured whole, is
//     given by its length only, and the checksum follows the new payload;
//   - padding behind the packet is left out;
//   - the link layer is left out (link raw) where the language has no words
//     for it, below which an IP packet was found.
//
// A frame that cannot be put into words at all is given as hex.
func Text(v *packet.View) string {
	words, _ := describe(v)
	return words
}

// describe also tells whether words were found, rather than hex.
func describe(v *packet.View) (string, bool) {
	raw := v.Link != packet.LinkEthernet || v.HasPPPoE() || v.HasMPLS()
	b, cut := captured(v, raw)
	if b != nil {
		for _, inside := range []bool{true, false} {
			d := dissector{inside: inside}
			take := d.frame
			if raw {
				take = d.packet
			}
			if s := take(b); s != nil {
				if text, ok := s.text(b, cut); ok && reads(text) {
					return text, true
				}
			}
		}
	}
	return hexText(v), false
}

// reads reports whether the words can be read back.
func reads(text string) bool {
	_, err := Parse(text)
	return err == nil
}

func hexText(v *packet.View) string {
	text := "hex " + hex.EncodeToString(v.Data)
	if v.Link != packet.LinkEthernet {
		text = fmt.Sprintf("link %d %s", v.Link, text)
	}
	return text
}

// captured returns the packet that is to be printed, with zeros for what was
// not captured, and how many bytes those are; nil if there is none.
func captured(v *packet.View, raw bool) (b []byte, cut int) {
	start := 0
	if raw {
		if v.EtherType != packet.TypeIPv4 && v.EtherType != packet.TypeIPv6 || v.NetOff >= len(v.Data) {
			return nil, 0
		}
		start = v.NetOff
		if isIPv6 := v.Data[start]>>4 == 6; isIPv6 != (v.EtherType == packet.TypeIPv6) {
			return nil, 0 // a raw packet is what its version says
		}
	}
	b = v.Packet()
	if len(b) <= start || v.L4Cut || v.End > maxFrame {
		return nil, 0
	}
	cut = v.End - len(b)
	b = append(slices.Clone(b[start:]), make([]byte, cut)...)
	if !v.L4OK && v.EtherType == packet.TypeARP && allZero(b[min(len(b), v.NetOff+28):]) {
		b = b[:min(len(b), v.NetOff+28)]
	}
	return b, cut
}

// text finds the fields that must be said and prints them. It reports false
// if even all fields together do not make the frame b.
func (s *stack) text(b []byte, cut int) (string, bool) {
	if cut > len(s.innermost().payload) {
		return "", false // headers are missing
	}
	said := s.skeleton()
	for range 2 * int(derivedChecksum+1) {
		made, message := said.assemble()
		if message != "" || !said.alike(s) {
			return "", false
		}
		if !said.adoptOne(s, cut > 0) {
			if cut == 0 && string(made) != string(b) {
				return "", false
			}
			return said.print(s.raw, cut), true
		}
	}
	return "", false
}

// alike reports whether two stacks have the same headers.
func (s *stack) alike(t *stack) bool {
	a, b := s.layers(), t.layers()
	same := func(x, y *layer) bool { return x.header == y.header }
	return slices.EqualFunc(a, b, same) && (s.inner == nil) == (t.inner == nil) && (s.inner == nil || s.inner.alike(t.inner))
}

// derivation tells what Parse computes a field from: fields that others
// depend on must be said first.
type derivation uint8

const (
	independent     derivation = iota
	derivedLength              // from what is in the packet
	derivedChecksum            // from everything
)

func (f *field) derivation() derivation {
	switch f.name {
	case "checksum":
		return derivedChecksum
	case "length", "hdrlength", "doff", "optlength":
		return derivedLength
	}
	return independent
}

// adoptOne says the differing fields of the first kind that has any.
func (s *stack) adoptOne(actual *stack, cut bool) bool {
	for kind := independent; kind <= derivedChecksum; kind++ {
		if s.adopt(actual, kind, cut) {
			return true
		}
	}
	return false
}

func (s *stack) innermost() *stack {
	for s.inner != nil {
		s = s.inner
	}
	return s
}

// skeleton is a stack with the same headers, of which only the essential
// fields, options and data are taken over.
func (s *stack) skeleton() *stack {
	out := &stack{raw: s.raw, payload: s.payload, hasPayload: s.hasPayload}
	out.ether = s.ether.skeleton()
	for _, l := range s.vlans {
		out.vlans = append(out.vlans, l.skeleton())
	}
	out.network = s.network.skeleton()
	for _, l := range s.extensions {
		out.extensions = append(out.extensions, l.skeleton())
	}
	out.transport = s.transport.skeleton()
	out.tunnel = s.tunnel.skeleton()
	if s.inner != nil {
		out.inner = s.inner.skeleton()
	}
	out.sayNext(s)
	return out
}

// sayNext marks the field that keeps assemble from adding a header, where the
// packet has none.
func (s *stack) sayNext(actual *stack) {
	switch {
	case s.network == nil:
		if l := s.lastLink(); l != nil {
			l.say(actual.lastLink(), l.index("type"))
		}
	case s.network.header != &arpHeader && s.transport == nil && s.inner == nil && !actual.laterFragment():
		from, to := actual.network, s.network
		if n := len(s.extensions); n > 0 {
			from, to = actual.extensions[n-1], s.extensions[n-1]
		}
		to.say(from, to.index(nextField(to)))
	}
	if actual.laterFragment() {
		for i, l := range s.layers() {
			if k := l.index("frag-off"); k >= 0 {
				l.say(actual.layers()[i], k)
			}
		}
	}
}

func (l *layer) skeleton() *layer {
	if l == nil {
		return nil
	}
	out := newLayer(l.header)
	for i := range l.header.fields {
		if l.header.fields[i].essential {
			out.say(l, i)
		}
	}
	out.items, out.data, out.hasData = l.items, l.data, l.hasData
	return out
}

// say takes a field over from another layer of the same kind.
func (l *layer) say(from *layer, i int) {
	f := &l.header.fields[i]
	l.grow(f)
	setFrom(l.b, from.b, f)
	l.explicit[i] = true
}

func setFrom(to, from []byte, f *field) {
	for bit := f.bit; bit < f.bit+f.bits; bit++ {
		setBits(to, bit, 1, getBits(from, bit, 1))
	}
}

// adopt says the fields of a kind that came out differently, and reports
// whether there were any.
func (s *stack) adopt(actual *stack, kind derivation, cut bool) bool {
	changed := false
	from := actual.layers()
	for i, l := range s.layers() {
		if l.adopt(from[i], kind, cut) {
			changed = true
		}
	}
	if s.inner != nil && s.inner.adopt(actual.inner, kind, cut) {
		changed = true
	}
	return changed
}

// adopt prefers fields that have a meaning in the message at hand: those of
// others that share their place then agree too.
func (l *layer) adopt(actual *layer, kind derivation, cut bool) bool {
	changed := false
	for _, meaningful := range []bool{true, false} {
		for i := range l.header.fields {
			f := &l.header.fields[i]
			if l.explicit[i] || f.derivation() != kind || meaningful && f.only != nil && !f.only(actual.b) {
				continue
			}
			if cut && kind == derivedChecksum || (f.bit+f.bits+7)/8 > len(actual.b) || sameField(l.b, actual.b, f) {
				continue
			}
			l.say(actual, i)
			changed = true
		}
	}
	return changed
}

func sameField(a, b []byte, f *field) bool {
	for bit := f.bit; bit < f.bit+f.bits; bit++ {
		if getBits(a, bit, 1) != getBits(b, bit, 1) {
			return false
		}
	}
	return true
}

// print writes what was said: what is essential first.
func (s *stack) print(raw bool, cut int) string {
	var out []string
	if raw {
		out = append(out, "link raw")
	}
	s.write(&out, cut)
	return strings.Join(out, " ")
}

func (s *stack) write(out *[]string, cut int) {
	for _, l := range s.vlans {
		l.writeFields(out, true)
		l.writeFields(out, false)
	}
	s.network.writeFields(out, true)
	for _, l := range s.extensions {
		l.writeFields(out, true)
		l.writeFields(out, false)
		l.writeRest(out)
	}
	for _, l := range []*layer{s.transport, s.tunnel} {
		l.writeFields(out, true)
	}
	for _, l := range []*layer{s.network, s.ether, s.transport, s.tunnel} {
		l.writeFields(out, false)
		l.writeRest(out)
	}
	if s.transport != nil && s.transport.silent() {
		*out = append(*out, s.transport.header.name)
	}
	s.writePayload(out, cut)
}

func (s *stack) writePayload(out *[]string, cut int) {
	switch n := len(s.payload); {
	case s.inner != nil:
		*out = append(*out, "inner")
		if s.inner.ether != nil && !slices.Contains(s.inner.ether.explicit, true) {
			*out = append(*out, "ether")
		}
		s.inner.write(out, cut)
	case n == 0:
	case cut > 0 || n > longPayload || allZero(s.payload):
		*out = append(*out, "payload length", fmt.Sprint(n))
	case printable(s.payload):
		*out = append(*out, "payload", quote(s.payload))
	default:
		*out = append(*out, "payload", "0x"+hex.EncodeToString(s.payload))
	}
}

func printable(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' || c > '~' })
}

func quote(b []byte) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(string(b)) + `"`
}

// silent reports whether nothing of the layer was said.
func (l *layer) silent() bool {
	return !slices.Contains(l.explicit, true) && len(l.data) == 0 && len(l.items) == 0
}

// writeFields writes the essential or the other fields that were said. An
// extension header that has nothing to say is named.
func (l *layer) writeFields(out *[]string, essential bool) {
	if l == nil {
		return
	}
	for i := range l.header.fields {
		f := &l.header.fields[i]
		if l.explicit[i] && f.essential == essential {
			*out = append(*out, l.header.name, f.name, f.format(l.b))
		}
	}
	if essential && l.silent() && l.header.rank == rankExtension {
		*out = append(*out, l.header.name)
	}
}

// writeRest writes raw data and options.
func (l *layer) writeRest(out *[]string) {
	if l == nil {
		return
	}
	if l.hasData && len(l.data) > 0 {
		*out = append(*out, l.header.name, "data", "0x"+hex.EncodeToString(l.data))
	}
	for i := range l.items {
		*out = append(*out, l.header.name, l.header.items.keyword, l.header.items.format(&l.items[i]))
	}
}

// format writes an option or chunk: by its fields, if they say all, else by
// its data.
func (s *itemSyntax) format(i *item) string {
	if i.kind == nil {
		return s.formatData(i, fmt.Sprint(i.b[0]))
	}
	if s.single(i.b[0]) {
		return i.kind.name
	}
	made := s.newItem(i.b[0])
	words := []string{i.kind.name}
	all := i.kind.fields
	if s.chunks {
		all = append([]field{{name: "flags", bit: 8, bits: 8, hex: true}}, all...)
	}
	for k := range all {
		f := &all[k]
		if (f.bit+f.bits)/8 > len(i.b) || (f.bit+f.bits)/8 > len(made.b) {
			continue
		}
		if !s.chunks || !sameField(made.b, i.b, f) {
			words = append(words, f.name, f.format(i.b))
			setFrom(made.b, i.b, f)
		}
	}
	if string(made.b) == string(i.b) {
		return strings.Join(words, " ")
	}
	return s.formatData(i, i.kind.name)
}

func (s *itemSyntax) formatData(i *item, name string) string {
	if s.single(i.b[0]) {
		return name
	}
	head := 2
	if s.chunks {
		head = 4
		if i.b[1] != 0 {
			name += fmt.Sprintf(" flags 0x%02x", i.b[1])
		}
	}
	return name + " data 0x" + hex.EncodeToString(i.b[head:])
}
