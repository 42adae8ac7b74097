package iptables

import (
	"fmt"

	"verdict/conntrack"
)

const fullMark = 1<<32 - 1

func init() {
	mark := func(set func(x *markTarget, m masked)) func(*markTarget, *setting) {
		return func(x *markTarget, s *setting) {
			if x.mode != 0 {
				s.fail("one operation on the mark is possible")
			}
			x.mode = markSet
			set(x, s.masked(fullMark))
		}
	}
	set := []option{
		opt("set-xmark", 1, mark(func(x *markTarget, m masked) { x.value, x.mask = m.value, m.mask })),
		opt("set-mark", 1, mark(func(x *markTarget, m masked) { x.value, x.mask = m.value, m.value|m.mask })),
		opt("or-mark", 1, mark(func(x *markTarget, m masked) { x.value, x.mask = m.value, m.value })),
		opt("and-mark", 1, mark(func(x *markTarget, m masked) { x.value, x.mask = 0, ^m.value })),
		opt("xor-mark", 1, mark(func(x *markTarget, m masked) { x.value, x.mask = m.value, 0 })),
	}
	conn := append(append([]option{}, set...),
		opt("save-mark", 0, func(x *markTarget, s *setting) { x.choose(s, markSave) }),
		opt("restore-mark", 0, func(x *markTarget, s *setting) { x.choose(s, markRestore) }),
		opt("nfmask", 1, func(x *markTarget, s *setting) { x.packetMask = uint32(s.uint(fullMark)) }),
		opt("ctmask", 1, func(x *markTarget, s *setting) { x.mask = uint32(s.uint(fullMark)) }),
		opt("mask", 1, func(x *markTarget, s *setting) {
			x.mask = uint32(s.uint(fullMark))
			x.packetMask = x.mask
		}),
		opt("left-shift-mark", 1, func(x *markTarget, s *setting) { x.shift = int(s.uint(32)) }),
		opt("right-shift-mark", 1, func(x *markTarget, s *setting) { x.shift = -int(s.uint(32)) }),
	)
	given := finishing(func(x *markTarget, _ *Rule, _ family) string {
		if x.mode == 0 {
			return "an operation is missing"
		}
		return ""
	})
	registerTarget(
		&extension{name: "MARK", target: func(family) Target { return &markTarget{} }, options: set, finish: given},
		&extension{name: "CONNMARK", target: func(family) Target { return &markTarget{conn: true, mask: fullMark, packetMask: fullMark} }, options: conn, finish: given},
		&extension{name: "CLASSIFY", target: madeTarget[classifyTarget](), options: []option{
			opt("set-class", 1, func(x *classifyTarget, s *setting) { x.read(s) }),
		}, hooks: atForward | atOutput | atPostrouting},
		&extension{name: "NOTRACK", target: func(family) Target { return &ctTarget{old: true, notrack: true} }, tables: []string{"raw"}},
		&extension{name: "CT", target: madeTarget[ctTarget](), tables: []string{"raw"}, options: []option{
			opt("notrack", 0, func(x *ctTarget, s *setting) { x.notrack = true }),
			opt("zone", 1, func(x *ctTarget, s *setting) { x.readZone(s, 0) }),
			opt("zone-orig", 1, func(x *ctTarget, s *setting) { x.readZone(s, 1) }),
			opt("zone-reply", 1, func(x *ctTarget, s *setting) { x.readZone(s, 2) }),
			opt("helper", 1, func(x *ctTarget, s *setting) {
				h, err := conntrack.HelperByName(s.word(0), 0)
				if err != nil {
					s.fail("%v", err)
					return
				}
				x.helper = h
			}),
			opt("ctevents", 1, func(x *ctTarget, s *setting) { x.events = s.word(0) }),
			opt("expevents", 1, func(x *ctTarget, s *setting) { x.expectations = s.word(0) }),
		}, finish: finishing(func(x *ctTarget, r *Rule, _ family) string {
			if x.helper != nil && (r.Header.Protocol != x.helper.Protocol() || r.Header.NotProtocol) {
				return "the helper " + x.helper.Name() + " needs -p " + protocolName(x.helper.Protocol())
			}
			return ""
		})},
	)
}

// markMode is what a rule does with the mark.
type markMode uint8

const (
	markSet markMode = iota + 1
	markSave
	markRestore
)

