package tc

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"verdict/offload"
	"verdict/packet"
)

func (c *flower) show(s *System, o *filterPrinter, handle uint32) {
	for _, h := range c.order.sorted() {
		if handle != 0 && h != handle {
			continue
		}
		f := c.byHandle.get(h)
		s.refresh(&f.filterBase)
		o.filter(c.instance, func() { f.show(s, &o.printer) })
	}
}

// show writes one filter behind its head.
func (f *flowerFilter) show(s *System, o *printer) {
	o.put("handle", "handle 0x%x ", f.handle)
	if f.hwTC >= 0 {
		o.put("hw_tc", "hw_tc %d ", f.hwTC)
	} else if f.hasClass {
		o.put("classid", "classid %s ", classText(f.classID))
	}
	if !o.Brief {
		k := &keyPrinter{o: o, key: f.key(), mask: &f.mask.mask}
		k.indev(s)
		o.object("keys")
		k.all()
		o.endObject()
	}
	f.showFlags(o, true)
	f.showActions(s, o)
}

// keyPrinter writes the keys of a filter or a template.
type keyPrinter struct {
	o         *printer
	key, mask *offload.Key
}

func (k *keyPrinter) has(f offload.Field) bool { return k.mask.IsSet(f) }

func (k *keyPrinter) line(key, format string, v any) {
	k.o.nl()
	k.o.put(key, "  "+format, v)
}

func (k *keyPrinter) indev(s *System) {
	if k.has(offload.FieldIIF) {
		k.line("indev", "indev %s", s.nameOf(binary.LittleEndian.Uint32(k.key.Get(offload.FieldIIF))))
	}
}

// all writes the keys in tc's order.
func (k *keyPrinter) all() {
	k.vlan()
	k.mac("dst_mac", offload.FieldEthDst)
	k.mac("src_mac", offload.FieldEthSrc)
	proto := k.ethType()
	k.ipProto()
	k.byte("ip_tos", offload.FieldTOS)
	k.byte("ip_ttl", offload.FieldTTL)
	k.mpls()
	k.addr("dst_ip", offload.FieldDst, offload.FieldAddrType)
	k.addr("src_ip", offload.FieldSrc, offload.FieldAddrType)
	k.port("dst_port", offload.FieldDstPort)
	k.port("src_port", offload.FieldSrcPort)
	k.portRange("dst_port", offload.FieldRangeDstMin, offload.FieldRangeDstMax)
	k.portRange("src_port", offload.FieldRangeSrcMin, offload.FieldRangeSrcMax)
	k.tcpFlags()
	k.decimal("icmp_type", offload.FieldICMPType)
	k.decimal("icmp_code", offload.FieldICMPCode)
	k.number32("l2tpv3_sid", "l2tpv3_sid %d", offload.FieldL2TPv3SID)
	k.number32("spi", "spi 0x%x", offload.FieldSPI)
	k.arp(proto)
	k.pppoe()
	k.tunnel()
	k.flags()
	if k.has(offload.FieldL2Miss) {
		k.line("l2_miss", "l2_miss %d", k.key.Get(offload.FieldL2Miss)[0])
	}
	k.ct()
	k.cfm()
}

func (k *keyPrinter) vlan() {
	if k.has(offload.FieldNumVLAN) {
		k.line("num_of_vlans", "num_of_vlans %d", k.key.Get(offload.FieldNumVLAN)[0])
	}
	tag := func(prefix string, id, prio, typ offload.Field) {
		if k.has(id) {
			k.line(prefix+"_id", prefix+"_id %d", binary.BigEndian.Uint16(k.key.Get(id)))
		}
		if k.has(prio) {
			k.line(prefix+"_prio", prefix+"_prio %d", k.key.Get(prio)[0])
		}
		if k.has(typ) {
			k.line(prefix+"_ethtype", prefix+"_ethtype %s", protocolName(binary.BigEndian.Uint16(k.key.Get(typ))))
		}
	}
	tag("vlan", offload.FieldVLANID, offload.FieldVLANPrio, offload.FieldVLANType)
	tag("cvlan", offload.FieldCVLANID, offload.FieldCVLANPrio, offload.FieldCVLANType)
}

func (k *keyPrinter) mac(name string, f offload.Field) {
	if k.has(f) {
		k.line(name, name+" %s", maskedMAC(k.key.Get(f), k.mask.Get(f)))
	}
}

// maskedMAC writes an address with its mask: none if full, bits if leading.
func maskedMAC(a, m []byte) string {
	var addr, mask [6]byte
	copy(addr[:], a)
	copy(mask[:], m)
	text := macText(addr)
	ones, bits := leadingOnes(m)
	switch {
	case ones == 48:
		return text
	case bits:
		return fmt.Sprintf("%s/%d", text, ones)
	}
	return text + "/" + macText(mask)
}

