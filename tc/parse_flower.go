package tc

import (
	"encoding/binary"
	"strings"

	"verdict/offload"
	"verdict/packet"
)

// flowerParser reads flower's words.
type flowerParser struct {
	o       *flowerOptions
	r       *filterRequest
	s       *System
	w       *words
	ethType uint16 // of what the next keys speak of
	vlanEth uint16
	cvlan   uint16
	ipProto int // -1: not given
	tags    int
}

// flowerWord is a keyword and what it reads.
type flowerWord struct {
	name  string
	exact bool
	read  func(p *flowerParser, word, value string) *ToolError
}

var (
	flowerWords []flowerWord
	flowerExact = map[string]*flowerWord{}
)

func init() {
	key := func(f offload.Field, bits int) func(*flowerParser, string, string) *ToolError {
		return func(p *flowerParser, word, value string) *ToolError { return p.number(f, bits, word, value) }
	}
	flowerWords = []flowerWord{
		{"indev", false, (*flowerParser).indev},
		{"vlan_id", false, (*flowerParser).vlanID}, {"vlan_prio", false, (*flowerParser).vlanPrio},
		{"vlan_ethtype", false, (*flowerParser).vlanType}, {"cvlan_id", false, (*flowerParser).vlanID},
		{"cvlan_prio", false, (*flowerParser).vlanPrio}, {"cvlan_ethtype", false, (*flowerParser).cvlanType},
		{"num_of_vlans", true, (*flowerParser).numVLAN},
		{"mpls_label", false, (*flowerParser).mplsKey}, {"mpls_tc", false, (*flowerParser).mplsKey},
		{"mpls_bos", false, (*flowerParser).mplsKey}, {"mpls_ttl", false, (*flowerParser).mplsKey},
		{"dst_mac", false, (*flowerParser).mac}, {"src_mac", false, (*flowerParser).mac},
		{"ip_proto", false, (*flowerParser).proto},
		{"ip_tos", false, (*flowerParser).tos}, {"ip_ttl", false, (*flowerParser).tos},
		{"dst_ip", false, (*flowerParser).addr}, {"src_ip", false, (*flowerParser).addr},
		{"dst_port", false, (*flowerParser).port}, {"src_port", false, (*flowerParser).port},
		{"tcp_flags", false, (*flowerParser).tcpFlags},
		{"type", false, (*flowerParser).icmp}, {"code", false, (*flowerParser).icmp},
		{"arp_tip", false, (*flowerParser).arpAddr}, {"arp_sip", false, (*flowerParser).arpAddr},
		{"arp_op", false, (*flowerParser).arpOp},
		{"arp_tha", false, (*flowerParser).arpMAC}, {"arp_sha", false, (*flowerParser).arpMAC},
		{"enc_dst_ip", false, (*flowerParser).addr}, {"enc_src_ip", false, (*flowerParser).addr},
		{"enc_key_id", false, (*flowerParser).encKeyID}, {"enc_dst_port", false, (*flowerParser).encPort},
		{"enc_tos", false, key(offload.FieldEncTOS, 8)}, {"enc_ttl", false, key(offload.FieldEncTTL, 8)},
		{"geneve_opts", false, (*flowerParser).encOpts}, {"vxlan_opts", false, (*flowerParser).encOpts},
		{"erspan_opts", false, (*flowerParser).encOpts}, {"gtp_opts", false, (*flowerParser).encOpts},
		{"pfcp_opts", false, (*flowerParser).encOpts},
		{"ip_flags", false, (*flowerParser).ipFlags}, {"enc_flags", false, (*flowerParser).encFlags},
		{"l2_miss", true, (*flowerParser).l2Miss},
		{"ct_state", false, (*flowerParser).ctState}, {"ct_zone", false, (*flowerParser).ctZone},
		{"ct_mark", false, (*flowerParser).ctMark}, {"ct_label", false, (*flowerParser).ctLabel},
		{"l2tpv3_sid", false, (*flowerParser).l2tp}, {"spi", false, (*flowerParser).spi},
		{"pppoe_sid", false, (*flowerParser).pppoe}, {"ppp_proto", false, (*flowerParser).pppoe},
		{"hw_tc", false, (*flowerParser).hwTC},
	}
	for i := range flowerWords {
		flowerExact[flowerWords[i].name] = &flowerWords[i]
	}
}

