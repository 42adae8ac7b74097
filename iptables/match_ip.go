package iptables

import (
	"fmt"
	"strconv"
	"strings"

	"verdict/catalog"
	"verdict/diag"
	"verdict/packet"
)

func init() {
	registerMatch(
		&extension{name: "ttl", family: catalog.FamilyIP, match: func(family) Match { return &ttlMatch{name: "ttl"} }, options: ttlOptions("ttl"), finish: ttlGiven},
		&extension{name: "hl", family: catalog.FamilyIP6, match: func(family) Match { return &ttlMatch{name: "hl"} }, options: ttlOptions("hl"), finish: ttlGiven},
		&extension{name: "dscp", match: made[dscpMatch](), options: []option{
			optNot("dscp", 1, func(x *dscpMatch, s *setting) { x.value, x.not, x.given = uint8(s.uint(63)), s.not, true }),
			optNot("dscp-class", 1, func(x *dscpMatch, s *setting) { x.value, x.not, x.given = s.dscpClass(), s.not, true }),
		}, finish: finishing(func(x *dscpMatch, _ *Rule, _ family) string { return needed(x.given, "--dscp") })},
		&extension{name: "tos", match: made[tosMatch](), options: []option{
			optNot("tos", 1, func(x *tosMatch, s *setting) { x.tos, x.not, x.given = s.tos(), s.not, true }),
		}, finish: finishing(func(x *tosMatch, _ *Rule, _ family) string { return needed(x.given, "--tos") })},
		&extension{name: "ecn", match: made[ecnMatch](), options: []option{
			optNot("ecn-ip-ect", 1, func(x *ecnMatch, s *setting) { x.ip, x.notIP, x.hasIP = uint8(s.uint(3)), s.not, true }),
			optNot("ecn-tcp-ece", 0, func(x *ecnMatch, s *setting) { x.ece, x.notECE = true, s.not }),
			optNot("ecn-tcp-cwr", 0, func(x *ecnMatch, s *setting) { x.cwr, x.notCWR = true, s.not }),
		}, finish: finishing(func(x *ecnMatch, r *Rule, _ family) string {
			switch {
			case !x.hasIP && !x.ece && !x.cwr:
				return "an option is missing"
			case (x.ece || x.cwr) && (r.Header.Protocol != packet.ProtoTCP || r.Header.NotProtocol):
				return "tests of TCP bits need -p tcp"
			}
			return ""
		})},
	)
}

// ttl is the packet's time to live or hop limit.
func (m *Machine) ttl() uint8 {
	h := m.network()
	if six(m.pkt.Family) {
		return h[7]
	}
	return h[8]
}

// tosByte is the type of service or traffic class.
func (m *Machine) tosByte() uint8 {
	h := m.network()
	if six(m.pkt.Family) {
		return h[0]<<4 | h[1]>>4
	}
	return h[1]
}

// ttlMatch is -m ttl and -m hl. Ref: xt_hl.c.
type ttlMatch struct {
	name  string
	how   string // eq, lt, gt
	value uint8
	not   bool
}

func ttlOptions(name string) []option {
	set := func(how string) func(*ttlMatch, *setting) {
		return func(x *ttlMatch, s *setting) { x.how, x.value, x.not = how, uint8(s.uint(255)), s.not }
	}
	return []option{optNot(name+"-eq "+name, 1, set("eq")), opt(name+"-lt", 1, set("lt")), opt(name+"-gt", 1, set("gt"))}
}

var ttlGiven = finishing(func(x *ttlMatch, _ *Rule, _ family) string { return needed(x.how != "", "--"+x.name+"-eq, -lt or -gt") })

func (x *ttlMatch) uses(u *Uses) bool {
	u.TTL = true
	return false
}

func (x *ttlMatch) Name() string { return x.name }

func (x *ttlMatch) appendSave(b []byte) []byte {
	return fmt.Appendf(appendNot(b, x.not), " --%s-%s %d", x.name, x.how, x.value)
}

func (x *ttlMatch) translate(t *translator) bool {
	key := "ip ttl"
	if x.name == "hl" {
		key = "ip6 hoplimit"
	}
	switch {
	case x.how == "eq":
		t.addf("%s %s%d", key, t.not(x.not), x.value)
	case !t.reference && x.how == "lt" && x.value == 0, !t.reference && x.how == "gt" && x.value == 255:
		return t.fail("the rule never matches")
	default:
		t.addf("%s %s %d", key, x.how, x.value)
	}
	return true
}

func (x *ttlMatch) matches(m *Machine) result {
	ttl := m.ttl()
	switch x.how {
	case "lt":
		return truth(ttl < x.value)
	case "gt":
		return truth(ttl > x.value)
	}
	return truth((ttl == x.value) != x.not)
}

