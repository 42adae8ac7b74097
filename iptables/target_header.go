package iptables

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"verdict/catalog"
	"verdict/host"
	"verdict/packet"
	"verdict/packet/rewrite"
)

func init() {
	mangle := []string{"mangle"}
	registerTarget(
		&extension{name: "TOS", target: madeTarget[tosTarget](), tables: mangle, options: []option{
			opt("set-tos", 1, func(x *tosTarget, s *setting) { x.tos, x.given = s.tos(), true }),
			opt("set-xtos", 1, func(x *tosTarget, s *setting) { x.tos, x.given = s.masked(255), true }),
			opt("and-tos", 1, func(x *tosTarget, s *setting) { x.tos, x.given = masked{0, uint32(^uint8(s.uint(255)))}, true }),
			opt("or-tos", 1, func(x *tosTarget, s *setting) {
				v := uint32(s.uint(255))
				x.tos, x.given = masked{v, v}, true
			}),
			opt("xor-tos", 1, func(x *tosTarget, s *setting) { x.tos, x.given = masked{uint32(s.uint(255)), 0}, true }),
		}, finish: finishing(func(x *tosTarget, _ *Rule, _ family) string { return needed(x.given, "--set-tos") })},
		&extension{name: "DSCP", target: madeTarget[dscpTarget](), tables: mangle, options: []option{
			opt("set-dscp", 1, func(x *dscpTarget, s *setting) { x.value, x.given = uint8(s.uint(63)), true }),
			opt("set-dscp-class", 1, func(x *dscpTarget, s *setting) { x.value, x.given = s.dscpClass(), true }),
		}, finish: finishing(func(x *dscpTarget, _ *Rule, _ family) string { return needed(x.given, "--set-dscp") })},
		&extension{name: "TTL", family: catalog.FamilyIP, target: func(family) Target { return &ttlTarget{name: "TTL"} }, tables: mangle, options: ttlTargetOptions("ttl"), finish: ttlTargetGiven},
		&extension{name: "HL", family: catalog.FamilyIP6, target: func(family) Target { return &ttlTarget{name: "HL"} }, tables: mangle, options: ttlTargetOptions("hl"), finish: ttlTargetGiven},
		&extension{name: "TPROXY", target: func(f family) Target { return &tproxyTarget{address: zeroAddr(f)} }, tables: mangle, hooks: atPrerouting, options: []option{
			opt("on-port", 1, func(x *tproxyTarget, s *setting) { x.port, x.given = s.port(s.word(0)), true }),
			opt("on-ip", 1, func(x *tproxyTarget, s *setting) { x.address = s.address(s.word(0)) }),
			opt("tproxy-mark", 1, func(x *tproxyTarget, s *setting) { x.mark = s.masked(fullMark) }),
		}, protocol: []uint8{packet.ProtoTCP, packet.ProtoUDP}, finish: finishing(func(x *tproxyTarget, _ *Rule, _ family) string { return needed(x.given, "--on-port") })},
		&extension{name: "CHECKSUM", target: madeTarget[checksumTarget](), tables: mangle, options: []option{
			opt("checksum-fill", 0, func(x *checksumTarget, s *setting) { x.given = true }),
		}, finish: finishing(func(x *checksumTarget, _ *Rule, _ family) string { return needed(x.given, "--checksum-fill") })},
	)
}

// setTOS writes the type of service or traffic class.
func (m *Machine) setTOS(tos uint8) {
	if tos == m.tosByte() || m.pkt.Rewriter == nil {
		return
	}
	v := m.pkt.View
	if six(m.pkt.Family) {
		h := m.network()
		value := [2]byte{h[0]&0xf0 | tos>>4, h[1]&0x0f | tos<<4}
		m.pkt.Rewriter.Payload(v, packet.BaseNetwork, 0, value[:], rewrite.Checksum{})
		return
	}
	m.writeIPv4(1, tos)
}

// writeIPv4 writes a byte of the IPv4 header and corrects its checksum.
func (m *Machine) writeIPv4(at int, value uint8) {
	b := [1]byte{value}
	m.pkt.Rewriter.Payload(m.pkt.View, packet.BaseNetwork, at, b[:], rewrite.Checksum{Inet: true, Offset: 10})
}

