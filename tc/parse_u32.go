package tc

import (
	"encoding/binary"
	"strings"
)

// u32Handle reads HTID:HASH:NODE, parts left out being 0.
func u32Handle(text string) (uint32, bool) {
	if text == "" || text == "root" || text == "none" {
		return map[string]uint32{"": 0, "root": handleRoot, "none": 0}[text], true
	}
	parts := strings.Split(text, ":")
	if len(parts) == 1 {
		n, ok := number(text, 16, 64)
		if ok && n > 0xfff {
			return uint32(n), true
		}
		return uint32(n), ok
	}
	if len(parts) > 3 {
		return 0, false
	}
	var n [3]uint32
	limits := [3]uint64{0xfff, 0xff, 0xfff}
	for i, p := range parts {
		if p == "" {
			continue
		}
		v, ok := number(p, 16, 32)
		if !ok || v > limits[i] {
			return 0, false
		}
		n[i] = uint32(v)
	}
	return n[0]<<20 | n[1]<<12 | n[2], true
}

func parseU32(w *words, r *filterRequest, s *System) *ToolError {
	o := &u32Options{}
	r.options = o
	terminal := false
	for w.more() {
		err, done := parseU32Word(w, r, o, s, &terminal)
		if err != nil {
			return err
		}
		if !done {
			return tool("What is %q?\nUsage: ... u32 [ match SELECTOR ... ] [ link HTID ] [ classid CLASSID ]", w.peek())
		}
	}
	o.terminal = terminal
	return nil
}

func parseU32Word(w *words, r *filterRequest, o *u32Options, s *System, terminal *bool) (*ToolError, bool) {
	switch {
	case w.matches("match"):
		w.skip()
		if err := o.match(w); err != nil {
			return illegal(plain(err), "match"), true
		}
	case w.matches("offset"):
		w.skip()
		if err := o.parseOffset(w); err != nil {
			return illegal(plain(err), "offset"), true
		}
	case w.matches("hashkey"):
		w.skip()
		if err := o.parseHash(w); err != nil {
			return illegal(plain(err), "hashkey"), true
		}
	case w.matches("classid", "flowid"):
		*terminal = true
		return r.parseClass(w), true
	case w.matches("divisor"):
		text, err := w.value()
		if err != nil {
			return err, true
		}
		n, ok := number32(text, 0)
		if !ok || n == 0 || n > 0x100 || n&(n-1) != 0 {
			return tool(`Illegal "divisor"`), true
		}
		o.divisor, o.hasDiv = n, true
	case w.matches("order"):
		text, err := w.value()
		if err != nil {
			return err, true
		}
		n, ok := number32(text, 0)
		if !ok {
			return tool(`Illegal "order"`), true
		}
		o.order = n
	case w.is("link"), w.is("ht"):
		name := w.peek()
		text, err := w.value()
		if err != nil {
			return err, true
		}
		n, ok := u32Handle(text)
		if !ok || name == "link" && n&0xfffff != 0 {
			return tool("Illegal %q", name), true
		}
		if name == "link" {
			o.link, o.hasLink = n, true
		} else {
			if n&0xfff != 0 {
				return tool("\"ht\" must be a hash table."), true
			}
			o.ht, o.hasHT = n&0xfffff000, true
		}
	case w.is("sample"):
		w.skip()
		return o.parseSample(w), true
	case w.is("indev"):
		text, err := w.value()
		if err != nil {
			return err, true
		}
		r.indev = text
	case r.parseSkip(w):
	case w.matches("action"):
		*terminal = true
		return r.parseFilterActions(w, s), true
	case w.matches("police"):
		*terminal = true
		return r.parsePoliceWord(w), true
	default:
		return nil, false
	}
	return nil, true
}

// plain hides the details that tc does not print, but keeps errors that end it.
func plain(err *ToolError) *ToolError {
	if err != nil && !err.Ends {
		return nil
	}
	return err
}

// bad is an error whose text nobody sees.
func bad() *ToolError { return tool("bad selector") }