// markTarget is -j MARK and -j CONNMARK. Ref: xt_mark.c, xt_connmark.c.
type markTarget struct {
	conn        bool
	mode        markMode
	value, mask uint32 // mask is that of the connection for save and restore
	packetMask  uint32
	shift       int // left, or right if negative
}

func (x *markTarget) choose(s *setting, mode markMode) {
	if x.mode != 0 {
		s.fail("one operation on the mark is possible")
	}
	x.mode = mode
}

func (x *markTarget) uses(*Uses) bool { return x.conn }

func (x *markTarget) Name() string {
	if x.conn {
		return "CONNMARK"
	}
	return "MARK"
}

func (x *markTarget) appendSave(b []byte) []byte {
	switch x.mode {
	case markSave:
		b = fmt.Appendf(b, " --save-mark --nfmask %#x --ctmask %#x", x.packetMask, x.mask)
	case markRestore:
		b = fmt.Appendf(b, " --restore-mark --nfmask %#x --ctmask %#x", x.packetMask, x.mask)
	default:
		b = fmt.Appendf(b, " --set-xmark 0x%x/0x%x", x.value, x.mask)
	}
	switch {
	case x.shift > 0:
		b = fmt.Appendf(b, " --left-shift-mark %d", x.shift)
	case x.shift < 0:
		b = fmt.Appendf(b, " --right-shift-mark %d", -x.shift)
	}
	return b
}

func (x *markTarget) translate(t *translator) bool {
	key, set := "mark", "meta mark set "
	if x.conn {
		key, set = "ct mark", "ct mark set "
	}
	value := ""
	switch x.mode {
	case markSet:
		value = x.setText(t, key)
	case markSave, markRestore:
		from := "mark"
		if x.mode == markRestore {
			from, set = "ct mark", "meta mark set "
		}
		text, ok := x.copyText(t, from)
		if !ok {
			return false
		}
		value = text
	}
	switch {
	case x.shift != 0 && !t.reference:
		return t.fail("the shifted mark has no form that means the same")
	case x.shift > 0:
		value = fmt.Sprintf("( %s ) << %d", value, x.shift)
	case x.shift < 0:
		value = fmt.Sprintf("( %s ) >> %d", value, -x.shift)
	}
	if t.reference && !x.conn {
		value += " " // as printed there, seen where a comment follows
		t.parts = append(t.parts, set+value)
		return true
	}
	t.add(set + value)
	return true
}

// setText is the value that becomes the mark.
func (x *markTarget) setText(t *translator, key string) string {
	switch {
	case x.mask == fullMark:
		return fmt.Sprintf("%#x", x.value)
	case x.value == 0:
		return fmt.Sprintf("%s and %#x", key, ^x.mask)
	case x.value == x.mask:
		return fmt.Sprintf("%s or %#x", key, x.value)
	case x.mask == 0:
		return fmt.Sprintf("%s xor %#x", key, x.value)
	case x.conn && t.reference:
		return fmt.Sprintf("%s xor %#x and %#x", key, x.value, ^x.mask)
	}
	return fmt.Sprintf("%s and %#x xor %#x", key, ^x.mask, x.value)
}

// copyText is the value for save and restore. With masks the reference forgets
// the bits of the target that stay; those need both marks in one expression.
func (x *markTarget) copyText(t *translator, from string) (string, bool) {
	switch {
	case x.packetMask == fullMark && x.mask == fullMark:
		return from, true
	case x.packetMask != x.mask:
		return "", t.fail("the masks of both marks differ")
	case t.reference:
		return fmt.Sprintf("%s and %#x", from, x.mask), true
	}
	to := "ct mark"
	if from == "ct mark" {
		to = "meta mark"
	} else {
		from = "meta mark"
	}
	return fmt.Sprintf("%s & %#x | %s & %#x", to, ^x.mask, from, x.mask), true
}

func (x *markTarget) shifted(v uint32) uint32 {
	if x.shift >= 0 {
		return v << x.shift
	}
	return v >> -x.shift
}

func (x *markTarget) apply(m *Machine) action {
	meta := m.pkt.Meta
	if !x.conn {
		meta.Mark = meta.Mark&^x.mask ^ x.value
		return actContinue
	}
	a := m.pkt.CT
	if a.Unknown() {
		return actCut
	}
	c := a.Conn
	if c == nil {
		return actContinue
	}
	switch x.mode {
	case markSet:
		c.Mark = x.shifted(c.Mark&^x.mask ^ x.value)
	case markSave:
		c.Mark = c.Mark&^x.mask ^ x.shifted(meta.Mark&x.packetMask)
	case markRestore:
		meta.Mark = meta.Mark&^x.packetMask ^ x.shifted(c.Mark&x.mask)
	}
	return actContinue
}