// tosTarget is -j TOS. Ref: xt_DSCP.c, tos_tg.
type tosTarget struct {
	tos   masked
	given bool
}

func (x *tosTarget) Name() string { return "TOS" }

func (x *tosTarget) appendSave(b []byte) []byte {
	return fmt.Appendf(b, " --set-tos 0x%02x/0x%02x", x.tos.value, x.tos.mask)
}

// translate gives the DSCP bits, which is what nft can name; the reference
// leaves the ECN bits out and always writes ip6.
func (x *tosTarget) translate(t *translator) bool {
	header := "ip6"
	value, mask := x.tos.value>>2, x.tos.mask>>2
	if !t.reference {
		header = t.ip()
		if x.tos.value&3 != 0 || x.tos.mask&3 != 0 && x.tos.mask&3 != 3 || x.tos.mask&3 == 3 {
			return t.fail("nft sets the ECN bits not together with the DSCP")
		}
		if mask != 0x3f {
			return t.fail("nft sets the whole DSCP")
		}
	}
	key := header + " dscp"
	switch {
	case mask == 0x3f, mask == 0x0f:
		t.addf("%s set 0x%02x", key, value)
	case value == 0:
		t.addf("%s set %s and 0x%02x", key, key, ^mask&0x3f)
	case value == mask:
		t.addf("%s set %s or 0x%02x", key, key, value)
	case mask == 0:
		t.addf("%s set %s xor 0x%02x", key, key, value)
	default:
		t.addf("%s set %s and 0x%02x xor 0x%02x", key, key, ^mask&0x3f, value)
	}
	return true
}

func (x *tosTarget) apply(m *Machine) action {
	m.setTOS(uint8(uint32(m.tosByte())&^x.tos.mask ^ x.tos.value))
	return actContinue
}

// dscpTarget is -j DSCP. Ref: xt_DSCP.c.
type dscpTarget struct {
	value uint8
	given bool
}

func (x *dscpTarget) Name() string { return "DSCP" }

func (x *dscpTarget) appendSave(b []byte) []byte {
	return fmt.Appendf(b, " --set-dscp 0x%02x", x.value)
}

func (x *dscpTarget) translate(t *translator) bool {
	t.addf("%s dscp set 0x%02x", t.ip(), x.value)
	return true
}

func (x *dscpTarget) apply(m *Machine) action {
	m.setTOS(m.tosByte()&3 | x.value<<2)
	return actContinue
}

// ttlTarget is -j TTL and -j HL. Ref: xt_HL.c.
type ttlTarget struct {
	name  string
	how   string // set, inc, dec
	value uint8
}

func ttlTargetOptions(name string) []option {
	set := func(how string) func(*ttlTarget, *setting) {
		return func(x *ttlTarget, s *setting) {
			if x.how != "" {
				s.fail("one change is possible")
			}
			x.how, x.value = how, uint8(s.uint(255))
		}
	}
	return []option{opt(name+"-set", 1, set("set")), opt(name+"-inc", 1, set("inc")), opt(name+"-dec", 1, set("dec"))}
}

var ttlTargetGiven = finishing(func(x *ttlTarget, _ *Rule, _ family) string {
	if x.how != "set" && x.how != "" && x.value == 0 {
		return "a change by 0 changes nothing"
	}
	return needed(x.how != "", "a change")
})

func (x *ttlTarget) uses(u *Uses) bool {
	u.TTL = true
	return false
}

func (x *ttlTarget) Name() string { return x.name }

func (x *ttlTarget) appendSave(b []byte) []byte {
	return fmt.Appendf(b, " --%s-%s %d", strings.ToLower(x.name), x.how, x.value)
}

func (x *ttlTarget) translate(t *translator) bool {
	switch {
	case t.reference || x.how != "set":
		return t.fail("nft sets the time to live, but does not add to it")
	case x.name == "HL":
		t.addf("ip6 hoplimit set %d", x.value)
	default:
		t.addf("ip ttl set %d", x.value)
	}
	return true
}

