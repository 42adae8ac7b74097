package iptables

import (
	"fmt"
	"strconv"
)

func init() {
	registerMatch(
		&extension{name: "mark", match: func(family) Match { return &markMatch{key: "mark"} }, options: markOptions(), finish: markGiven},
		&extension{name: "connmark", match: func(family) Match { return &markMatch{key: "ct mark", conn: true} }, options: markOptions(), finish: markGiven},
		&extension{name: "length", match: made[lengthMatch](), options: []option{
			optNot("length", 1, func(x *lengthMatch, s *setting) { x.lengths, x.not, x.given = s.numbers(s.word(0), 65535), s.not, true }),
		}, finish: finishing(func(x *lengthMatch, _ *Rule, _ family) string { return needed(x.given, "--length") })},
		&extension{name: "comment", match: made[commentMatch](), options: []option{
			opt("comment", 1, func(x *commentMatch, s *setting) {
				if x.text, x.given = s.word(0), true; len(x.text) > 255 {
					s.fail("the comment is longer than 255 bytes")
				}
			}),
		}, finish: finishing(func(x *commentMatch, _ *Rule, _ family) string { return needed(x.given, "--comment") })},
		&extension{name: "cpu", match: made[cpuMatch](), options: []option{
			optNot("cpu", 1, func(x *cpuMatch, s *setting) { x.cpu, x.not, x.given = uint32(s.uint(1<<32-1)), s.not, true }),
		}, finish: finishing(func(x *cpuMatch, _ *Rule, _ family) string { return needed(x.given, "--cpu") })},
		&extension{name: "devgroup", match: made[devgroupMatch](), options: []option{
			optNot("src-group", 1, func(x *devgroupMatch, s *setting) {
				x.source, x.notSource, x.hasSource = s.masked(1<<32-1), s.not, true
			}),
			optNot("dst-group", 1, func(x *devgroupMatch, s *setting) { x.dest, x.notDest, x.hasDest = s.masked(1<<32-1), s.not, true }),
		}},
		&extension{name: "realm", match: made[realmMatch](), options: []option{
			optNot("realm", 1, func(x *realmMatch, s *setting) { x.realm, x.not = s.masked(1<<32-1), s.not }),
		}, hooks: atInput | atForward | atOutput | atPostrouting},
	)
}

// needed says that an option is missing.
func needed(given bool, option string) string {
	if given {
		return ""
	}
	return option + " is missing"
}

// markMatch is -m mark and -m connmark. Ref: xt_mark.c, xt_connmark.c.
type markMatch struct {
	key   string
	conn  bool
	mark  masked
	not   bool
	given bool
}

func markOptions() []option {
	return []option{optNot("mark", 1, func(x *markMatch, s *setting) { x.mark, x.not, x.given = s.masked(1<<32-1), s.not, true })}
}

var markGiven = finishing(func(x *markMatch, _ *Rule, _ family) string { return needed(x.given, "--mark") })

func (x *markMatch) uses(*Uses) bool { return x.conn }

func (x *markMatch) Name() string {
	if x.conn {
		return "connmark"
	}
	return "mark"
}

func (x *markMatch) appendSave(b []byte) []byte {
	return appendMasked(append(appendNot(b, x.not), " --mark "...), x.mark, 1<<32-1)
}

func (x *markMatch) translate(t *translator) bool {
	t.masked(x.key, x.mark, x.not)
	return true
}

// masked adds a comparison of a key with a value of which some bits count.
func (t *translator) masked(key string, m masked, not bool) {
	operator := "=="
	if not {
		operator = "!="
	}
	if m.mask == 1<<32-1 {
		t.addf("%s %s%#x", key, t.not(not), m.value)
		return
	}
	t.addf("%s and %#x %s %#x", key, m.mask, operator, m.value)
}

func (x *markMatch) matches(m *Machine) result {
	mark := m.pkt.Meta.Mark
	if x.conn {
		switch a := m.pkt.CT; {
		case a.Unknown():
			return resultCut
		case a.Conn == nil:
			return resultFalse
		default:
			mark = a.Conn.Mark
		}
	}
	return truth((mark&x.mark.mask == x.mark.value) != x.not)
}

