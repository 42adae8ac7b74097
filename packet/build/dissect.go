package build

import "verdict/packet"

// dissector cuts a frame into layers. It fails on what the language has no
// words for, and does not judge: whether the layers make the same frame again
// is found out by assembling them.
type dissector struct {
	// inside makes it look into tunnels and quoted packets.
	inside bool
	depth  int
}

// layerFrom takes a header of h's default length from b, or nil.
func layerFrom(h *header, b []byte) (*layer, []byte) {
	n := len(h.template)
	if len(b) < n {
		return nil, nil
	}
	l := newLayer(h)
	copy(l.b, b)
	return l, b[n:]
}

// frame cuts an Ethernet frame.
func (d *dissector) frame(b []byte) *stack {
	s := &stack{}
	var rest []byte
	if s.ether, rest = layerFrom(&etherHeader, b); s.ether == nil {
		return nil
	}
	typ := s.ether.get("type")
	for typ == packet.TypeVLAN || typ == packet.TypeSVLAN {
		var l *layer
		if l, rest = layerFrom(&vlanHeader, rest); l == nil {
			return nil
		}
		s.vlans = append(s.vlans, l)
		typ = l.get("type")
	}
	if !d.network(s, uint16(typ), rest) {
		return nil
	}
	return s
}

// network cuts what a link header's type announces.
func (d *dissector) network(s *stack, typ uint16, b []byte) bool {
	switch typ {
	case packet.TypeIPv4:
		return d.ipv4(s, b)
	case packet.TypeIPv6:
		return d.ipv6(s, b)
	case packet.TypeARP:
		var rest []byte
		if s.network, rest = layerFrom(&arpHeader, b); s.network == nil {
			return false
		}
		if !allZero(rest) { // zeros are padding
			s.setPayload(rest)
		}
		return true
	}
	s.setPayload(b)
	return true
}

// packet cuts an IP packet without link header.
func (d *dissector) packet(b []byte) *stack {
	s := &stack{raw: true}
	ok := false
	if len(b) > 0 {
		switch b[0] >> 4 {
		case 4:
			ok = d.ipv4(s, b)
		case 6:
			ok = d.ipv6(s, b)
		}
	}
	if !ok {
		return nil
	}
	return s
}

func (s *stack) setPayload(b []byte) {
	if len(b) > 0 {
		s.payload, s.hasPayload = b, true
	}
}

func (d *dissector) ipv4(s *stack, b []byte) bool {
	n, rest := layerFrom(&ipHeader, b)
	if n == nil {
		return false
	}
	s.network = n
	size := int(n.get("hdrlength"))*4 - 20
	if size < 0 || size > len(rest) {
		return false
	}
	var ok bool
	if n.items, ok = ipOptions.readItems(rest[:size]); !ok {
		return false
	}
	d.protocol(s, uint8(n.get("protocol")), rest[size:])
	return true
}

func (d *dissector) ipv6(s *stack, b []byte) bool {
	n, rest := layerFrom(&ip6Header, b)
	if n == nil {
		return false
	}
	s.network = n
	d.protocol(s, uint8(n.get("nexthdr")), rest)
	return true
}

// protocol cuts extension headers, then the transport header. What does not
// fit becomes payload.
func (d *dissector) protocol(s *stack, protocol uint8, b []byte) {
	for {
		h := headerByProtocol(uint64(protocol))
		if h == nil || h.rank != rankExtension || s.laterFragment() || len(s.extensions) > 16 {
			break
		}
		l, rest := layerFrom(h, b)
		if l == nil {
			break
		}
		size := extensionLen(l) - len(l.b)
		if size < 0 || size > len(rest) {
			break
		}
		if h.data {
			l.data, l.hasData = rest[:size:size], true
		}
		s.extensions = append(s.extensions, l)
		protocol, b = uint8(l.get("nexthdr")), rest[size:]
	}
	if s.laterFragment() || !d.transport(s, protocol, b) {
		s.transport = nil
		s.setPayload(b)
		if protocol == packet.ProtoIPIP || protocol == packet.ProtoIPv6 {
			d.innerPacket(s, b)
		}
	}
}

// extensionLen is the length that an extension header claims.
func extensionLen(l *layer) int {
	switch l.header {
	case &fragmentHeader:
		return 8
	case &authHeader:
		return 4 * (int(l.get("hdrlength")) + 2)
	}
	return 8 * (int(l.get("hdrlength")) + 1)
}