// leadingOnes counts the bits of a mask, and tells whether they lead.
func leadingOnes(m []byte) (int, bool) {
	n, ended := 0, false
	for _, b := range m {
		for i := 7; i >= 0; i-- {
			set := b>>i&1 != 0
			if set && ended {
				return n, false
			}
			if set {
				n++
			}
			ended = ended || !set
		}
	}
	return n, true
}

func (k *keyPrinter) ethType() uint16 {
	if !k.has(offload.FieldNProto) {
		return 0
	}
	n := binary.BigEndian.Uint16(k.key.Get(offload.FieldNProto))
	text := fmt.Sprintf("%04x", n)
	switch n {
	case packet.TypeIPv4:
		text = "ipv4"
	case packet.TypeIPv6:
		text = "ipv6"
	case packet.TypeARP:
		text = "arp"
	case typeRARP:
		text = "rarp"
	}
	k.line("eth_type", "eth_type %s", text)
	return n
}

func (k *keyPrinter) ipProto() {
	if !k.has(offload.FieldIPProto) {
		return
	}
	n := k.key.Get(offload.FieldIPProto)[0]
	text := fmt.Sprintf("0x%02x", n)
	if k.o.Old {
		text = text[2:]
	}
	for _, known := range ipProtoNames {
		if known.proto == n {
			text = known.name
		}
	}
	k.line("ip_proto", "ip_proto %s", text)
}

// byte writes a number with a hexadecimal mask.
func (k *keyPrinter) byte(name string, f offload.Field) {
	if !k.has(f) {
		return
	}
	v, m := k.key.Get(f)[0], k.mask.Get(f)[0]
	k.line(name, name+" %d", v)
	if m != 0xff {
		k.o.put(name+"_mask", "/0x%s", fmt.Sprintf("%x", m))
	}
}

func (k *keyPrinter) mpls() {
	if !k.has(offload.FieldMPLSUsed) {
		return
	}
	if used := k.mask.Get(offload.FieldMPLSUsed)[0]; used != 1 || k.stacked() {
		k.mplsStack(used)
		return
	}
	v, m := binary.BigEndian.Uint32(k.key.Get(offload.FieldMPLS)), binary.BigEndian.Uint32(k.mask.Get(offload.FieldMPLS))
	if m>>12 != 0 {
		k.line("mpls_label", "mpls_label %d", v>>12)
	}
	text := func(name string, shift int, bits uint32) {
		if m>>shift&bits != 0 {
			k.line(name, name+" %s", fmt.Sprint(v>>shift&bits))
		}
	}
	text("mpls_tc", 9, 7)
	text("mpls_bos", 8, 1)
	text("mpls_ttl", 0, 255)
}

// stacked reports whether the keys were given as a stack. Kernel and tc list
// the first entry alone in the old way if the used bits hold only it, as long
// as any of its fields is tested.
func (k *keyPrinter) stacked() bool { return !k.has(offload.FieldMPLS) }

func (k *keyPrinter) mplsStack(used byte) {
	k.o.nl()
	k.o.text("  mpls")
	k.o.array("mpls")
	for i := range offload.MaxMPLS {
		if used>>i&1 == 0 {
			continue
		}
		v := binary.BigEndian.Uint32(k.key.Get(offload.FieldMPLS)[4*i:])
		m := binary.BigEndian.Uint32(k.mask.Get(offload.FieldMPLS)[4*i:])
		k.o.object("")
		k.o.nl()
		k.o.put("depth", "    lse depth %d", i+1)
		part := func(name string, shift int, bits uint32) {
			if m>>shift&bits != 0 {
				k.o.put(name, " "+name+" %d", v>>shift&bits)
			}
		}
		part("label", 12, 0xfffff)
		part("tc", 9, 7)
		part("bos", 8, 1)
		part("ttl", 0, 255)
		k.o.endObject()
	}
	k.o.endArray()
}

func (k *keyPrinter) addr(name string, f, typ offload.Field) {
	if !k.has(f) {
		return
	}
	n := 4
	if k.key.Get(typ)[0] == offload.AddrIPv6 {
		n = 16
	}
	k.line(name, name+" %s", maskedAddr(k.key.Get(f)[:n], k.mask.Get(f)[:n]))
}