func (x *ttlTarget) apply(m *Machine) action {
	old := int(m.ttl())
	ttl := int(x.value)
	switch x.how {
	case "inc":
		ttl = min(old+ttl, 255)
	case "dec":
		ttl = max(old-ttl, 0)
	}
	switch {
	case ttl == old || m.pkt.Rewriter == nil:
	case six(m.pkt.Family):
		b := [1]byte{uint8(ttl)}
		m.pkt.Rewriter.Payload(m.pkt.View, packet.BaseNetwork, 7, b[:], rewrite.Checksum{})
	default:
		m.writeIPv4(8, uint8(ttl))
	}
	return actContinue
}

// tproxyTarget is -j TPROXY. No socket is known, so that the packet is dropped
// as by a host where nothing listens. Ref: xt_TPROXY.c.
type tproxyTarget struct {
	port    uint16
	address netip.Addr
	mark    masked
	given   bool
}

func (x *tproxyTarget) uses(u *Uses) bool {
	u.Sockets = true
	return false
}

func (x *tproxyTarget) Name() string { return "TPROXY" }

func (x *tproxyTarget) appendSave(b []byte) []byte {
	return fmt.Appendf(b, " --on-port %d --on-ip %s --tproxy-mark 0x%x/0x%x", x.port, x.address, x.mark.value, x.mark.mask)
}

func (x *tproxyTarget) translate(t *translator) bool {
	return t.fail("tproxy of nft goes on where no socket is found, the table drops")
}

func (x *tproxyTarget) apply(*Machine) action { return actDrop }

// checksumTarget is -j CHECKSUM: packets here have their checksums already.
// Ref: xt_CHECKSUM.c.
type checksumTarget struct{ given bool }

func (x *checksumTarget) Name() string { return "CHECKSUM" }

func (x *checksumTarget) appendSave(b []byte) []byte { return append(b, " --checksum-fill"...) }

func (x *checksumTarget) translate(t *translator) bool {
	return t.fail("nft has no statement that fills in checksums")
}

func (x *checksumTarget) apply(*Machine) action { return actContinue }

func init() {
	registerTarget(
		&extension{name: "TCPMSS", target: madeTarget[tcpmssTarget](), protocol: []uint8{packet.ProtoTCP}, options: []option{
			opt("set-mss", 1, func(x *tcpmssTarget, s *setting) { x.size = uint16(s.uint(65495)) }),
			opt("clamp-mss-to-pmtu", 0, func(x *tcpmssTarget, s *setting) { x.clamp = true }),
		}, finish: finishing(func(x *tcpmssTarget, r *Rule, _ family) string {
			switch {
			case x.clamp == (x.size != 0):
				return "one of --set-mss and --clamp-mss-to-pmtu is needed"
			case !asksSYN(r):
				return "the rule must ask for SYN packets: --tcp-flags SYN,RST SYN"
			}
			return ""
		})},
		&extension{name: "TCPOPTSTRIP", target: madeTarget[optstripTarget](), protocol: []uint8{packet.ProtoTCP}, tables: []string{"mangle"}, options: []option{
			opt("strip-options", 1, (*optstripTarget).read),
		}, finish: finishing(func(x *optstripTarget, _ *Rule, _ family) string { return needed(x.any, "--strip-options") })},
		&extension{name: "ECN", family: catalog.FamilyIP, target: madeTarget[ecnTarget](), protocol: []uint8{packet.ProtoTCP}, tables: []string{"mangle"}, options: []option{
			opt("ecn-tcp-remove", 0, func(x *ecnTarget, s *setting) { x.remove = true }),
		}, finish: finishing(func(x *ecnTarget, _ *Rule, _ family) string { return needed(x.remove, "--ecn-tcp-remove") })},
	)
}

// asksSYN reports whether a rule has a test of the SYN flag.
func asksSYN(r *Rule) bool {
	for _, m := range r.Matches {
		if t, ok := m.(*tcpMatch); ok && t.hasFlags && !t.notFlags && t.mask&t.flags&2 != 0 {
			return true
		}
	}
	return false
}

