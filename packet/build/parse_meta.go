package build

import (
	"time"

	"verdict/packet"
)

// metaKey is a meta selector that a text can set.
type metaKey struct {
	name string
	// bare keys are known without the word meta.
	bare bool
	set  func(p *parser, w word) *Error
}

// metaByName finds a key; bare restricts to those without the word meta.
func metaByName(name string, bare bool) *metaKey {
	for i := range metaKeys {
		if k := &metaKeys[i]; k.name == name && (k.bare || !bare) {
			return k
		}
	}
	return nil
}

var metaKeys []metaKey

func init() {
	metaKeys = []metaKey{
		{"iif", true, (*parser).setIIF}, {"iifname", true, (*parser).setIIF},
		{"oif", true, (*parser).setOIF}, {"oifname", true, (*parser).setOIF},
		{"ibrname", true, func(p *parser, w word) *Error { return setName(&p.out.Meta.BridgeIn, w) }},
		{"obrname", true, func(p *parser, w word) *Error { return setName(&p.out.Meta.BridgeOut, w) }},
		{"mark", true, metaNumber(func(m *packet.Meta) *uint32 { return &m.Mark }, 0)},
		{"priority", false, metaNumber(func(m *packet.Meta) *uint32 { return &m.Priority }, 0)},
		{"skuid", true, metaNumber(func(m *packet.Meta) *uint32 { return &m.SKUID }, packet.HasSKUID)},
		{"skgid", true, metaNumber(func(m *packet.Meta) *uint32 { return &m.SKGID }, packet.HasSKGID)},
		{"cgroup", true, metaNumber(func(m *packet.Meta) *uint32 { return &m.CGroup }, packet.HasCGroup)},
		{"rtclassid", true, metaNumber(func(m *packet.Meta) *uint32 { return &m.RtClassID }, packet.HasRtClassID)},
		{"cpu", false, metaNumber(func(m *packet.Meta) *uint32 { return &m.CPU }, 0)},
		{"iifgroup", true, metaNumber(func(m *packet.Meta) *uint32 { return &m.IIF.Group }, 0)},
		{"oifgroup", true, metaNumber(func(m *packet.Meta) *uint32 { return &m.OIF.Group }, 0)},
		{"pkttype", true, (*parser).setPktType},
		{"time", false, (*parser).setTime},
		{"l4proto", false, (*parser).setL4Proto},
		{"protocol", false, (*parser).setProtocol},
		{"nfproto", false, (*parser).setNFProto},
	}
}

func (p *parser) meta() *Error {
	w, err := p.take("meta key")
	if err != nil {
		return err
	}
	if k := metaByName(w.text, false); k != nil {
		return p.metaValue(k)
	}
	switch w.text {
	case "length":
		return w.errorf("meta length follows from the headers and the payload; length N pads the payload")
	case "random", "day", "hour", "secpath", "ibrpvid", "ibrvproto", "iifkind", "oifkind", "iiftype", "oiftype", "sdif", "sdifname", "nftrace", "secmark":
		return w.errorf("meta %s cannot be given for a packet", w.text)
	}
	var names []string
	for i := range metaKeys {
		names = append(names, metaKeys[i].name)
	}
	return w.suggest(w.errorf("unknown meta key %q", w.text), names)
}

func (p *parser) metaValue(k *metaKey) *Error {
	if next := p.peek().text; next == "==" || next == "eq" || next == "set" {
		p.at++
	}
	w, err := p.take("value of " + k.name)
	if err != nil {
		return err
	}
	return k.set(p, w)
}

// metaNumber makes the setter of a number.
func metaNumber(target func(*packet.Meta) *uint32, has packet.MetaHas) func(*parser, word) *Error {
	return func(p *parser, w word) *Error {
		n, err := parseNumber(w, 32)
		*target(&p.out.Meta) = uint32(n)
		p.out.Meta.Has |= has
		return err
	}
}

func (p *parser) setIIF(w word) *Error { return setDevice(&p.out.Meta.IIF, w) }
func (p *parser) setOIF(w word) *Error { return setDevice(&p.out.Meta.OIF, w) }

// setDevice takes a name, or an index.
func setDevice(d *packet.Device, w word) *Error {
	if !w.quoted && w.text != "" && w.text[0] >= '0' && w.text[0] <= '9' {
		n, err := parseNumber(w, 31)
		if err == nil {
			d.Index = uint32(n)
			return nil
		}
	}
	return setName(&d.Name, w)
}

func setName(n *packet.Name, w word) *Error {
	if w.text == "" || len(w.text) > 15 {
		return w.errorf("an interface name has 1 to 15 bytes")
	}
	*n = packet.MakeName(w.text)
	return nil
}

func (p *parser) setPktType(w word) *Error {
	t, err := symbolOrNumber(w, pktTypes, 3)
	p.out.Meta.PktType = packet.PktType(t)
	p.out.Meta.Has |= packet.HasPktType
	return err
}

// setTime takes a date and time in UTC, or nanoseconds since the epoch.
func (p *parser) setTime(w word) *Error {
	for _, layout := range []string{time.DateTime, time.RFC3339Nano, time.DateOnly} {
		t, err := time.Parse(layout, w.text)
		if err != nil {
			continue
		}
		p.out.Meta.Time = t.UnixNano()
		if t.Unix() < 0 || !time.Unix(0, p.out.Meta.Time).Equal(t) {
			return w.errorf("a time lies between 1970 and 2262")
		}
		return nil
	}
	n, err := parseNumber(w, 63)
	if err != nil {
		return w.errorf("%q is neither a time (\"2024-05-31 12:00:00\", UTC) nor nanoseconds since 1970", w.text)
	}
	p.out.Meta.Time = int64(n)
	return nil
}

// setL4Proto takes the transport header from meta l4proto.
func (p *parser) setL4Proto(w word) *Error {
	n, err := symbolOrNumber(w, protocols, 8)
	if err != nil {
		return err
	}
	h := headerByProtocol(n)
	if h == nil || h.rank != rankTransport {
		return w.errorf("no header for protocol %s: use ip protocol or ip6 nexthdr", w.text)
	}
	_, err = p.layer(w, h, "")
	return err
}

// setProtocol takes the network header from meta protocol.
func (p *parser) setProtocol(w word) *Error {
	n, err := symbolOrNumber(w, etherTypes, 16)
	if err != nil {
		return err
	}
	h := headerByEtherType(n)
	if h == nil {
		return w.errorf("no header for protocol %s: use ether type", w.text)
	}
	_, err = p.layer(w, h, "")
	return err
}

// setNFProto takes the network header from meta nfproto.
func (p *parser) setNFProto(w word) *Error {
	n, err := symbolOrNumber(w, symbols{{"ipv4", 2}, {"ipv6", 10}}, 8)
	if err != nil {
		return err
	}
	h := &ipHeader
	switch n {
	case 2:
	case 10:
		h = &ip6Header
	default:
		return w.errorf("nfproto is ipv4 or ipv6")
	}
	_, err = p.layer(w, h, "")
	return err
}