func maskedAddr(a, m []byte) string {
	addr, _ := netip.AddrFromSlice(a)
	ones, leads := leadingOnes(m)
	switch {
	case ones == 8*len(m):
		return addr.String()
	case leads:
		return fmt.Sprintf("%s/%d", addr, ones)
	}
	if len(m) == 16 {
		mask, _ := netip.AddrFromSlice(m)
		return addr.String() + "/" + mask.String()
	}
	return addr.String() + "/" + net.IP(m).String()
}

func (k *keyPrinter) port(name string, f offload.Field) {
	if !k.has(f) {
		return
	}
	m := binary.BigEndian.Uint16(k.mask.Get(f))
	k.line(name, name+" %d", binary.BigEndian.Uint16(k.key.Get(f)))
	if m != 0xffff {
		k.o.put(name+"_mask", "/0x%s", fmt.Sprintf("%x", m))
	}
}

func (k *keyPrinter) portRange(name string, low, high offload.Field) {
	if !k.has(low) {
		return
	}
	a, b := binary.BigEndian.Uint16(k.key.Get(low)), binary.BigEndian.Uint16(k.key.Get(high))
	k.o.nl()
	k.o.text("  %s %d-%d", name, a, b)
	k.o.object(name)
	k.o.member("start", a)
	k.o.member("end", b)
	k.o.endObject()
}

func (k *keyPrinter) tcpFlags() {
	if k.has(offload.FieldTCPFlags) {
		v, m := binary.BigEndian.Uint16(k.key.Get(offload.FieldTCPFlags)), binary.BigEndian.Uint16(k.mask.Get(offload.FieldTCPFlags))
		k.line("tcp_flags", "tcp_flags %s", fmt.Sprintf("0x%x/%x", v, m))
	}
}

// decimal writes a number with a decimal mask, as a string in JSON.
func (k *keyPrinter) decimal(name string, f offload.Field) {
	if !k.has(f) {
		return
	}
	text := fmt.Sprint(k.key.Get(f)[0])
	if m := k.mask.Get(f)[0]; m != 0xff {
		text += fmt.Sprintf("/%d", m)
	}
	k.line(name, name+" %s", text)
}

func (k *keyPrinter) number32(name, format string, f offload.Field) {
	if k.has(f) {
		k.line(name, format, binary.BigEndian.Uint32(k.key.Get(f)))
	}
}

func (k *keyPrinter) arp(uint16) {
	k.arpAddr("arp_sip", offload.FieldARPSIP)
	k.arpAddr("arp_tip", offload.FieldARPTIP)
	if k.has(offload.FieldARPOp) {
		v, m := k.key.Get(offload.FieldARPOp)[0], k.mask.Get(offload.FieldARPOp)[0]
		text := fmt.Sprint(v)
		switch {
		case v == 1 && m == 0xff:
			text = "request"
		case v == 2 && m == 0xff:
			text = "reply"
		case m != 0xff:
			text += fmt.Sprintf("/%d", m)
		}
		k.line("arp_op", "arp_op %s", text)
	}
	k.mac("arp_sha", offload.FieldARPSHA)
	k.mac("arp_tha", offload.FieldARPTHA)
}

func (k *keyPrinter) arpAddr(name string, f offload.Field) {
	if k.has(f) {
		k.line(name, name+" %s", maskedAddr(k.key.Get(f), k.mask.Get(f)))
	}
}

func (k *keyPrinter) pppoe() {
	if k.has(offload.FieldPPPoESID) {
		k.line("pppoe_sid", "pppoe_sid %d", binary.BigEndian.Uint16(k.key.Get(offload.FieldPPPoESID)))
	}
	if k.has(offload.FieldPPPProto) {
		n := binary.BigEndian.Uint16(k.key.Get(offload.FieldPPPProto))
		text := fmt.Sprintf("%d", n)
		for name, v := range map[string]uint16{"ip": 0x21, "ipv6": 0x57, "mpls_uc": 0x281, "mpls_mc": 0x283} {
			if v == n {
				text = name
			}
		}
		k.line("ppp_proto", "ppp_proto %s", text)
	}
}

func (k *keyPrinter) tunnel() {
	k.addr("enc_dst_ip", offload.FieldEncDst, offload.FieldEncAddrType)
	k.addr("enc_src_ip", offload.FieldEncSrc, offload.FieldEncAddrType)
	k.number32("enc_key_id", "enc_key_id %d", offload.FieldEncKeyID)
	k.port("enc_dst_port", offload.FieldEncDstPort)
	k.byte("enc_tos", offload.FieldEncTOS)
	k.byte("enc_ttl", offload.FieldEncTTL)
	if k.has(offload.FieldEncOptKind) {
		k.options()
	}
}

