package netlink

import (
	"strconv"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

// headerIDs are nft's numbers of headers. A field's number is its place in the
// catalog plus one, except where fieldIDs says otherwise.
var headerIDs = []string{1: "ah", 2: "esp", 3: "comp", 4: "icmp", 5: "igmp", 6: "udp", 7: "udplite", 8: "tcp", 9: "dccp",
	10: "sctp", 11: "th", 12: "ip", 13: "ip6", 14: "icmpv6", 15: "arp", 16: "vlan", 17: "ether",
	18: "vxlan", 19: "geneve", 20: "gre", 21: "gretap"}

var fieldIDs = map[string][]string{
	"igmp": {"type", "checksum", "mrt", "group"},
}

// extensionIDs are nft's numbers of IPv6 extension headers.
var extensionIDs = []string{1: "hbh", 2: "rt", 3: "rt0", 4: "rt2", 5: "srh", 6: "frag", 7: "dst", 8: "mh"}

// ipOptionFields are the fields of IP options by number, from 1.
var ipOptionFields = []string{1: "type", 2: "length", 3: "value", 4: "ptr", 5: "addr"}

// Types of records.
const (
	payloadDescription = 0
	payloadField       = 1
	payloadHeader      = 2
	payloadBits        = 3
	payloadSize        = 4
	payloadTunnel      = 5

	exthdrDescription = 0
	exthdrField       = 1
	exthdrKind        = 2
)

func indexOf(list []string, name string) (uint32, bool) {
	for i, s := range list {
		if s == name && s != "" {
			return uint32(i), true
		}
	}
	return 0, false
}

func nameAt(list []string, i uint32) string {
	if uint64(i) < uint64(len(list)) {
		return list[i]
	}
	return ""
}

// fieldID gives the number of a header's field.
func fieldID(p *catalog.Protocol, name string) (uint32, bool) {
	if order, ok := fieldIDs[p.Name]; ok {
		i, ok := indexOf(order, name)
		return i + 1, ok
	}
	for i := range p.Fields {
		if p.Fields[i].Name == name {
			return uint32(i + 1), true
		}
	}
	return 0, false
}

func fieldOf(p *catalog.Protocol, id uint32) *catalog.Field {
	if order, ok := fieldIDs[p.Name]; ok {
		return p.FieldByName(nameAt(order, id-1))
	}
	if id == 0 || uint64(id) > uint64(len(p.Fields)) {
		return nil
	}
	return &p.Fields[id-1]
}

func payloadRecords(x syntax.Expr) (u userData, ok bool) {
	switch x := x.(type) {
	case *syntax.HeaderField:
		p := catalog.ProtocolByName(x.Protocol.Text)
		if p == nil {
			return nil, false
		}
		desc, ok := indexOf(headerIDs, p.Name)
		id, known := fieldID(p, x.Field.Text)
		if !ok || !known {
			return nil, false
		}
		u.u32(payloadDescription, desc)
		u.u32(payloadField, id)
		if f := fieldOf(p, id); f.Type == catalog.Integer {
			u.u32(payloadSize, uint32(f.Bits))
		}
		return u, true
	case *syntax.RawPayload:
		base, ok := indexOf(rawBases, x.Base.Text)
		for t, v := range []uint32{0, 0, base, x.Offset, x.Length} {
			u.u32(uint8(t), v)
		}
		return u, ok
	case *syntax.Inner:
		inner, isField := x.Expr.(*syntax.HeaderField)
		desc, known := indexOf(headerIDs, x.Tunnel.Text)
		if !isField || !known {
			return nil, false
		}
		if u, ok = payloadRecords(inner); ok {
			u.u32(payloadTunnel, desc)
		}
		return u, ok
	}
	return nil, false
}

var rawBases = []string{1: "ll", 2: "nh", 3: "th", 4: "ih"}

func decodePayload(n numbers) syntax.Expr {
	if !n.only(payloadDescription, payloadField, payloadHeader, payloadBits, payloadSize, payloadTunnel) {
		return nil
	}
	if n[payloadDescription] == 0 {
		base := nameAt(rawBases, n[payloadHeader])
		if base == "" {
			return nil
		}
		return &syntax.RawPayload{Base: word(base), Offset: n[payloadBits], Length: n[payloadSize]}
	}
	p := catalog.ProtocolByName(nameAt(headerIDs, n[payloadDescription]))
	if p == nil {
		return nil
	}
	f := fieldOf(p, n[payloadField])
	if f == nil {
		return nil
	}
	h := &syntax.HeaderField{Protocol: word(p.Name), Field: word(f.Name)}
	if tunnel, ok := n[payloadTunnel]; ok {
		name := nameAt(headerIDs, tunnel)
		if name == "" {
			return nil
		}
		return &syntax.Inner{Tunnel: word(name), Expr: h}
	}
	return h
}

func exthdrRecords(x syntax.Expr) (u userData, ok bool) {
	var desc, field, kind uint32
	switch x := x.(type) {
	case *syntax.ExthdrField:
		desc, field, ok = extensionRecords(x)
	case *syntax.TCPOption:
		kind = expr.ExthdrTCPOpt
		desc, field, ok = tcpOptionRecords(x)
	case *syntax.IPOption:
		kind = expr.ExthdrIPv4
		o := catalog.IPOptionByName(x.Name.Text)
		if field, ok = indexOf(ipOptionFields, x.Field.Text); o != nil {
			desc = uint32(o.Kind)
		}
		ok = ok && o != nil
	case *syntax.SCTPChunk:
		kind = expr.ExthdrSCTP
		o := catalog.SCTPChunkByName(x.Type.Text)
		if o == nil || !x.Field.Given() {
			return nil, false
		}
		desc = uint32(o.Kind)
		field, ok = optionField(o, x.Field.Text)
	case *syntax.DCCPOption:
		kind = expr.ExthdrDCCP
		v, err := strconv.ParseUint(x.Kind.Text, 0, 8)
		desc, ok = uint32(v), err == nil
	}
	u.u32(exthdrField, field)
	if kind != expr.ExthdrIPv6 {
		u.u32(exthdrKind, kind)
	}
	u.u32(exthdrDescription, desc)
	return u, ok
}

func optionField(o *catalog.Option, name string) (uint32, bool) {
	for i := range o.Fields {
		if o.Fields[i].Name == name {
			return uint32(i), true
		}
	}
	return 0, false
}

// extensionRecords numbers the fields from 1. Those with an index are counted
// as many fields, the first of a header of addresses being reserved.
func extensionRecords(x *syntax.ExthdrField) (desc, field uint32, ok bool) {
	o := catalog.ExthdrByName(x.Header.Text)
	desc, known := indexOf(extensionIDs, x.Header.Text)
	if o == nil || !known || !x.Field.Given() {
		return 0, 0, false
	}
	i, ok := optionField(o, x.Field.Text)
	if o.Fields[i].Step != 0 {
		return desc, i + max(value(x.Index), 1) + reservedFields(o), ok
	}
	return desc, i + 1, ok
}

func reservedFields(o *catalog.Option) uint32 {
	if len(o.Fields) == 1 {
		return 1
	}
	return 0
}

func tcpOptionRecords(x *syntax.TCPOption) (desc, field uint32, ok bool) {
	if x.Raw {
		return 0, 0, false
	}
	o := catalog.TCPOptionByName(x.Kind.Text)
	if o == nil {
		return 0, 0, false
	}
	if !x.Field.Given() {
		return uint32(o.Kind), 0, true
	}
	i, ok := optionField(o, x.Field.Text)
	if block, isBlock := sackBlock(o.Name); isBlock && i > 0 {
		i += 2 * block
	}
	return uint32(o.Kind), i + 1, ok
}

// sackBlock is the block that sack0 to sack3 name.
func sackBlock(name string) (uint32, bool) {
	if len(name) == 5 && name[:4] == "sack" && name[4] >= '0' && name[4] <= '3' {
		return uint32(name[4] - '0'), true
	}
	return 0, false
}

func decodeExthdr(n numbers) syntax.Expr {
	if !n.only(exthdrDescription, exthdrField, exthdrKind) || n[exthdrDescription] > 255 {
		return nil
	}
	desc, field := n[exthdrDescription], n[exthdrField]
	switch n[exthdrKind] {
	case expr.ExthdrIPv6:
		return decodeExtension(nameAt(extensionIDs, desc), field)
	case expr.ExthdrTCPOpt:
		return decodeTCPOption(uint8(desc), field)
	case expr.ExthdrIPv4:
		o, name := catalog.IPOptionByKind(uint8(desc)), nameAt(ipOptionFields, field)
		if o != nil && o.FieldByName(name) != nil {
			return &syntax.IPOption{Name: word(o.Name), Field: word(name)}
		}
	case expr.ExthdrSCTP:
		if o := catalog.SCTPChunkByKind(uint8(desc)); o != nil && uint64(field) < uint64(len(o.Fields)) {
			return &syntax.SCTPChunk{Type: word(o.Name), Field: word(o.Fields[field].Name)}
		}
	case expr.ExthdrDCCP:
		return &syntax.DCCPOption{Kind: word(strconv.Itoa(int(desc)))}
	}
	return nil
}

func decodeExtension(name string, field uint32) syntax.Expr {
	o := catalog.ExthdrByName(name)
	if o == nil || field == 0 {
		return nil
	}
	x := &syntax.ExthdrField{Header: word(name)}
	i := field - 1
	if last := uint32(len(o.Fields) - 1); o.Fields[last].Step != 0 && i >= last {
		index := field - last - reservedFields(o)
		if index == 0 || uint64(index) > uint64(max(o.Fields[last].Indices, 1)) {
			return nil
		}
		x.Field, x.Index = word(o.Fields[last].Name), number(index)
		return x
	}
	if uint64(i) >= uint64(len(o.Fields)) {
		return nil
	}
	x.Field = word(o.Fields[i].Name)
	return x
}

func decodeTCPOption(kind uint8, field uint32) syntax.Expr {
	o := catalog.TCPOptionByKind(kind)
	if o == nil {
		return nil
	}
	if field == 0 {
		return &syntax.TCPOption{Kind: word(o.Name)}
	}
	i := field - 1
	if o.Name == "sack" && i > 2 && i <= 8 {
		o, i = catalog.TCPOptionByName("sack"+strconv.Itoa(int(i-1)/2)), 1+(i-1)%2
	}
	if o == nil || uint64(i) >= uint64(len(o.Fields)) {
		return nil
	}
	return &syntax.TCPOption{Kind: word(o.Name), Field: word(o.Fields[i].Name)}
}