// match reads one selector.
func (o *u32Options) match(w *words) *ToolError {
	if !w.more() {
		return incomplete()
	}
	name := w.peek()
	w.skip()
	switch {
	case prefix(name, "u32"):
		return o.rawWord(w, 32)
	case prefix(name, "u16"):
		return o.rawWord(w, 16)
	case prefix(name, "u8"):
		return o.rawWord(w, 8)
	case prefix(name, "ip"):
		return o.ip(w)
	case prefix(name, "ip6"):
		return o.ip6(w)
	case prefix(name, "udp"), prefix(name, "tcp"):
		return o.ports(w)
	case prefix(name, "icmp"):
		return o.icmp(w)
	case prefix(name, "mark"):
		return o.parseMark(w)
	case prefix(name, "ether"):
		return o.ether(w)
	}
	return bad()
}

func (o *u32Options) pair(w *words) (v, m uint32, err *ToolError) {
	a, err := w.take()
	if err != nil {
		return 0, 0, err
	}
	b, err := w.take()
	if err != nil {
		return 0, 0, err
	}
	v, ok := number32(a, 0)
	m, okMask := number32(b, 16)
	if !ok || !okMask {
		return 0, 0, bad()
	}
	return v, m, nil
}

// rawWord reads "V M [at [nexthdr+]O]".
func (o *u32Options) rawWord(w *words, bits int) *ToolError {
	v, m, err := o.pair(w)
	if err != nil {
		return err
	}
	off, next, err := parseAt(w)
	if err != nil {
		return err
	}
	return o.pack(v, m, off, bits, next)
}

// parseAt reads "at [nexthdr+]O".
func parseAt(w *words) (int32, bool, *ToolError) {
	if !w.is("at") {
		return 0, false, nil
	}
	text, err := w.value()
	if err != nil {
		return 0, false, err
	}
	rest, next := strings.CutPrefix(text, "nexthdr+")
	off, ok := signed(rest)
	if !ok {
		return 0, false, bad()
	}
	return off, next, nil
}

// pack adds a value of 8, 16 or 32 bits as a word.
func (o *u32Options) pack(v, m uint32, off int32, bits int, next bool) *ToolError {
	v, m, off, ok := packWord(v, m, off, bits)
	if !ok {
		return bad()
	}
	return o.add(u32Key{value: v, mask: m, off: off, next: next})
}

// add merges a word with one at the same place; the bits that both test must
// agree.
func (o *u32Options) add(k u32Key) *ToolError {
	for i := range o.keys {
		old := &o.keys[i]
		if old.off != k.off || old.next != k.next {
			continue
		}
		if common := old.mask & k.mask; (old.value^k.value)&common != 0 {
			return bad()
		}
		old.value |= k.value
		old.mask |= k.mask
		return nil
	}
	if len(o.keys) >= u32MaxKeys {
		return bad()
	}
	o.keys = append(o.keys, k)
	return nil
}

// field reads "V M" for a field of a header.
func (o *u32Options) field(w *words, off int32, bits int, next bool) *ToolError {
	v, m, err := o.pair(w)
	if err != nil {
		return err
	}
	return o.pack(v, m, off, bits, next)
}

func (o *u32Options) ip(w *words) *ToolError {
	name, err := w.take()
	if err != nil {
		return err
	}
	switch {
	case prefix(name, "src"):
		return o.address(w, 12)
	case prefix(name, "dst"):
		return o.address(w, 16)
	case name == "tos", prefix(name, "dsfield"), prefix(name, "precedence"):
		return o.field(w, 1, 8, false)
	case name == "ihl":
		return o.field(w, 0, 8, false)
	case prefix(name, "protocol"):
		return o.field(w, 9, 8, false)
	case prefix(name, "nofrag"):
		return o.pack(0, 0x3fff, 6, 16, false)
	case prefix(name, "firstfrag"):
		return o.pack(0x2000, 0x3fff, 6, 16, false)
	case name == "df":
		return o.pack(0x4000, 0x4000, 6, 16, false)
	case name == "mf":
		return o.pack(0x2000, 0x2000, 6, 16, false)
	case name == "dport":
		return o.field(w, 22, 16, false)
	case name == "sport":
		return o.field(w, 20, 16, false)
	case name == "icmp_type":
		return o.field(w, 20, 8, false)
	case name == "icmp_code":
		return o.field(w, 21, 8, false)
	}
	return bad()
}