func parseFlower(w *words, r *filterRequest, s *System) *ToolError {
	o := r.flower
	if o == nil {
		o = &flowerOptions{}
	}
	o.hwTC = -1
	r.options = o
	p := &flowerParser{o: o, r: r, s: s, w: w, ipProto: -1, ethType: r.protocol}
	if r.protocol == protocolAll {
		p.ethType = 0
	}
	o.ethType = p.ethType
	if err := simpleHandle(r); err != nil {
		return err
	}
	for w.more() {
		done, err := p.word()
		if err != nil {
			return err
		}
		if !done {
			return tool("What is %q?\nUsage: ... flower [ MATCH-LIST ]", w.peek())
		}
	}
	return nil
}

// word reads one keyword with its value.
func (p *flowerParser) word() (bool, *ToolError) {
	w := p.w
	switch {
	case w.matches("skip_hw"):
		p.r.flags |= flagSkipHW
		w.skip()
		return true, nil
	case w.matches("skip_sw"):
		p.r.flags |= flagSkipSW
		w.skip()
		return true, nil
	case w.matches("verbose"):
		p.r.flags |= flagVerbose
		w.skip()
		return true, nil
	case w.matches("classid", "flowid"):
		return true, p.r.parseClass(w)
	case w.is("mpls"):
		return true, p.mplsStack()
	case w.is("cfm"):
		return true, p.cfm()
	case w.matches("action"):
		return true, p.r.parseFilterActions(w, p.s)
	}
	k := flowerKeyword(w.peek())
	if k == nil {
		return false, nil
	}
	value, err := w.value()
	if err != nil {
		return false, err
	}
	return true, k.read(p, k.name, value)
}

// flowerKeyword finds a keyword, or the first that a word abbreviates.
func flowerKeyword(word string) *flowerWord {
	if k := flowerExact[word]; k != nil {
		return k
	}
	for i := range flowerWords {
		if k := &flowerWords[i]; !k.exact && prefix(word, k.name) {
			return k
		}
	}
	return nil
}

// number reads N[/M] of up to four bytes in network order.
func (p *flowerParser) number(f offload.Field, bits int, word, value string) *ToolError {
	v, m, ok := masked(value, bits)
	if !ok {
		return tool("Illegal %q", word)
	}
	var a, b [8]byte
	binary.BigEndian.PutUint64(a[:], v)
	binary.BigEndian.PutUint64(b[:], m)
	p.o.put(f, append([]byte(nil), a[8-f.Len:]...), append([]byte(nil), b[8-f.Len:]...))
	return nil
}

func (p *flowerParser) indev(_, value string) *ToolError {
	p.o.indev = value
	return nil
}

func (p *flowerParser) hwTC(_, value string) *ToolError {
	n, ok := number32(value, 0)
	if !ok || n > 15 {
		return tool(`Illegal "hw_tc"`)
	}
	p.o.hwTC = int16(n)
	return nil
}

// tagged checks that keys of a tag are allowed.
func (p *flowerParser) tagged(word string) *ToolError {
	typ, need := p.ethType, 0
	if strings.HasPrefix(word, "cvlan") {
		typ, need = p.vlanEth, 1
	}
	if isVLAN(typ) || p.tags > need {
		return nil
	}
	if need == 1 {
		return tool("Can't set %q if inner vlan ethertype isn't 802.1Q or 802.1AD and num_of_vlans is %d", word, p.tags)
	}
	return tool("Can't set %q if ethertype isn't 802.1Q or 802.1AD and num_of_vlans is %d", word, p.tags)
}

func (p *flowerParser) vlanID(word, value string) *ToolError {
	if err := p.tagged(word); err != nil {
		return err
	}
	n, ok := number16(value, 10)
	if !ok || n > 0xfff {
		return tool("Illegal %q", word)
	}
	f := offload.FieldVLANID
	if word[0] == 'c' {
		f = offload.FieldCVLANID
	}
	p.o.put(f, be16(n), be16(0xfff))
	return nil
}

func (p *flowerParser) vlanPrio(word, value string) *ToolError {
	if err := p.tagged(word); err != nil {
		return err
	}
	n, ok := number8(value, 10)
	if !ok || n > 7 {
		return tool("Illegal %q", word)
	}
	f := offload.FieldVLANPrio
	if word[0] == 'c' {
		f = offload.FieldCVLANPrio
	}
	p.o.put(f, []byte{n}, []byte{7})
	return nil
}

