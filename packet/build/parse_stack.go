package build

// layer returns the layer that a header's name refers to, a new one where
// there is none yet. name is the field that is to be set: headers that may
// occur several times start anew when they have it already.
func (p *parser) layer(w word, h *header, name string) (*layer, *Error) {
	s := p.stack
	switch h.rank {
	case rankEther:
		return single(&s.ether, w, h)
	case rankVLAN:
		return repeated(&s.vlans, h, name), nil
	case rankNetwork:
		return single(&s.network, w, h)
	case rankExtension:
		return repeated(&s.extensions, h, name), nil
	case rankTunnel:
		return single(&s.tunnel, w, h)
	}
	return single(&s.transport, w, h)
}

// single returns the only layer of its rank.
func single(slot **layer, w word, h *header) (*layer, *Error) {
	if *slot == nil {
		*slot = newLayer(h)
	}
	if (*slot).header != h {
		return nil, w.errorf("%s beside %s: a packet inside another needs the word inner", h.name, (*slot).header.name)
	}
	return *slot, nil
}

// repeated returns the last layer of a kind that may occur several times.
func repeated(layers *[]*layer, h *header, name string) *layer {
	if n := len(*layers); n > 0 {
		last := (*layers)[n-1]
		taken := name == "" || name == "data" && last.hasData || last.given(name)
		if last.header == h && !taken {
			return last
		}
	}
	l := newLayer(h)
	*layers = append(*layers, l)
	return l
}

// maxNesting bounds packets inside packets.
const maxNesting = 16

// inner starts a packet inside the current one.
func (p *parser) inner(w word) *Error {
	depth := 0
	for s := p.root; s != p.stack; s = s.inner {
		depth++
	}
	if depth >= maxNesting {
		return w.errorf("more than %d packets inside each other", maxNesting)
	}
	p.stack.inner = &stack{}
	p.stack = p.stack.inner
	return nil
}

// enclosing reports whether the current packet is inside a tunnel of this
// kind, so that its name need not start another: nft repeats it before each
// inner field.
func (p *parser) enclosing(h *header) bool {
	for s := p.root; s.inner != nil; s = s.inner {
		if s.inner == p.stack {
			return s.tunnel != nil && s.tunnel.header == h || s.transport != nil && s.transport.header == h
		}
	}
	return false
}

// greTap reads nft's name for an Ethernet frame in GRE.
func (p *parser) greTap(w word) *Error {
	if p.enclosing(&greHeader) {
		return nil
	}
	if _, err := p.layer(w, &greHeader, ""); err != nil {
		return err
	}
	if err := p.inner(w); err != nil {
		return err
	}
	p.stack.ether = newLayer(&etherHeader)
	return nil
}

// anyTransport reads th sport and th dport: of whatever transport there is.
func (p *parser) anyTransport(w word) *Error {
	if p.stack.transport == nil {
		return w.errorf("th needs a transport protocol before it")
	}
	return p.header(w, p.stack.transport.header)
}

// extensionByName reads nft's test for a header: exthdr hbh exists.
func (p *parser) extensionByName() *Error {
	w, err := p.take("extension header")
	if err != nil {
		return err
	}
	h := headerByName(w.text)
	if h == nil || h.rank != rankExtension && h != &mobilityHeader {
		return w.suggest(w.errorf("unknown extension header %q", w.text), []string{"hbh", "dst", "rt", "frag", "ah", "mh"})
	}
	if _, err := p.layer(w, h, ""); err != nil {
		return err
	}
	if p.peek().text == "exists" {
		p.at++
	}
	return nil
}

// item reads an option or chunk: its kind, then fields with values.
func (p *parser) item(w word, h *header) *Error {
	l, err := p.layer(w, h, "")
	if err != nil {
		return err
	}
	syntax := h.items
	name, err := p.take("name of an " + syntax.keyword)
	if err != nil {
		return err
	}
	typ, err := syntax.parseType(name)
	if err != nil {
		return err
	}
	// tcp option timestamp tsval 1 tcp option timestamp tsecr 2 is one option.
	fresh := true
	if n := len(l.items); n > 0 && l.items[n-1].b[0] == typ && !syntax.single(typ) && l.items[n-1].lacks(p.peek().text) {
		fresh = false
	}
	if fresh {
		l.items = append(l.items, syntax.newItem(typ))
	}
	i := &l.items[len(l.items)-1]
	for first := true; ; first = false {
		field := p.peek()
		switch f := syntax.field(i, field.text); {
		case p.done(), field.text == "length" && !first:
			return nil
		case field.text == "exists":
			p.at++
		case field.text == "data" && !syntax.single(typ):
			p.at++
			if err := p.itemData(syntax, i); err != nil {
				return err
			}
		case f != nil:
			p.at++
			if err := p.itemField(syntax, i, f); err != nil {
				return err
			}
		case isKeyword(field) || h.field(field.text) != nil || field.text == syntax.keyword:
			return nil
		default:
			return field.suggest(field.errorf("unknown field %q of %s %s", field.text, syntax.keyword, name.text), syntax.fieldNames(i))
		}
	}
}

// parseType reads the name or number of an option or chunk.
func (s *itemSyntax) parseType(w word) (byte, *Error) {
	if k := s.byName(w.text); k != nil {
		return k.typ, nil
	}
	if w.text != "" && w.text[0] >= '0' && w.text[0] <= '9' {
		n, err := parseNumber(w, 8)
		return byte(n), err
	}
	return 0, w.suggest(w.errorf("unknown %s %q", s.keyword, w.text), s.names())
}

func (s *itemSyntax) fieldNames(i *item) []string {
	names := []string{"length", "data"}
	if i.kind != nil {
		for k := range i.kind.fields {
			names = append(names, i.kind.fields[k].name)
		}
	}
	return names
}

// lacks reports whether a field of the item was not given yet.
func (i *item) lacks(name string) bool {
	for _, done := range i.given {
		if done == name {
			return false
		}
	}
	return i.kind != nil && len(i.given) > 0 && fieldIn(i.kind.fields, name)
}

func fieldIn(fields []field, name string) bool {
	for i := range fields {
		if fields[i].name == name {
			return true
		}
	}
	return false
}

func (p *parser) itemField(s *itemSyntax, i *item, f *field) *Error {
	value, err := p.value(f)
	if err != nil {
		return err
	}
	if end := (f.bit + f.bits) / 8; end > len(i.b) {
		i.b = append(i.b, make([]byte, end-len(i.b))...)
		s.setLength(i)
	}
	f.put(i.b, value)
	i.given = append(i.given, f.name)
	i.lengthGiven = i.lengthGiven || f.name == "length"
	return nil
}

// itemData sets what follows the item's length.
func (p *parser) itemData(s *itemSyntax, i *item) *Error {
	w, err := p.take("data of " + s.keyword)
	if err != nil {
		return err
	}
	value, err := parseBytes(w)
	if err != nil {
		return err
	}
	head := 2
	if s.chunks {
		head = 4
	}
	if !s.chunks && head+len(value) > 255 {
		return w.errorf("an option has at most 255 bytes")
	}
	if head+len(value) > 65535 {
		return w.errorf("a chunk has at most 65535 bytes")
	}
	i.b = append(i.b[:head], value...)
	s.setLength(i)
	return nil
}