// dscpClass reads the name of a class of service.
func (s *setting) dscpClass() uint8 {
	word := strings.ToLower(s.word(0))
	if n, ok := catalog.DSCP.SymbolByName(word); ok {
		return uint8(n)
	}
	if word == "be" || word == "df" {
		return 0
	}
	var names []string
	for _, symbol := range catalog.DSCP.Symbols {
		names = append(names, symbol.Name)
	}
	d := s.fail("%s is no class of service", diag.Printable(s.word(0)))
	if near := diag.Nearest(word, names); near != "" {
		d.Hint = "did you mean " + strings.ToUpper(near) + "?"
	}
	return 0
}

// dscpMatch is -m dscp. Ref: xt_dscp.c.
type dscpMatch struct {
	value uint8
	not   bool
	given bool
}

func (x *dscpMatch) Name() string { return "dscp" }

func (x *dscpMatch) appendSave(b []byte) []byte {
	return fmt.Appendf(appendNot(b, x.not), " --dscp 0x%02x", x.value)
}

func (x *dscpMatch) translate(t *translator) bool {
	t.addf("%s dscp %s0x%02x", t.ip(), t.not(x.not), x.value)
	return true
}

func (x *dscpMatch) matches(m *Machine) result {
	return truth((m.tosByte()>>2 == x.value) != x.not)
}

// tosNames are the old names of types of service; they leave the ECN bits out.
var tosNames = []struct {
	name  string
	value uint8
}{{"Minimize-Delay", 0x10}, {"Maximize-Throughput", 8}, {"Maximize-Reliability", 4}, {"Minimize-Cost", 2}, {"Normal-Service", 0}}

// tos reads V, V/M or a name.
func (s *setting) tos() masked {
	for _, n := range tosNames {
		if strings.EqualFold(n.name, s.word(0)) {
			return masked{uint32(n.value), 0x3f}
		}
	}
	if c := s.word(0); c != "" && (c[0] < '0' || c[0] > '9') {
		s.fail("%s is no type of service", diag.Printable(c))
		return masked{}
	}
	return s.masked(255)
}

// tosMatch is -m tos. Ref: xt_dscp.c, tos_mt.
type tosMatch struct {
	tos   masked
	not   bool
	given bool
}

func (x *tosMatch) Name() string { return "tos" }

func (x *tosMatch) appendSave(b []byte) []byte {
	return fmt.Appendf(appendNot(b, x.not), " --tos 0x%02x/0x%02x", x.tos.value, x.tos.mask)
}

func (x *tosMatch) translate(t *translator) bool {
	if t.reference {
		return false
	}
	operator := "=="
	if x.not {
		operator = "!="
	}
	if six(t.family) {
		t.addf("@nh,0,16 & 0x0%02x0 %s 0x0%02x0", x.tos.mask, operator, x.tos.value)
		return true
	}
	t.addf("@nh,8,8 & 0x%02x %s 0x%02x", x.tos.mask, operator, x.tos.value)
	return true
}

func (x *tosMatch) matches(m *Machine) result {
	return truth((uint32(m.tosByte())&x.tos.mask == x.tos.value) != x.not)
}

// ecnMatch is -m ecn. Ref: xt_ecn.c.
type ecnMatch struct {
	ip           uint8
	hasIP, notIP bool
	ece, notECE  bool
	cwr, notCWR  bool
}

func (x *ecnMatch) Name() string { return "ecn" }

func (x *ecnMatch) appendSave(b []byte) []byte {
	if x.ece {
		b = append(appendNot(b, x.notECE), " --ecn-tcp-ece"...)
	}
	if x.cwr {
		b = append(appendNot(b, x.notCWR), " --ecn-tcp-cwr"...)
	}
	if x.hasIP {
		b = strconv.AppendUint(append(appendNot(b, x.notIP), " --ecn-ip-ect "...), uint64(x.ip), 10)
	}
	return b
}

var ecnNames = []string{"not-ect", "ect1", "ect0", "ce"}

func (x *ecnMatch) translate(t *translator) bool {
	for _, f := range []struct {
		set, not bool
		name     string
	}{{x.ece, x.notECE, "ecn"}, {x.cwr, x.notCWR, "cwr"}} {
		switch {
		case !f.set:
		case f.not && !t.reference:
			t.addf("tcp flags & %s == 0x0", f.name)
		default:
			t.addf("tcp flags %s%s", t.not(f.not), f.name)
		}
	}
	if x.hasIP {
		t.addf("%s ecn %s%s", t.ip(), t.not(x.notIP), ecnNames[x.ip])
	}
	return true
}

func (x *ecnMatch) matches(m *Machine) result {
	if x.hasIP && (m.tosByte()&3 == x.ip) == x.notIP {
		return resultFalse
	}
	if !x.ece && !x.cwr {
		return resultTrue
	}
	h, is := m.transport(20, 14)
	if is != resultTrue {
		return is
	}
	if x.ece && (h[13]&0x40 != 0) == x.notECE {
		return resultFalse
	}
	return truth(!x.cwr || (h[13]&0x80 != 0) != x.notCWR)
}
