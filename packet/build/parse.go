package build

import (
	"encoding/hex"
	"slices"
	"strings"

	"verdict/packet"
)

// Packet is a packet made from text.
type Packet struct {
	Data []byte
	Link packet.LinkType
	// Meta holds what the text says about the packet besides its bytes.
	// Interfaces given by name have that name and index 0, to be resolved
	// by whoever knows the host.
	Meta packet.Meta
	// Hook is where the text wants the packet to enter ("input"), or empty.
	Hook string
	// NoStation says that the text names no Ethernet destination, nor an address
	// that one follows from: the packet is then for whoever receives it.
	NoStation bool
}

// maxFrame bounds the packets that can be made: the largest IP packet in any
// link header of ours.
const maxFrame = 65535 + 256

// Parse makes a packet from text; the package documentation has the language.
// Errors are of type *Error. Parse may be called concurrently.
func Parse(text string) (*Packet, error) {
	p, err := parse(text)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func parse(text string) (*Packet, *Error) {
	words, err := split(text)
	if err != nil {
		return nil, err
	}
	p := parser{words: words, end: len(text), root: &stack{}, out: &Packet{Link: packet.LinkEthernet}}
	p.stack = p.root
	for !p.done() {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	if p.out.Data != nil {
		if len(p.root.layers()) != 0 || p.root.hasPayload || p.root.inner != nil || p.root.length != 0 {
			return nil, &Error{Offset: p.hexAt, Length: 3, Message: "hex is a whole frame: it cannot be combined with headers"}
		}
		return p.out, nil
	}
	if len(words) == 0 {
		return nil, &Error{Message: "empty packet"}
	}
	p.root.raw = p.out.Link != packet.LinkEthernet
	p.root.loopback = p.out.Meta.IIF.Name.String() == "lo"
	data, message := p.root.assemble()
	if message == "" && len(data) > maxFrame {
		message = "packet too large"
	}
	if message != "" {
		return nil, &Error{Offset: len(text), Message: message}
	}
	p.out.Data, p.out.NoStation = data, p.root.noStation
	return p.out, nil
}

// parser reads one text.
type parser struct {
	words []word
	at    int
	end   int // length of the text
	root  *stack
	stack *stack // the innermost
	out   *Packet
	hexAt int
}

func (p *parser) done() bool { return p.at >= len(p.words) }

// peek returns the next word, an empty one at the end.
func (p *parser) peek() word {
	if p.done() {
		return word{offset: p.end}
	}
	return p.words[p.at]
}

// take returns the next word, which must exist.
func (p *parser) take(what string) (word, *Error) {
	w := p.peek()
	if p.done() {
		return w, w.errorf("%s expected", what)
	}
	p.at++
	return w, nil
}

// keywords start something that is not a header.
var keywords = []string{"payload", "length", "inner", "gretap", "th", "exthdr", "meta", "hook", "link", "hex"}

// isKeyword reports whether a word starts something new.
func isKeyword(w word) bool {
	return !w.quoted && (headerByName(w.text) != nil || slices.Contains(keywords, w.text) || metaByName(w.text, true) != nil)
}

// next reads one construct.
func (p *parser) next() *Error {
	w, _ := p.take("header")
	if w.quoted {
		return w.errorf("string without a field before it")
	}
	if h := headerByName(w.text); h != nil {
		return p.header(w, h)
	}
	switch w.text {
	case "payload":
		return p.payload()
	case "length":
		return p.padding()
	case "inner":
		return p.inner(w)
	case "gretap":
		return p.greTap(w)
	case "th":
		return p.anyTransport(w)
	case "exthdr":
		return p.extensionByName()
	case "meta":
		return p.meta()
	case "hook":
		return p.hook()
	case "link":
		return p.link()
	case "hex":
		return p.frame(w)
	}
	if m := metaByName(w.text, true); m != nil {
		return p.metaValue(m)
	}
	return p.unknown(w)
}

// elsewhere are selectors of rules that are no property of a packet.
var elsewhere = map[string]string{
	"ct":     "the state of a connection follows from the packets before this one",
	"fib":    "routes are the host's",
	"socket": "sockets are the host's",
	"osf":    "it is derived from the TCP header",
	"ipsec":  "it belongs to the host",
	"numgen": "it belongs to a rule",
}

func (p *parser) unknown(w word) *Error {
	if why, ok := elsewhere[w.text]; ok {
		return w.errorf("%s is not a property of a packet: %s", w.text, why)
	}
	candidates := slices.Clone(keywords)
	for _, h := range headers {
		candidates = append(candidates, h.name)
	}
	for i := range metaKeys {
		candidates = append(candidates, metaKeys[i].name)
	}
	return w.suggest(w.errorf("unknown header %q", w.text), candidates)
}

// header reads what follows a header's name: fields with values, options.
func (p *parser) header(w word, h *header) *Error {
	if next := headerByName(p.peek().text); next != nil && h.tunnels && h != &udpHeader && h != &icmpHeader && h != &icmpv6Header {
		// nft's form "vxlan ip saddr ...": inside from here on.
		if p.enclosing(h) {
			return nil
		}
		if _, err := p.layer(w, h, ""); err != nil {
			return err
		}
		return p.inner(w)
	}
	for first := true; ; first = false {
		done, err := p.fieldOf(w, h, first)
		if done || err != nil {
			return err
		}
	}
}

// fieldOf reads one field of h. It is done where the next word starts
// something else, which it may only after a field, or instead of the first.
func (p *parser) fieldOf(w word, h *header, first bool) (bool, *Error) {
	name := p.peek()
	if p.done() || !first && isKeyword(name) {
		return p.bare(w, h, first)
	}
	if h.items != nil && name.text == h.items.keyword {
		p.at++
		return false, p.item(w, h)
	}
	if h.data && name.text == "data" {
		p.at++
		return false, p.data(w, h)
	}
	f := p.fieldName(h)
	if f == nil {
		if isKeyword(name) {
			return p.bare(w, h, first)
		}
		if name.text == "exists" && first {
			p.at++
			return p.bare(w, h, first)
		}
		return false, name.suggest(name.errorf("unknown field %q of %s", name.text, h.name), h.names())
	}
	return false, p.setField(w, h, f)
}

// bare ends a header; one without any field is added with its defaults.
func (p *parser) bare(w word, h *header, first bool) (bool, *Error) {
	if !first {
		return true, nil
	}
	_, err := p.layer(w, h, "")
	return true, err
}

// fieldName takes a field's name, which may have two words.
func (p *parser) fieldName(h *header) *field {
	name := p.peek().text
	if p.at+1 < len(p.words) {
		if f := h.field(name + " " + p.words[p.at+1].text); f != nil {
			p.at += 2
			return f
		}
	}
	f := h.field(name)
	if f != nil {
		p.at++
	}
	return f
}

// setField reads the value of f into the right layer.
func (p *parser) setField(w word, h *header, f *field) *Error {
	l, err := p.layer(w, h, f.name)
	if err != nil {
		return err
	}
	index := l.index(f.name)
	if l.explicit[index] {
		return w.errorf("%s %s given twice", h.name, f.name)
	}
	value, err := p.value(f)
	if err != nil {
		return err
	}
	l.grow(f)
	f.put(l.b, value)
	l.explicit[index] = true
	return nil
}

// value reads a value; flags may be spread over several words.
func (p *parser) value(f *field) ([]byte, *Error) {
	if next := p.peek().text; next == "==" || next == "eq" {
		p.at++
	}
	w, err := p.take("value of " + f.name)
	if err != nil {
		return nil, err
	}
	if f.kind == flags {
		w = p.joinFlags(w)
	}
	return f.parseValue(w)
}

// joinFlags joins "syn | ack" and "syn, ack" to one word. Blanks keep the
// positions of the parts.
func (p *parser) joinFlags(w word) word {
	for !p.done() && (endsInJoint(w.text) || startsWithJoint(p.peek().text)) {
		next := p.peek()
		p.at++
		blanks := strings.Repeat(",", max(0, next.offset-w.offset-w.length))
		w.text += blanks + next.text
		w.length = next.offset + next.length - w.offset
	}
	return w
}

func endsInJoint(s string) bool {
	return strings.HasSuffix(s, ",") || strings.HasSuffix(s, "|")
}

func startsWithJoint(s string) bool {
	return strings.HasPrefix(s, ",") || strings.HasPrefix(s, "|")
}

// data reads the raw bytes behind a header's fields.
func (p *parser) data(w word, h *header) *Error {
	l, err := p.layer(w, h, "data")
	if err != nil {
		return err
	}
	if l.hasData {
		return w.errorf("%s data given twice", h.name)
	}
	value, err := p.take("data of " + h.name)
	if err != nil {
		return err
	}
	l.data, err = parseBytes(value)
	l.hasData = true
	return err
}

func (p *parser) payload() *Error {
	w, err := p.take("payload")
	if err != nil {
		return err
	}
	if p.stack.hasPayload {
		return w.errorf("payload given twice")
	}
	if w.text == "length" && !w.quoted {
		p.stack.hasPayload = true
		return p.padding()
	}
	p.stack.payload, err = parseBytes(w)
	p.stack.hasPayload = true
	return err
}

func (p *parser) padding() *Error {
	w, err := p.take("length")
	if err != nil {
		return err
	}
	n, err := parseNumber(w, 16)
	p.stack.length = int(n)
	return err
}

func (p *parser) hook() *Error {
	hooks := []string{"ingress", "prerouting", "input", "forward", "output", "postrouting", "egress"}
	w, err := p.take("name of a hook")
	if err != nil {
		return err
	}
	if !slices.Contains(hooks, w.text) {
		return w.suggest(w.errorf("unknown hook %q", w.text), hooks)
	}
	p.out.Hook = w.text
	return nil
}

// linkTypes are the link types that a text can choose.
var linkTypes = map[string]packet.LinkType{"ethernet": packet.LinkEthernet, "raw": packet.LinkRaw}

func (p *parser) link() *Error {
	w, err := p.take("link type")
	if err != nil {
		return err
	}
	if t, ok := linkTypes[w.text]; ok {
		p.out.Link = t
		return nil
	}
	n, err := parseNumber(w, 16)
	if err != nil {
		return w.suggest(w.errorf("link type %q is neither ethernet, raw nor a number", w.text), []string{"ethernet", "raw"})
	}
	p.out.Link = packet.LinkType(n)
	return nil
}

// frame reads a whole frame: words of hexadecimal digits, with colons or
// without.
func (p *parser) frame(start word) *Error {
	p.hexAt = start.offset
	if p.out.Data != nil {
		return start.errorf("hex given twice")
	}
	p.out.Data = []byte{}
	for !p.done() && !isKeyword(p.peek()) {
		w, _ := p.take("bytes")
		digits := strings.ReplaceAll(strings.TrimPrefix(w.text, "0x"), ":", "")
		b, err := hex.DecodeString(digits)
		if err != nil {
			return w.errorf("%q is not a whole number of hexadecimal bytes", w.text)
		}
		p.out.Data = append(p.out.Data, b...)
	}
	return nil
}