func (p *flowerParser) vlanType(word, value string) *ToolError {
	if err := p.tagged(word); err != nil {
		return err
	}
	n, ok := protocol(value)
	if !ok {
		return wrong(value, "invalid vlan_ethtype")
	}
	p.vlanEth = n
	p.o.put(offload.FieldVLANType, be16(n), be16(0xffff))
	return nil
}

func (p *flowerParser) cvlanType(word, value string) *ToolError {
	if err := p.tagged(word); err != nil {
		return err
	}
	n, ok := protocol(value)
	if !ok {
		return wrong(value, "invalid cvlan_ethtype")
	}
	p.cvlan = n
	p.o.put(offload.FieldCVLANType, be16(n), be16(0xffff))
	return nil
}

func (p *flowerParser) numVLAN(word, value string) *ToolError {
	n, ok := number8(value, 10)
	if !ok {
		return tool("Illegal %q", word)
	}
	p.tags = int(n)
	p.o.put(offload.FieldNumVLAN, []byte{n}, []byte{0xff})
	return nil
}

// network is the protocol of the innermost header that the keys named.
func (p *flowerParser) network() uint16 {
	switch {
	case p.cvlan != 0:
		return p.cvlan
	case p.vlanEth != 0 && !isVLAN(p.vlanEth):
		return p.vlanEth
	}
	return p.ethType
}

func (p *flowerParser) mac(word, value string) *ToolError {
	a, m, ok := macMask(value)
	if !ok {
		return tool("Illegal %q", word)
	}
	f := offload.FieldEthDst
	if word == "src_mac" {
		f = offload.FieldEthSrc
	}
	p.o.put(f, a[:], m[:])
	return nil
}

var ipProtoNames = []struct {
	name  string
	exact bool
	proto uint8
}{
	{"tcp", false, packet.ProtoTCP}, {"udp", false, packet.ProtoUDP}, {"sctp", false, packet.ProtoSCTP},
	{"icmp", false, packet.ProtoICMP}, {"icmpv6", false, packet.ProtoICMPv6}, {"l2tp", true, protoL2TP},
	{"esp", true, packet.ProtoESP}, {"ah", true, packet.ProtoAH},
}

func (p *flowerParser) proto(word, value string) *ToolError {
	if n := p.network(); n != packet.TypeIPv4 && n != packet.TypeIPv6 {
		return tool("Illegal \"eth_type\" for ip proto\nIllegal %q", word)
	}
	n, found := uint8(0), false
	for _, known := range ipProtoNames {
		if value == known.name || !known.exact && prefix(value, known.name) {
			n, found = known.proto, true
			break
		}
	}
	if !found {
		if n, found = number8(value, 16); !found {
			return tool("Illegal %q", word)
		}
	}
	p.ipProto = int(n)
	p.o.put(offload.FieldIPProto, []byte{n}, []byte{0xff})
	return nil
}

func (p *flowerParser) tos(word, value string) *ToolError {
	f := offload.FieldTOS
	if word == "ip_ttl" {
		f = offload.FieldTTL
	}
	return p.number(f, 8, word, value)
}

// addr reads an address of the packet or of the tunnel.
func (p *flowerParser) addr(word, value string) *ToolError {
	enc := strings.HasPrefix(word, "enc_")
	six := false
	if enc {
		six = strings.Contains(value, ":")
	} else {
		switch p.network() {
		case packet.TypeIPv4:
			// the corpus has IPv6 addresses under protocol ip: refused below
		case packet.TypeIPv6:
			six = true
		default:
			return tool("Illegal %q", word)
		}
	}
	a, n, ok := ipPrefix(value, six)
	if !ok {
		kind := "inet"
		if six {
			kind = "inet6"
		}
		return &ToolError{Status: exitTool, Text: "Error: " + kind + " prefix is expected rather than \"" + value + "\".", Ends: true}
	}
	if n == 0 && value != "any" {
		return nil
	}
	typ, size := byte(offload.AddrIPv4), 4
	if six {
		typ, size = offload.AddrIPv6, 16
	}
	f := addressFields[word]
	if enc {
		p.o.encType = typ
	} else {
		p.o.addrType = typ
	}
	p.o.put(f, a.AsSlice(), prefixMask(n, size))
	return nil
}

var addressFields = map[string]offload.Field{
	"dst_ip": offload.FieldDst, "src_ip": offload.FieldSrc, "enc_dst_ip": offload.FieldEncDst, "enc_src_ip": offload.FieldEncSrc,
}