func (k *keyPrinter) options() {
	n := int(k.key.Get(offload.FieldEncOptLen)[0])
	data, mask := k.key.Get(offload.FieldEncOpt)[:n], k.mask.Get(offload.FieldEncOpt)[:n]
	switch binary.LittleEndian.Uint16(k.key.Get(offload.FieldEncOptKind)) {
	case optGeneve:
		k.line("geneve_opt_key", "geneve_opts %s", geneveText(data)+"/"+geneveText2(mask, data))
	case optVXLAN:
		k.line("vxlan_opt_key", "vxlan_opts %s", fmt.Sprintf("%d/%d", binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(mask)))
	case optERSPAN:
		k.line("erspan_opt_key", "erspan_opts %s", fmt.Sprintf("%d:%d:%d:%d", data[0], binary.BigEndian.Uint32(data[1:]), data[5], data[6]))
	}
}

func geneveText(data []byte) string { return geneveText2(data, data) }

// geneveText2 writes options; lengths come from a second copy.
func geneveText2(data, lengths []byte) string {
	var l []string
	for at := 0; at+4 <= len(data); {
		n := int(lengths[at+3]) * 4
		end := min(at+4+n, len(data))
		l = append(l, fmt.Sprintf("%04x:%02x:%s", binary.BigEndian.Uint16(data[at:]), data[at+2], hex.EncodeToString(data[at+4:end])))
		at = end
	}
	return strings.Join(l, ",")
}

func (k *keyPrinter) flags() {
	if k.has(offload.FieldFlags) {
		k.flagSet("ip_flags", flowFlags, offload.FieldFlags)
	}
	if k.has(offload.FieldEncFlags) {
		k.flagSet("enc_flags", tunnelFlags, offload.FieldEncFlags)
	}
}

func (k *keyPrinter) flagSet(name string, known []struct {
	name string
	bit  uint32
}, f offload.Field) {
	v, m := binary.LittleEndian.Uint32(k.key.Get(f)), binary.LittleEndian.Uint32(k.mask.Get(f))
	k.o.object(name)
	var l []string
	for _, flag := range known {
		if m&flag.bit == 0 {
			continue
		}
		text := flag.name
		if v&flag.bit == 0 {
			text = "no" + text
		}
		l = append(l, text)
		k.o.member(flag.name, v&flag.bit != 0)
	}
	k.o.nl()
	k.o.text("  %s %s", name, strings.Join(l, "/"))
	k.o.endObject()
}

func (k *keyPrinter) ct() {
	if k.has(offload.FieldCTState) {
		v, m := binary.LittleEndian.Uint16(k.key.Get(offload.FieldCTState)), binary.LittleEndian.Uint16(k.mask.Get(offload.FieldCTState))
		text := ""
		for _, s := range ctStates {
			switch {
			case m&s.bit == 0:
			case v&s.bit != 0:
				text += "+" + s.name
			default:
				text += "-" + s.name
			}
		}
		k.line("ct_state", "ct_state %s", text)
	}
	if k.has(offload.FieldCTZone) {
		v, m := binary.LittleEndian.Uint16(k.key.Get(offload.FieldCTZone)), binary.LittleEndian.Uint16(k.mask.Get(offload.FieldCTZone))
		k.line("ct_zone", "ct_zone %d", v)
		if m != 0xffff {
			k.o.put("ct_zone_mask", "/0x%s", fmt.Sprintf("%x", m))
		}
	}
	if k.has(offload.FieldCTMark) {
		v, m := binary.LittleEndian.Uint32(k.key.Get(offload.FieldCTMark)), binary.LittleEndian.Uint32(k.mask.Get(offload.FieldCTMark))
		k.line("ct_mark", "ct_mark %d", v)
		if m != 0xffffffff {
			k.o.put("ct_mark_mask", "/0x%s", fmt.Sprintf("%x", m))
		}
	}
	if k.has(offload.FieldCTLabels) {
		text := labelHex(k.key.Get(offload.FieldCTLabels))
		if m := labelHex(k.mask.Get(offload.FieldCTLabels)); strings.Trim(m, "f") != "" {
			text += "/" + m
		}
		k.line("ct_label", "ct_label %s", text)
	}
}

func (k *keyPrinter) cfm() {
	if !k.has(offload.FieldCFMMdl) && !k.has(offload.FieldCFMOp) {
		return
	}
	k.o.object("cfm")
	k.o.nl()
	k.o.text("  cfm")
	if k.has(offload.FieldCFMMdl) {
		k.o.put("mdl", " mdl %d", k.key.Get(offload.FieldCFMMdl)[0])
	}
	if k.has(offload.FieldCFMOp) {
		k.o.put("op", " op %d", k.key.Get(offload.FieldCFMOp)[0])
	}
	k.o.endObject()
}