// classifyTarget is -j CLASSIFY. Ref: xt_CLASSIFY.c.
type classifyTarget struct{ major, minor uint16 }

func (x *classifyTarget) read(s *setting) {
	var major, minor uint16
	if n, err := fmt.Sscanf(s.word(0), "%x:%x", &major, &minor); n != 2 || err != nil {
		s.fail("a class is written MAJOR:MINOR in hexadecimal")
	}
	x.major, x.minor = major, minor
}

func (x *classifyTarget) Name() string { return "CLASSIFY" }

func (x *classifyTarget) appendSave(b []byte) []byte {
	return fmt.Appendf(b, " --set-class %04x:%04x", x.major, x.minor)
}

func (x *classifyTarget) translate(t *translator) bool {
	switch {
	case x.major == 0 && x.minor == 0:
		t.add("meta priority set none")
	case x.major == 0xffff && x.minor == 0xffff:
		t.add("meta priority set root")
	default:
		t.addf("meta priority set %x:%x", x.major, x.minor)
	}
	return true
}

func (x *classifyTarget) apply(m *Machine) action {
	m.pkt.Meta.Priority = uint32(x.major)<<16 | uint32(x.minor)
	return actContinue
}

// ctTarget is -j CT and -j NOTRACK. Ref: xt_CT.c.
type ctTarget struct {
	old, notrack         bool
	zone                 uint16
	hasZone, zoneMark    bool
	zoneWay              int // 0 both directions, 1 original, 2 reply
	helper               conntrack.Helper
	events, expectations string
}

func (x *ctTarget) readZone(s *setting, way int) {
	if x.hasZone {
		s.fail("one zone is possible")
	}
	x.hasZone, x.zoneWay = true, way
	if s.word(0) == "mark" {
		x.zoneMark = true
		return
	}
	x.zone = uint16(s.uint(65535))
}

func (x *ctTarget) uses(*Uses) bool { return true }

func (x *ctTarget) Name() string {
	if x.old {
		return "NOTRACK"
	}
	return "CT"
}

func (x *ctTarget) appendSave(b []byte) []byte {
	if x.old {
		return b
	}
	if x.notrack {
		b = append(b, " --notrack"...)
	}
	if x.helper != nil {
		b = fmt.Appendf(b, " --helper %s", x.helper.Name())
	}
	if x.events != "" {
		b = fmt.Appendf(b, " --ctevents %s", word(x.events))
	}
	if x.expectations != "" {
		b = fmt.Appendf(b, " --expevents %s", word(x.expectations))
	}
	if x.hasZone {
		zone := fmt.Sprint(x.zone)
		if x.zoneMark {
			zone = "mark"
		}
		b = fmt.Appendf(b, " --zone%s %s", []string{"", "-orig", "-reply"}[x.zoneWay], zone)
	}
	return b
}

func (x *ctTarget) translate(t *translator) bool {
	plain := x.helper == nil && x.events == "" && x.expectations == ""
	switch {
	case x.notrack && !x.hasZone && plain:
		t.add("notrack")
		return true
	case t.reference || !plain || x.notrack:
		return t.fail("nft sets helpers and events by objects")
	}
	zone := fmt.Sprint(x.zone)
	if x.zoneMark {
		return t.fail("a zone from the mark has no form that nft accepts everywhere")
	}
	t.addf("ct %szone set %s", []string{"", "original ", "reply "}[x.zoneWay], zone)
	return true
}

func (x *ctTarget) apply(m *Machine) action {
	a := m.pkt.CT
	if a.Conn != nil || a.Info == conntrack.InfoUntracked || a.HasTemplate {
		return actContinue
	}
	if x.notrack {
		a.Info = conntrack.InfoUntracked
		return actContinue
	}
	zone := conntrack.Zone{ID: x.zone, Directions: uint8(x.zoneWay)}
	if x.zoneMark {
		zone.ID = uint16(m.pkt.Meta.Mark)
	}
	if x.hasZone {
		a.HasTemplate, a.TemplateZone = true, zone
	}
	return actContinue
}