// port reads N, N/M or A-B.
func (p *flowerParser) port(word, value string) *ToolError {
	switch p.ipProto {
	case packet.ProtoTCP, packet.ProtoUDP, packet.ProtoSCTP:
	default:
		return tool("Illegal %q", word)
	}
	exact, low, high := offload.FieldDstPort, offload.FieldRangeDstMin, offload.FieldRangeDstMax
	if word == "src_port" {
		exact, low, high = offload.FieldSrcPort, offload.FieldRangeSrcMin, offload.FieldRangeSrcMax
	}
	from, to, isRange := strings.Cut(value, "-")
	if isRange {
		a, ok := number16(from, 10)
		b, okHigh := number16(to, 10)
		if !ok || !okHigh {
			return tool("Illegal %q", word)
		}
		if b <= a {
			return tool("max value should be greater than min value\nIllegal %q", word)
		}
		p.o.put(low, be16(a), be16(0xffff))
		p.o.put(high, be16(b), be16(0xffff))
		return nil
	}
	if value == "0" {
		return tool("Illegal %q", word)
	}
	return p.number(exact, 16, word, value)
}

func (p *flowerParser) tcpFlags(word, value string) *ToolError {
	v, m, has := strings.Cut(value, "/")
	n, ok := number16(v, 16)
	mask, okMask := uint16(0xfff), true
	if has {
		mask, okMask = number16(m, 16)
	}
	if !ok || !okMask || n > 0xfff || mask > 0xfff {
		return tool("Illegal %q", word)
	}
	p.o.put(offload.FieldTCPFlags, be16(n), be16(mask))
	return nil
}

func (p *flowerParser) icmp(word, value string) *ToolError {
	n := p.network()
	if !(p.ipProto == packet.ProtoICMP && n == packet.TypeIPv4 || p.ipProto == packet.ProtoICMPv6 && n == packet.TypeIPv6) {
		return tool("Illegal \"icmp %s\"", word)
	}
	v, m, has := strings.Cut(value, "/")
	a, ok := number8(v, 10)
	mask, okMask := uint8(0xff), true
	if has {
		mask, okMask = number8(m, 10)
	}
	if !ok || !okMask {
		return tool("Illegal \"icmp %s\"", word)
	}
	f := offload.FieldICMPType
	if word == "code" {
		f = offload.FieldICMPCode
	}
	p.o.put(f, []byte{a}, []byte{mask})
	return nil
}

// arp checks that the keys of ARP are allowed.
func (p *flowerParser) isARP() bool {
	n := p.network()
	return n == packet.TypeARP || n == typeRARP
}

func (p *flowerParser) arpAddr(word, value string) *ToolError {
	if !p.isARP() {
		return tool("Illegal %q", word)
	}
	a, n, ok := ipPrefix(value, false)
	if !ok {
		return &ToolError{Status: exitTool, Text: "Error: inet prefix is expected rather than \"" + value + "\".", Ends: true}
	}
	f := offload.FieldARPSIP
	if word == "arp_tip" {
		f = offload.FieldARPTIP
	}
	p.o.put(f, a.AsSlice(), prefixMask(n, 4))
	return nil
}

func (p *flowerParser) arpOp(word, value string) *ToolError {
	if !p.isARP() {
		return tool("Illegal %q", word)
	}
	switch value {
	case "request":
		value = "1"
	case "reply":
		value = "2"
	}
	v, m, ok := masked(value, 8)
	if !ok || v > 2 {
		return tool("Illegal %q", word)
	}
	p.o.put(offload.FieldARPOp, []byte{byte(v)}, []byte{byte(m)})
	return nil
}

func (p *flowerParser) arpMAC(word, value string) *ToolError {
	if !p.isARP() {
		return tool("Illegal %q", word)
	}
	a, m, ok := macMask(value)
	if !ok {
		return tool("Illegal %q", word)
	}
	f := offload.FieldARPSHA
	if word == "arp_tha" {
		f = offload.FieldARPTHA
	}
	p.o.put(f, a[:], m[:])
	return nil
}

func be16(n uint16) []byte { return []byte{byte(n >> 8), byte(n)} }

func le16(n uint16) []byte { return []byte{byte(n), byte(n >> 8)} }

func le32(n uint32) []byte { return []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)} }

func be32(n uint32) []byte { return []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)} }