// transport cuts the transport header, and what it carries.
func (d *dissector) transport(s *stack, protocol uint8, b []byte) bool {
	h := headerByProtocol(uint64(protocol))
	if h == nil || h.rank != rankTransport {
		return false
	}
	t, rest := layerFrom(h, b)
	if t == nil {
		return false
	}
	s.transport = t
	ok := true
	switch h {
	case &tcpHeader:
		rest, ok = t.takeItems(rest, int(t.get("doff"))*4-20)
	case &sctpHeader:
		t.items, ok = sctpChunks.readItems(rest)
		rest = nil
	case &dccpHeader:
		rest, ok = t.takeDCCP(rest)
	case &icmpv6Header:
		size := icmpv6Size(t.b[0]) - len(t.b)
		if ok = size <= len(rest); ok {
			t.b, rest = append(t.b, rest[:size]...), rest[size:]
		}
	case &mobilityHeader:
		size := 8*(int(t.get("hdrlength"))+1) - len(t.b)
		if ok = size <= len(rest); ok {
			t.data, t.hasData, rest = rest[:size:size], true, rest[size:]
		}
	case &greHeader:
		size := greOptional(t.b[0])
		if ok = size <= len(rest) && t.get("version") == 0; ok {
			t.data, t.hasData, rest = rest[:size:size], true, rest[size:]
		}
	}
	if !ok {
		return false
	}
	s.setPayload(rest)
	d.insideTransport(s, rest)
	return true
}

// takeItems cuts size bytes of options.
func (l *layer) takeItems(b []byte, size int) ([]byte, bool) {
	if size < 0 || size > len(b) {
		return nil, false
	}
	var ok bool
	l.items, ok = l.header.items.readItems(b[:size])
	return b[size:], ok
}

func (l *layer) takeDCCP(b []byte) ([]byte, bool) {
	part := dccpPart(l.get("type"))
	if l.b[8]&1 == 0 || part > len(b) {
		return nil, false
	}
	l.data, l.hasData = b[:part:part], true
	return l.takeItems(b[part:], int(l.get("doff"))*4-16-part)
}

// insideTransport looks into tunnels and into what ICMP errors quote.
func (d *dissector) insideTransport(s *stack, b []byte) {
	switch s.transport.header {
	case &udpHeader:
		switch s.transport.get("dport") {
		case vxlanPort:
			d.takeTunnel(s, &vxlanHeader, b)
		case genevePort:
			d.takeTunnel(s, &geneveHeader, b)
		}
	case &greHeader:
		d.innerOf(s, s.transport.get("protocol"), b)
	case &icmpHeader:
		if typ := s.transport.b[0]; typ == 3 || typ == 5 || typ == 11 || typ == 12 {
			d.innerPacket(s, b)
		}
	case &icmpv6Header:
		if s.transport.b[0] < 128 {
			d.innerPacket(s, b)
		}
	}
}

func (d *dissector) takeTunnel(s *stack, h *header, b []byte) {
	l, rest := layerFrom(h, b)
	if l == nil || !d.inside {
		return
	}
	typ := uint64(0x6558)
	if h == &geneveHeader {
		size := int(l.get("optlength")) * 4
		if size > len(rest) {
			return
		}
		l.data, l.hasData, rest = rest[:size:size], true, rest[size:]
		typ = l.get("type")
	}
	s.tunnel = l
	s.payload, s.hasPayload = nil, false
	s.setPayload(rest)
	d.innerOf(s, typ, rest)
}

// innerOf looks into a packet of a given EtherType.
func (d *dissector) innerOf(s *stack, typ uint64, b []byte) {
	switch typ {
	case 0x6558:
		d.nest(s, b, d.frame)
	case packet.TypeIPv4, packet.TypeIPv6:
		d.innerPacket(s, b)
	}
}

func (d *dissector) innerPacket(s *stack, b []byte) { d.nest(s, b, d.packet) }

// nest makes the payload an inner packet, if it can be cut. Bytes behind the
// inner packet stay payload.
func (d *dissector) nest(s *stack, b []byte, cut func([]byte) *stack) {
	if !d.inside || d.depth >= maxNesting {
		return
	}
	d.depth++
	inner := cut(b)
	d.depth--
	if inner == nil {
		return
	}
	s.inner = inner
	s.payload, s.hasPayload = nil, false
}
