package iptables

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"

	"verdict/conntrack"
)

func init() {
	registerMatch(
		&extension{name: "conntrack", match: made[conntrackMatch](), options: conntrackOptions()},
		&extension{name: "state", match: func(family) Match { return &conntrackMatch{alias: true} }, options: []option{
			optNot("state", 1, func(x *conntrackMatch, s *setting) { x.readStates(s, stateNames[:5]) }),
		}, finish: finishing(func(x *conntrackMatch, _ *Rule, _ family) string {
			if !x.hasState {
				return "--state is missing"
			}
			return ""
		})},
	)
}

// stateNames in the order of iptables-save, with the bit of ct state or, from
// index 5 on, of ct status.
var stateNames = []string{"INVALID", "NEW", "RELATED", "ESTABLISHED", "UNTRACKED", "SNAT", "DNAT"}

var stateBits = []uint32{conntrack.StateInvalid, conntrack.StateNew, conntrack.StateRelated, conntrack.StateEstablished, conntrack.StateUntracked, 0, 0}

var statusNames = []string{"NONE", "EXPECTED", "SEEN_REPLY", "ASSURED", "CONFIRMED"}

var statusBits = []uint32{0, conntrack.StatusExpected, conntrack.StatusSeenReply, conntrack.StatusAssured, conntrack.StatusConfirmed}

// conntrackMatch is -m conntrack and its alias -m state. Ref: xt_conntrack.c.
type conntrackMatch struct {
	alias              bool
	states             uint32 // bits by index in stateNames
	hasState, notState bool

	protocol    uint8
	hasProtocol bool
	notProtocol bool

	addresses [4]Network  // original source, destination, reply source, destination
	ports     [4]portTest // likewise
	hasPort   [4]bool

	status               uint32 // bits by index in statusNames
	hasStatus, notStatus bool

	expires               span32
	hasExpires, notExpire bool

	reply, hasDirection bool
}

var connAddressOptions = [4]string{"ctorigsrc", "ctorigdst", "ctreplsrc", "ctrepldst"}

func conntrackOptions() []option {
	list := []option{
		optNot("ctstate", 1, func(x *conntrackMatch, s *setting) { x.readStates(s, stateNames) }),
		optNot("ctproto", 1, func(x *conntrackMatch, s *setting) {
			n, ok := protocolByName(s.word(0))
			if !ok || n == 0 {
				s.fail("there is no such protocol")
			}
			x.protocol, x.hasProtocol, x.notProtocol = n, true, s.not
		}),
		optNot("ctstatus", 1, func(x *conntrackMatch, s *setting) {
			for _, i := range s.list(statusNames, "connection status") {
				x.status |= 1 << i
			}
			x.hasStatus, x.notStatus = true, s.not
		}),
		optNot("ctexpire", 1, func(x *conntrackMatch, s *setting) {
			x.expires, x.hasExpires, x.notExpire = s.numbers(s.word(0), 1<<32-1), true, s.not
		}),
		opt("ctdir", 1, func(x *conntrackMatch, s *setting) {
			x.reply, x.hasDirection = s.choice(s.word(0), []string{"ORIGINAL", "REPLY"}, "direction") == 1, true
		}),
	}
	for i, name := range connAddressOptions {
		list = append(list,
			optNot(name, 1, func(x *conntrackMatch, s *setting) { x.addresses[i] = s.network() }),
			optNot(name+"port", 1, func(x *conntrackMatch, s *setting) {
				x.ports[i], x.hasPort[i] = portTest{s.ports(s.word(0)), s.not}, true
			}))
	}
	return list
}

func (x *conntrackMatch) readStates(s *setting, names []string) {
	for _, i := range s.list(names, "connection state") {
		x.states |= 1 << i
	}
	x.hasState, x.notState = true, s.not
}

func (x *conntrackMatch) uses(*Uses) bool { return true }

func (x *conntrackMatch) Name() string {
	if x.alias {
		return "state"
	}
	return "conntrack"
}

// chosen lists the names whose bits are set.
func chosen(bits uint32, names []string) []string {
	var out []string
	for i, n := range names {
		if bits>>i&1 == 1 {
			out = append(out, n)
		}
	}
	return out
}

