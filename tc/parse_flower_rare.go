package tc

import (
	"encoding/hex"
	"strings"

	"verdict/offload"
	"verdict/packet"
)

// isMPLS checks that the keys of labels are allowed.
func (p *flowerParser) isMPLS() bool { return isMPLS(p.network()) }

// mplsKey reads the first entry's fields.
func (p *flowerParser) mplsKey(word, value string) *ToolError {
	if !p.isMPLS() {
		return tool("Can't set %q if ethertype isn't MPLS", word)
	}
	n, ok := number32(value, 10)
	e := mplsEntry{depth: 1, label: -1, tc: -1, bos: -1, ttl: -1}
	switch word {
	case "mpls_label":
		e.label, ok = int(n), ok && n < 1<<20
	case "mpls_tc":
		e.tc, ok = int(n), ok && n < 8
	case "mpls_bos":
		e.bos, ok = int(n), ok && n < 2
	default:
		e.ttl, ok = int(n), ok && n < 256
	}
	if !ok {
		return tool("Illegal %q", word)
	}
	if len(p.o.lse) > 0 {
		return tool("Illegal %q", word)
	}
	v, m := e.words()
	key, mask := make([]byte, 4*offload.MaxMPLS), make([]byte, 4*offload.MaxMPLS)
	if a := p.o.attr(offload.FieldMPLS); a != nil {
		key, mask = a.value, a.mask
	}
	merge(key, be32(v), be32(m))
	merge(mask, be32(m), be32(m))
	p.o.put(offload.FieldMPLS, key, mask)
	return nil
}

func merge(to, value, mask []byte) {
	for i := range mask {
		to[i] = to[i]&^mask[i] | value[i]
	}
}

// mplsStack reads "mpls lse depth N [label N] [tc N] [bos N] [ttl N] …".
func (p *flowerParser) mplsStack() *ToolError {
	if !p.isMPLS() {
		return tool(`Can't set "mpls" if ethertype isn't MPLS`)
	}
	w := p.w
	w.skip()
	if !w.is("lse") {
		return tool(`Error: "lse" expected`)
	}
	for w.is("lse") {
		w.skip()
		e := mplsEntry{label: -1, tc: -1, bos: -1, ttl: -1}
		if err := e.parse(w); err != nil {
			return err
		}
		if e.depth == 0 {
			return tool(`lse: "depth" is missing`)
		}
		if p.o.attr(offload.FieldMPLS) != nil {
			return tool("Error: mpls_* and mpls lse together")
		}
		p.o.lse = append(p.o.lse, e)
	}
	return nil
}

func (e *mplsEntry) parse(w *words) *ToolError {
	for {
		name := w.peek()
		bounds := map[string]uint32{"depth": offload.MaxMPLS, "label": 1<<20 - 1, "tc": 7, "bos": 1, "ttl": 255}
		limit, known := bounds[name]
		if !known {
			return nil
		}
		text, err := w.value()
		if err != nil {
			return err
		}
		n, ok := number32(text, 10)
		if !ok || n > limit || name == "depth" && n == 0 {
			return tool("Illegal LSE %s", name)
		}
		switch name {
		case "depth":
			e.depth = int(n)
		case "label":
			e.label = int(n)
		case "tc":
			e.tc = int(n)
		case "bos":
			e.bos = int(n)
		default:
			e.ttl = int(n)
		}
	}
}

func (p *flowerParser) cfm() *ToolError {
	w := p.w
	w.skip()
	if p.ethType != typeCFM {
		return tool(`Can't set attribute if ethertype isn't CFM`)
	}
	for w.is("mdl") || w.is("op") {
		name := w.peek()
		text, err := w.value()
		if err != nil {
			return err
		}
		n, ok := number8(text, 10)
		if !ok || name == "mdl" && n > 7 {
			return tool("Illegal \"cfm %s\"", name)
		}
		f, m := offload.FieldCFMOp, byte(0xff)
		if name == "mdl" {
			f, m = offload.FieldCFMMdl, 7
		}
		p.o.put(f, []byte{n}, []byte{m})
	}
	return nil
}