func (o *u32Options) address(w *words, off int32) *ToolError {
	text, err := w.take()
	if err != nil {
		return err
	}
	a, n, ok := ipPrefix(text, false)
	if !ok {
		return bad()
	}
	m := binary.BigEndian.Uint32(prefixMask(n, 4))
	return o.add(u32Key{value: word32(a) & m, mask: m, off: off})
}

func (o *u32Options) ip6(w *words) *ToolError {
	name, err := w.take()
	if err != nil {
		return err
	}
	switch {
	case prefix(name, "src"):
		return o.address6(w, 8)
	case prefix(name, "dst"):
		return o.address6(w, 24)
	case prefix(name, "priority"):
		v, m, err := o.pair(w)
		if err != nil {
			return err
		}
		return o.pack(v<<4, m<<4, 0, 16, false)
	case prefix(name, "protocol"):
		return o.field(w, 6, 8, false)
	case prefix(name, "flowlabel"):
		return o.field(w, 0, 32, false)
	case name == "dport":
		return o.field(w, 42, 16, false)
	case name == "sport":
		return o.field(w, 40, 16, false)
	case name == "icmp_type":
		return o.field(w, 40, 8, false)
	case name == "icmp_code":
		return o.field(w, 41, 8, false)
	}
	return bad()
}

// address6 adds the words of a prefix that have a mask.
func (o *u32Options) address6(w *words, off int32) *ToolError {
	text, err := w.take()
	if err != nil {
		return err
	}
	a, n, ok := ipPrefix(text, true)
	if !ok {
		return bad()
	}
	b, mask := a.As16(), prefixMask(n, 16)
	for i := range 4 {
		m := binary.BigEndian.Uint32(mask[4*i:])
		if m == 0 {
			continue
		}
		if err := o.add(u32Key{value: binary.BigEndian.Uint32(b[4*i:]) & m, mask: m, off: off + int32(4*i)}); err != nil {
			return err
		}
	}
	return nil
}

func (o *u32Options) ports(w *words) *ToolError {
	name, err := w.take()
	if err != nil {
		return err
	}
	switch {
	case prefix(name, "src"):
		return o.field(w, 0, 16, true)
	case prefix(name, "dst"):
		return o.field(w, 2, 16, true)
	}
	return bad()
}

func (o *u32Options) icmp(w *words) *ToolError {
	name, err := w.take()
	if err != nil {
		return err
	}
	switch {
	case prefix(name, "type"):
		return o.field(w, 0, 8, true)
	case prefix(name, "code"):
		return o.field(w, 1, 8, true)
	}
	return bad()
}

func (o *u32Options) parseMark(w *words) *ToolError {
	v, m, err := o.pair(w)
	if err != nil {
		return err
	}
	if v&^m != 0 || o.mark.set {
		return bad()
	}
	o.mark = u32Mark{value: v, mask: m, set: true}
	return nil
}

// ether reads an address of the link header, which lies before the network
// header.
func (o *u32Options) ether(w *words) *ToolError {
	name, err := w.take()
	if err != nil {
		return err
	}
	text, err := w.take()
	if err != nil {
		return err
	}
	a, m, ok := macMask(text)
	if !ok {
		return bad()
	}
	off := int32(-14)
	switch {
	case prefix(name, "src"):
		off = -8
	case !prefix(name, "dst"):
		return bad()
	}
	// The address is packed as tc does: two and four bytes, or the reverse,
	// so that no word is crossed.
	be := func(b []byte) uint32 { return binary.BigEndian.Uint32(b) }
	if off&3 == 0 {
		if err := o.pack(be(a[:4]), be(m[:4]), off, 32, false); err != nil {
			return err
		}
		return o.pack(uint32(a[4])<<8|uint32(a[5]), uint32(m[4])<<8|uint32(m[5]), off+4, 16, false)
	}
	if err := o.pack(uint32(a[0])<<8|uint32(a[1]), uint32(m[0])<<8|uint32(m[1]), off, 16, false); err != nil {
		return err
	}
	return o.pack(be(a[2:]), be(m[2:]), off+2, 32, false)
}