// tcpmssTarget is -j TCPMSS. Ref: xt_TCPMSS.c.
type tcpmssTarget struct {
	size  uint16
	clamp bool
}

func (x *tcpmssTarget) uses(u *Uses) bool {
	u.Routes = u.Routes || x.clamp
	return false
}

func (x *tcpmssTarget) Name() string { return "TCPMSS" }

func (x *tcpmssTarget) appendSave(b []byte) []byte {
	if x.clamp {
		return append(b, " --clamp-mss-to-pmtu"...)
	}
	return strconv.AppendUint(append(b, " --set-mss "...), uint64(x.size), 10)
}

func (x *tcpmssTarget) translate(t *translator) bool {
	if x.clamp {
		t.add("tcp option maxseg size set rt mtu")
	} else {
		t.addf("tcp option maxseg size set %d", x.size)
	}
	return true
}

// apply lowers the option's value. A missing option would be inserted by the
// kernel into packets without payload, which makes the packet longer.
func (x *tcpmssTarget) apply(m *Machine) action {
	if m.fragment || m.pkt.Rewriter == nil {
		return actContinue
	}
	h, is := m.transport(20, 20)
	if is != resultTrue {
		return broken(is)
	}
	size := int(h[12]>>4) * 4
	if size < 20 || m.thoff+size > m.pkt.View.End {
		return actDrop
	}
	if h, is = m.transport(size, size); is != resultTrue {
		return broken(is)
	}
	want, ok := x.wanted(m)
	if !ok {
		return actDrop
	}
	for i := 20; i+4 <= size; {
		if h[i] == 2 && h[i+1] == 4 {
			if old := int(h[i+2])<<8 | int(h[i+3]); old > want {
				m.pkt.Rewriter.TCPBytes(m.pkt.View, m.thoff+i+2, []byte{byte(want >> 8), byte(want)})
			}
			return actContinue
		}
		if h[i] < 2 {
			i++
			continue
		}
		i += max(int(h[i+1]), 1)
	}
	if m.pkt.View.End > m.thoff+size || size >= 60 {
		return actContinue
	}
	return x.insert(m, want, size)
}

// broken says what becomes of a packet that a target cannot read.
func broken(is result) action {
	if is == resultCut {
		return actCut
	}
	return actDrop
}

// wanted is the segment size to set: that of the rule, or what fits into the
// smaller of the routes both ways.
func (x *tcpmssTarget) wanted(m *Machine) (int, bool) {
	if !x.clamp {
		return int(x.size), true
	}
	headers := 40
	if six(m.pkt.Family) {
		headers = 60
	}
	mtu := min(m.mtu(m.pkt.View.SrcAddr()), m.mtu(m.pkt.View.DstAddr()))
	return mtu - headers, mtu > headers
}

// mtu is the largest packet that the route to an address takes; where no route
// is known it does not limit.
func (m *Machine) mtu(a netip.Addr) int {
	const largest = 65535
	route, ok := m.Host.Route(a)
	if !ok || route.Type != host.RouteUnicast {
		return largest
	}
	i, ok := m.Host.ByIndex(route.Interface)
	if !ok || i.MTU == 0 {
		return largest
	}
	return min(i.MTU, largest)
}

// insert adds the option at the front of the others.
func (x *tcpmssTarget) insert(m *Machine, want, size int) action {
	v := m.pkt.View
	if v.End > len(v.Data) {
		return actCut
	}
	most := 536
	if six(m.pkt.Family) {
		most = 1220
	}
	want = min(want, most)
	frame := make([]byte, 0, len(v.Data)+4)
	frame = append(frame, v.Data[:m.thoff+20]...)
	frame = append(frame, 2, 4, byte(want>>8), byte(want))
	frame = append(frame, v.Data[m.thoff+20:]...)
	frame[m.thoff+12] = byte(size/4+1)<<4 | frame[m.thoff+12]&15
	at, lengthAt := v.NetOff, 2
	if six(m.pkt.Family) {
		lengthAt = 4
	}
	length := (int(frame[at+lengthAt])<<8 | int(frame[at+lengthAt+1])) + 4
	frame[at+lengthAt], frame[at+lengthAt+1] = byte(length>>8), byte(length)
	if !six(m.pkt.Family) {
		frame[at+10], frame[at+11] = 0, 0
		sum := packet.IPv4HeaderChecksum(frame[at:m.thoff])
		frame[at+10], frame[at+11] = byte(sum>>8), byte(sum)
	}
	m.pkt.Rewriter.Set(v, frame, at, v.OrigLen+4)
	if sum, result := v.ComputeTransport(); result == packet.OK {
		data := m.pkt.Rewriter.Writable(v)
		data[m.thoff+16], data[m.thoff+17] = byte(sum>>8), byte(sum)
	}
	return actContinue
}