func (p *flowerParser) encKeyID(word, value string) *ToolError {
	n, ok := number32(value, 10)
	if !ok {
		return tool("Illegal %q", word)
	}
	p.o.put(offload.FieldEncKeyID, be32(n), be32(0xffffffff))
	return nil
}

func (p *flowerParser) encPort(word, value string) *ToolError {
	n, ok := number16(value, 10)
	if !ok || n == 0 {
		return tool("Illegal %q", word)
	}
	p.o.put(offload.FieldEncDstPort, be16(n), be16(0xffff))
	return nil
}

// encOpts reads options of a tunnel with optional masks.
func (p *flowerParser) encOpts(word, value string) *ToolError {
	kind := strings.TrimSuffix(word, "_opts")
	text, maskText, has := strings.Cut(value, "/")
	number, data, ok := tunnelOptions(kind, text)
	if !ok {
		return tool("Illegal %q", word)
	}
	mask := make([]byte, len(data))
	for i := range mask {
		mask[i] = 0xff
	}
	if has {
		_, m, okMask := tunnelOptions(kind, maskText)
		if !okMask || len(m) != len(data) {
			return tool("Illegal %q", word)
		}
		mask = m
		if kind == "geneve" {
			keepLengths(mask, data)
		}
	}
	p.o.put(offload.FieldEncOpt, data, mask)
	p.o.put(offload.FieldEncOptKind, le16(number), le16(0xffff))
	p.o.put(offload.FieldEncOptLen, []byte{byte(len(data))}, []byte{0xff})
	return nil
}

// keepLengths makes the masks of geneve's length bytes full.
func keepLengths(mask, data []byte) {
	for at := 0; at+4 <= len(data); at += 4 + int(data[at+3])*4 {
		mask[at+3] = 0xff
	}
}

var flowFlags = []struct {
	name string
	bit  uint32
}{{"frag", offload.FlagFragment}, {"firstfrag", offload.FlagFirstFragment}}

var tunnelFlags = []struct {
	name string
	bit  uint32
}{{"tundf", 1 << 6}, {"tuncsum", 1 << 3}, {"tunoam", 1 << 7}, {"tuncrit", 1 << 8}}

func (p *flowerParser) ipFlags(word, value string) *ToolError {
	if n := p.network(); n != packet.TypeIPv4 && n != packet.TypeIPv6 {
		return tool("Illegal %q", word)
	}
	var v, m uint32
	for _, item := range strings.Split(value, "/") {
		name, set := strings.TrimPrefix(item, "no"), !strings.HasPrefix(item, "no")
		bit := uint32(0)
		for _, f := range flowFlags {
			if f.name == name {
				bit = f.bit
			}
		}
		if bit == 0 {
			return tool("Illegal %q", word)
		}
		m |= bit
		if set {
			v |= bit
		}
	}
	p.o.put(offload.FieldFlags, le32(v), le32(m))
	return nil
}

func (p *flowerParser) encFlags(word, value string) *ToolError {
	var v, m uint32
	for _, item := range strings.Split(value, "/") {
		name, set := strings.TrimPrefix(item, "no"), !strings.HasPrefix(item, "no")
		bit := uint32(0)
		for _, f := range tunnelFlags {
			if f.name == name {
				bit = f.bit
			}
		}
		if bit == 0 {
			return tool("Illegal %q", word)
		}
		m |= bit
		if set {
			v |= bit
		}
	}
	p.o.put(offload.FieldEncFlags, le32(v), le32(m))
	return nil
}

func (p *flowerParser) l2Miss(word, value string) *ToolError {
	n, ok := number8(value, 10)
	if !ok || n > 1 {
		return tool("Illegal %q", word)
	}
	p.o.put(offload.FieldL2Miss, []byte{n}, []byte{0xff})
	return nil
}