func (x *conntrackMatch) appendSave(b []byte) []byte {
	if x.hasState {
		option := "ctstate"
		if x.alias {
			option = "state"
		}
		b = fmt.Appendf(appendNot(b, x.notState), " --%s %s", option, strings.Join(chosen(x.states, stateNames), ","))
	}
	if x.hasProtocol {
		b = fmt.Appendf(appendNot(b, x.notProtocol), " --ctproto %d", x.protocol)
	}
	for i, n := range x.addresses {
		if !n.any() {
			b = fmt.Appendf(appendNot(b, n.Not), " --%s %s", connAddressOptions[i], plainNetwork(n))
		}
	}
	for i, p := range x.ports {
		if x.hasPort[i] {
			b = fmt.Appendf(appendNot(b, p.not), " --%sport %s", connAddressOptions[i], p.text(":"))
		}
	}
	if x.hasStatus {
		b = fmt.Appendf(appendNot(b, x.notStatus), " --ctstatus %s", strings.Join(chosen(x.status, statusNames), ","))
	}
	if x.hasExpires {
		b = fmt.Appendf(appendNot(b, x.notExpire), " --ctexpire %s", x.expires.text(":"))
	}
	if x.hasDirection {
		b = fmt.Appendf(b, " --ctdir %s", strings.ToUpper(x.direction()))
	}
	return b
}

// plainNetwork prints a network, and a single address without length.
func plainNetwork(n Network) string {
	if bits, ok := n.bits(); ok && bits == n.Addr.BitLen() {
		return n.Addr.String()
	}
	return string(appendNetwork(nil, n))
}

func (x *conntrackMatch) direction() string {
	if x.reply {
		return "reply"
	}
	return "original"
}

const statesOnly = 1<<5 - 1 // of stateNames, those that are states

func (x *conntrackMatch) translate(t *translator) bool {
	if x.hasDirection {
		t.addf("ct direction %s", x.direction())
	}
	if x.hasProtocol {
		t.addf("ct original protocol %s%d", t.not(x.notProtocol), x.protocol)
	}
	if x.hasState && !x.translateState(t) {
		return false
	}
	if x.hasStatus {
		x.translateStatus(t)
	}
	if x.hasExpires {
		if t.reference {
			t.addf("ct expiration %s%s", t.not(x.notExpire), x.expires.text("-"))
		} else {
			return t.fail("nft counts the expiration in milliseconds, tables in whole seconds")
		}
	}
	return x.translateTuples(t)
}

func (x *conntrackMatch) translateState(t *translator) bool {
	states := strings.ToLower(strings.Join(chosen(x.states&statesOnly, stateNames), ","))
	snat, dnat := x.states>>5&1 == 1, x.states>>6&1 == 1
	not := ""
	if x.notState {
		not = "! "
		if !t.reference {
			not = "!= "
		}
	}
	switch {
	case t.reference && (snat || dnat):
		what := "snat"
		if !snat {
			what = "dnat"
		}
		t.addf("ct status %s", what)
	case !snat && !dnat && !t.reference && x.notState:
		t.addf("ct state & %s == 0", bitSet(states))
	case !snat && !dnat:
		t.addf("ct state %s%s", not, states)
	default:
		return x.splitState(t, states, strings.ToLower(strings.Join(chosen(x.states&^statesOnly, stateNames), ",")))
	}
	return true
}

// bitSet is a list of names as a value with several bits.
func bitSet(names string) string {
	if !strings.Contains(names, ",") {
		return names
	}
	return "(" + strings.ReplaceAll(names, ",", " | ") + ")"
}

// splitState writes a test of the state together with the status. Packets
// without connection have a state, but nft breaks off a rule that asks for
// their status, so that these need a rule of their own.
func (x *conntrackMatch) splitState(t *translator, states, status string) bool {
	switch {
	case !x.notState && states == "":
		t.addf("ct status %s", status)
		return true
	case !x.notState:
		return t.split("ct state "+states, fmt.Sprintf("ct state & %s == 0 ct status %s", bitSet(states), status))
	}
	tracked := fmt.Sprintf("ct status & %s == 0", bitSet(status))
	if states != "" {
		tracked = fmt.Sprintf("ct state & %s == 0 %s", bitSet(states), tracked)
	}
	const untrackedStates = 1<<0 | 1<<4 // of stateNames
	without := strings.ToLower(strings.Join(chosen(untrackedStates&^x.states, stateNames), ","))
	if without == "" {
		t.add(tracked)
		return true
	}
	return t.split("ct state "+without, tracked)
}

func (x *conntrackMatch) translateStatus(t *translator) {
	names := strings.ToLower(strings.ReplaceAll(strings.Join(chosen(x.status&^1, statusNames), ","), "_", "-"))
	switch {
	case !t.reference && names == "":
		if x.notStatus {
			return
		}
		t.add("ct status & 0x0 != 0x0")
	case !t.reference && x.notStatus:
		t.addf("ct status & %s == 0", bitSet(names))
	case x.notStatus:
		t.addf("ct status ! %s", names)
	case names == "":
		t.add("ct status")
	default:
		t.addf("ct status %s", names)
	}
}