// lengthMatch is -m length. Ref: xt_length.c.
type lengthMatch struct {
	lengths span32
	not     bool
	given   bool
}

func (x *lengthMatch) Name() string { return "length" }

func (x *lengthMatch) appendSave(b []byte) []byte {
	return fmt.Appendf(appendNot(b, x.not), " --length %s", x.lengths.text(":"))
}

func (x *lengthMatch) translate(t *translator) bool {
	t.addf("meta length %s%s", t.not(x.not), x.lengths.text("-"))
	return true
}

func (x *lengthMatch) matches(m *Machine) result {
	return truth(x.lengths.holds(uint32(m.pkt.View.NetLen)) != x.not)
}

// commentMatch is -m comment, which matches everything.
type commentMatch struct {
	text  string
	given bool
}

func (x *commentMatch) Name() string { return "comment" }

func (x *commentMatch) appendSave(b []byte) []byte {
	return appendQuoted(append(b, " --comment "...), x.text)
}

func (x *commentMatch) translate(*translator) bool { return true } // the rule's comment, last

func (x *commentMatch) matches(*Machine) result { return resultTrue }

// cpuMatch is -m cpu. Ref: xt_cpu.c.
type cpuMatch struct {
	cpu   uint32
	not   bool
	given bool
}

func (x *cpuMatch) uses(u *Uses) bool {
	u.CPU = true
	return false
}

func (x *cpuMatch) Name() string { return "cpu" }

func (x *cpuMatch) appendSave(b []byte) []byte {
	return strconv.AppendUint(append(appendNot(b, x.not), " --cpu "...), uint64(x.cpu), 10)
}

func (x *cpuMatch) translate(t *translator) bool {
	t.addf("cpu %s%d", t.not(x.not), x.cpu)
	return true
}

func (x *cpuMatch) matches(m *Machine) result { return truth((m.CPU == x.cpu) != x.not) }

// devgroupMatch is -m devgroup. Ref: xt_devgroup.c.
type devgroupMatch struct {
	source, dest       masked
	notSource, notDest bool
	hasSource, hasDest bool
}

func (x *devgroupMatch) Name() string { return "devgroup" }

func (x *devgroupMatch) appendSave(b []byte) []byte {
	if x.hasSource {
		b = appendMasked(append(appendNot(b, x.notSource), " --src-group "...), x.source, 1<<32-1)
	}
	if x.hasDest {
		b = appendMasked(append(appendNot(b, x.notDest), " --dst-group "...), x.dest, 1<<32-1)
	}
	return b
}

func (x *devgroupMatch) translate(t *translator) bool {
	if x.hasSource {
		t.masked("iifgroup", x.source, x.notSource)
	}
	if x.hasDest {
		t.masked("oifgroup", x.dest, x.notDest)
	}
	return true
}

func (x *devgroupMatch) matches(m *Machine) result {
	if x.hasSource && (m.pkt.Meta.IIF.Group&x.source.mask == x.source.value) == x.notSource {
		return resultFalse
	}
	return truth(!x.hasDest || (m.pkt.Meta.OIF.Group&x.dest.mask == x.dest.value) != x.notDest)
}

// realmMatch is -m realm: of a route's class id. Ref: xt_realm.c.
type realmMatch struct {
	realm masked
	not   bool
}

func (x *realmMatch) uses(u *Uses) bool {
	u.Routes = true
	return false
}

func (x *realmMatch) Name() string { return "realm" }

func (x *realmMatch) appendSave(b []byte) []byte {
	return appendMasked(append(appendNot(b, x.not), " --realm "...), x.realm, 1<<32-1)
}

func (x *realmMatch) translate(t *translator) bool {
	t.masked("rtclassid", x.realm, x.not)
	return true
}

func (x *realmMatch) matches(m *Machine) result {
	return truth((m.pkt.Meta.RtClassID&x.realm.mask == x.realm.value) != x.not)
}