var ctStates = []struct {
	name string
	bit  uint16
}{{"trk", ctTracked}, {"new", ctNew}, {"est", ctEstablished}, {"rel", ctRelated}, {"inv", ctInvalid}, {"rpl", ctReply}}

// ctState reads "+trk-new…".
func (p *flowerParser) ctState(word, value string) *ToolError {
	var v, m uint16
	for rest := value; rest != ""; {
		sign := rest[0]
		if sign != '+' && sign != '-' {
			return tool("Illegal %q", word)
		}
		end := strings.IndexAny(rest[1:], "+-") + 1
		if end == 0 {
			end = len(rest)
		}
		bit := uint16(0)
		for _, s := range ctStates {
			if s.name == rest[1:end] {
				bit = s.bit
			}
		}
		if bit == 0 {
			return tool("Illegal %q", word)
		}
		m |= bit
		if sign == '+' {
			v |= bit
		}
		rest = rest[end:]
	}
	p.o.put(offload.FieldCTState, le16(v), le16(m))
	return nil
}

func (p *flowerParser) ctZone(word, value string) *ToolError {
	v, m, ok := masked(value, 16)
	if !ok {
		return tool("Illegal %q", word)
	}
	p.o.put(offload.FieldCTZone, le16(uint16(v)), le16(uint16(m)))
	return nil
}

func (p *flowerParser) ctMark(word, value string) *ToolError {
	v, m, ok := masked(value, 32)
	if !ok {
		return tool("Illegal %q", word)
	}
	p.o.put(offload.FieldCTMark, le32(uint32(v)), le32(uint32(m)))
	return nil
}

// ctLabel reads 128 bits as hexadecimal digits, the most significant first.
func (p *flowerParser) ctLabel(word, value string) *ToolError {
	v, m, ok := labelText(value)
	if !ok {
		return tool("Illegal %q", word)
	}
	p.o.put(offload.FieldCTLabels, reversed(v), reversed(m))
	return nil
}

func reversed(b [16]byte) []byte {
	out := make([]byte, 16)
	for i := range b {
		out[15-i] = b[i]
	}
	return out
}

func labelHex(b []byte) string {
	var a [16]byte
	copy(a[:], b)
	return hex.EncodeToString(reversed(a))
}

func (p *flowerParser) l2tp(word, value string) *ToolError {
	if p.ipProto != protoL2TP {
		return tool("Can't set %q if ip_proto isn't L2TPv3", word)
	}
	return p.number(offload.FieldL2TPv3SID, 32, word, value)
}

func (p *flowerParser) spi(word, value string) *ToolError {
	if p.ipProto != packet.ProtoESP && p.ipProto != packet.ProtoAH {
		return tool("Can't set %q if ip_proto isn't ESP/AH", word)
	}
	return p.number(offload.FieldSPI, 32, word, value)
}

func (p *flowerParser) pppoe(word, value string) *ToolError {
	if p.ethType != packet.TypePPPoES {
		return tool("Can't set %q if ethertype isn't PPP_SES", word)
	}
	if word == "pppoe_sid" {
		n, ok := number16(value, 0)
		if !ok {
			return tool("Illegal %q", word)
		}
		p.o.put(offload.FieldPPPoESID, be16(n), be16(0xffff))
		return nil
	}
	n, ok := map[string]uint16{"ip": 0x21, "ipv6": 0x57, "mpls_uc": 0x281, "mpls_mc": 0x283}[value]
	if !ok {
		if n, ok = number16(value, 0); !ok {
			return wrong(value, "invalid ppp_proto")
		}
	}
	switch n {
	case 0x21:
		p.ethType = packet.TypeIPv4
	case 0x57:
		p.ethType = packet.TypeIPv6
	}
	p.o.put(offload.FieldPPPProto, be16(n), be16(0xffff))
	return nil
}