var connKeys = [4]string{"ct original %ssaddr", "ct original %sdaddr", "ct reply %ssaddr", "ct reply %sdaddr"}
var connPortKeys = [4]string{"ct original proto-src", "ct original proto-dst", "ct reply proto-src", "ct reply proto-dst"}

func (x *conntrackMatch) translateTuples(t *translator) bool {
	for i, n := range x.addresses {
		if n.any() {
			continue
		}
		if _, ok := n.bits(); !ok {
			return t.fail("the mask of --%s has gaps", connAddressOptions[i])
		}
		header := ""
		if !t.reference {
			header = t.ip() + " "
		}
		t.addf("%s %s%s", fmt.Sprintf(connKeys[i], header), t.not(n.Not), plainNetwork(n))
	}
	for i, p := range x.ports {
		if !x.hasPort[i] {
			continue
		}
		if !t.reference && !x.hasProtocol {
			return t.fail("nft asks for the ports of a connection only together with --ctproto")
		}
		t.addf("%s %s%s", connPortKeys[i], t.not(p.not), p.text("-"))
	}
	return true
}

func (x *conntrackMatch) matches(m *Machine) result {
	a := m.pkt.CT
	if a.Unknown() {
		return resultCut
	}
	c := a.Conn
	if x.hasState && x.stateHolds(a) == x.notState {
		return resultFalse
	}
	if c == nil {
		return truth(x.hasState)
	}
	if x.hasDirection && (a.Info.Direction() == conntrack.Reply) != x.reply {
		return resultFalse
	}
	if x.hasProtocol && (c.Protocol() == x.protocol) == x.notProtocol {
		return resultFalse
	}
	if !x.tuplesHold(c) {
		return resultFalse
	}
	if x.hasStatus && x.statusHolds(c) == x.notStatus {
		return resultFalse
	}
	if x.hasExpires {
		return truth(x.expires.holds(x.remaining(m, c)) != x.notExpire)
	}
	return resultTrue
}

func (x *conntrackMatch) stateHolds(a *conntrack.Attachment) bool {
	state := a.State()
	for i, bit := range stateBits {
		if bit != 0 && x.states>>i&1 == 1 && state == bit {
			return true
		}
	}
	if a.Conn == nil {
		return false
	}
	return x.states>>5&1 == 1 && a.Conn.Status&conntrack.StatusSrcNAT != 0 || x.states>>6&1 == 1 && a.Conn.Status&conntrack.StatusDstNAT != 0
}

func (x *conntrackMatch) statusHolds(c *conntrack.Conn) bool {
	for i, bit := range statusBits {
		if x.status>>i&1 == 1 && c.Status&bit != 0 {
			return true
		}
	}
	return false
}

// remaining is the time that the connection has left, in whole seconds. One
// that is not confirmed has no timer.
func (x *conntrackMatch) remaining(m *Machine, c *conntrack.Conn) uint32 {
	if !c.Confirmed() {
		return 0
	}
	return uint32(c.Remaining(m.Now) / 1e9)
}

func (x *conntrackMatch) tuplesHold(c *conntrack.Conn) bool {
	for i := range x.addresses {
		n := &x.addresses[i]
		tuple := &c.Tuples[i/2]
		raw, port := &tuple.Src, tuple.SrcPort
		if i&1 == 1 {
			raw, port = &tuple.Dst, tuple.DstPort
		}
		if n.Mask.IsValid() && n.holds(raw) == n.Not {
			return false
		}
		if x.hasPort[i] && !x.ports[i].matches(uint32(port)) {
			return false
		}
	}
	return true
}

// holds compares the bytes of an address, of which those of the network's
// family count.
func (n *Network) holds(raw *[16]byte) bool {
	if n.Addr.Is4() {
		a, m := n.Addr.As4(), n.Mask.As4()
		return (binary.LittleEndian.Uint32(raw[:])^binary.LittleEndian.Uint32(a[:]))&binary.LittleEndian.Uint32(m[:]) == 0
	}
	a, m := n.Addr.As16(), n.Mask.As16()
	for i := range raw {
		if (raw[i]^a[i])&m[i] != 0 {
			return false
		}
	}
	return true
}

// addrBytes are an address's bytes, those of IPv4 first.
func addrBytes(a netip.Addr) (raw [16]byte) {
	if a.Is4() {
		four := a.As4()
		copy(raw[:], four[:])
		return raw
	}
	return a.As16()
}