// tcpOptionNames are the names of options that TCPOPTSTRIP takes.
var tcpOptionNames = map[string]uint8{"wscale": 3, "mss": 2, "sack-permitted": 4, "sack": 5, "timestamp": 8, "md5": 19}

// optstripTarget is -j TCPOPTSTRIP. Ref: xt_TCPOPTSTRIP.c.
type optstripTarget struct {
	strip [256]bool
	any   bool
}

func (x *optstripTarget) read(s *setting) {
	for _, part := range strings.Split(s.word(0), ",") {
		n, ok := tcpOptionNames[part]
		if !ok {
			n = uint8(s.number(part, 255))
		}
		x.strip[n], x.any = true, true
	}
}

func (x *optstripTarget) Name() string { return "TCPOPTSTRIP" }

func (x *optstripTarget) appendSave(b []byte) []byte {
	b = append(b, " --strip-options "...)
	first := true
	for n, strip := range x.strip {
		if !strip {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		b, first = strconv.AppendInt(b, int64(n), 10), false
	}
	return b
}

func (x *optstripTarget) translate(t *translator) bool {
	if t.reference {
		return false
	}
	for n, strip := range x.strip {
		if strip {
			t.addf("reset tcp option %d", n)
		}
	}
	return true
}

func (x *optstripTarget) apply(m *Machine) action {
	if m.fragment || m.pkt.Rewriter == nil {
		return actContinue
	}
	h, is := m.transport(20, 13)
	if is != resultTrue {
		return broken(is)
	}
	size := int(h[12]>>4) * 4
	if size < 20 || m.thoff+size > m.pkt.View.End {
		return actDrop
	}
	if _, is = m.transport(size, size); is != resultTrue {
		return broken(is)
	}
	for i := 20; i < size-1; {
		h := m.pkt.View.Packet()[m.thoff:]
		n := 1
		if h[i] > 1 {
			n = max(int(h[i+1]), 1)
		}
		if i+n > size {
			break
		}
		if x.strip[h[i]] {
			m.pkt.Rewriter.TCPBytes(m.pkt.View, m.thoff+i, noOperations[:n])
		}
		i += n
	}
	return actContinue
}

// noOperations is padding of TCP options.
var noOperations = func() (b [40]byte) {
	for i := range b {
		b[i] = packet.OptionNOP
	}
	return b
}()

// ecnTarget is -j ECN: it takes the ECN bits out of the TCP header.
// Ref: ipt_ECN.c.
type ecnTarget struct{ remove bool }

func (x *ecnTarget) Name() string { return "ECN" }

func (x *ecnTarget) appendSave(b []byte) []byte { return append(b, " --ecn-tcp-remove"...) }

func (x *ecnTarget) translate(t *translator) bool {
	if t.reference {
		return false
	}
	return t.fail("nft sets TCP flags only as a whole")
}

func (x *ecnTarget) apply(m *Machine) action {
	if m.fragment || m.pkt.Rewriter == nil {
		return actContinue
	}
	h, is := m.transport(20, 20)
	if is != resultTrue {
		return broken(is)
	}
	if flags := h[13] &^ 0xc0; flags != h[13] {
		m.pkt.Rewriter.TCPBytes(m.pkt.View, m.thoff+13, []byte{flags})
	}
	return actContinue
}
