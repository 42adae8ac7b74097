package iptables

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"

	"verdict/catalog"
	"verdict/packet"
)

func init() {
	registerMatch(&extension{name: "hashlimit", match: func(f family) Match {
		full := uint8(zeroAddr(f).BitLen())
		return &hashlimitMatch{family: f, sourceMask: full, destMask: full, burst: defaultBurst}
	}, options: []option{
		opt("hashlimit-upto hashlimit", 1, func(x *hashlimitMatch, s *setting) { x.readRate(s, false) }),
		opt("hashlimit-above", 1, func(x *hashlimitMatch, s *setting) { x.readRate(s, true) }),
		opt("hashlimit-burst", 1, (*hashlimitMatch).readBurst),
		opt("hashlimit-mode", 1, func(x *hashlimitMatch, s *setting) {
			for _, i := range s.list(hashlimitModes, "mode") {
				x.mode |= 1 << i
			}
		}),
		opt("hashlimit-name", 1, func(x *hashlimitMatch, s *setting) {
			if x.name = s.word(0); len(x.name) > 255 || x.name == "" {
				s.fail("the name has 1 to 255 bytes")
			}
		}),
		opt("hashlimit-srcmask", 1, func(x *hashlimitMatch, s *setting) { x.sourceMask = uint8(s.uint(uint64(zeroAddr(x.family).BitLen()))) }),
		opt("hashlimit-dstmask", 1, func(x *hashlimitMatch, s *setting) { x.destMask = uint8(s.uint(uint64(zeroAddr(x.family).BitLen()))) }),
		opt("hashlimit-htable-size", 1, func(x *hashlimitMatch, s *setting) { x.size = uint32(s.uint(1<<32 - 1)) }),
		opt("hashlimit-htable-max", 1, func(x *hashlimitMatch, s *setting) { x.max = uint32(s.uint(1<<32 - 1)) }),
		opt("hashlimit-htable-expire", 1, func(x *hashlimitMatch, s *setting) { x.expire = uint32(s.uint(1<<32 - 1)) }),
		opt("hashlimit-htable-gcinterval", 1, func(x *hashlimitMatch, s *setting) { x.collect = uint32(s.uint(1<<32 - 1)) }),
	}, finish: finishing(func(x *hashlimitMatch, _ *Rule, _ family) string {
		switch {
		case x.rate == "":
			return "--hashlimit-upto or --hashlimit-above is missing"
		case x.name == "":
			return "--hashlimit-name is missing"
		case x.inBytes && x.burstBytes != 0 && x.burstBytes < x.perSecond():
			return "the burst is smaller than the rate"
		case !x.inBytes && x.burstBytes != 0:
			return "a burst in bytes needs a rate in bytes"
		}
		return ""
	})})
}

var hashlimitModes = []string{"dstip", "dstport", "srcip", "srcport"}

const (
	byDestination = 1 << iota
	byDestPort
	bySource
	bySourcePort
)

// hashScale is the unit of periods: a second has so many.
const hashScale = 1000000

// hashlimitMatch is -m hashlimit. Ref: xt_hashlimit.c, libxt_hashlimit.c.
type hashlimitMatch struct {
	family               family
	rate                 string
	above, inBytes       bool
	avg                  uint64 // packets: period in 1/hashScale s; bytes: 2^32-1 divided by chunks per second
	burst                uint32 // packets
	burstBytes           uint64 // 0: none
	mode                 uint8
	name                 string
	sourceMask, destMask uint8
	size, max            uint32
	expire, collect      uint32 // milliseconds, 0: default
}

// Bytes are counted in chunks.
const chunk = 16

// perSecond is the rate in bytes.
func (x *hashlimitMatch) perSecond() uint64 { return (0xffffffff/x.avg - 1) * chunk }

// readBytes reads a size: a number and b, kb or mb.
func readBytes(text string) (uint64, bool) {
	text = strings.TrimSuffix(strings.ToLower(text), "/s")
	scale := uint64(1)
	switch {
	case strings.HasSuffix(text, "kb"):
		text, scale = text[:len(text)-2], 1024
	case strings.HasSuffix(text, "mb"):
		text, scale = text[:len(text)-2], 1024*1024
	case strings.HasSuffix(text, "b"):
		text = text[:len(text)-1]
	default:
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 40)
	return n * scale, err == nil
}

func (x *hashlimitMatch) readRate(s *setting, above bool) {
	x.rate, x.above = s.word(0), above
	if n, ok := readBytes(x.rate); ok {
		if n < chunk || n/chunk+1 > 0xffffffff {
			s.fail("the rate %s cannot be counted", x.rate).Hint = fmt.Sprintf("the least is %db/s", chunk)
			return
		}
		x.inBytes, x.avg = true, 0xffffffff/(n/chunk+1)
		return
	}
	number, seconds, ok := readUnit(x.rate)
	n, err := strconv.ParseUint(number, 10, 32)
	switch {
	case !ok || err != nil || n == 0:
		s.fail("bad rate %q", x.rate).Hint = "write packets as 10/minute, bytes as 20kb/s"
	case n > hashScale*uint64(seconds):
		s.fail("the rate %s is too fast", x.rate)
	default:
		x.avg = hashScale * uint64(seconds) / n
	}
}

func (x *hashlimitMatch) readBurst(s *setting) {
	if n, ok := readBytes(s.word(0)); ok {
		x.burstBytes = n
		return
	}
	x.burst = uint32(s.uint(1000000))
}

func (x *hashlimitMatch) Name() string { return "hashlimit" }

// burstText prints a number of bytes in the largest unit, rounded down.
func burstText(n uint64, b, k, m string) string {
	switch {
	case n >= 1024*1024:
		return fmt.Sprintf("%d%s", n/1024/1024, m)
	case n >= 1024:
		return fmt.Sprintf("%d%s", n/1024, k)
	}
	return fmt.Sprintf("%d%s", n, b)
}

// bytesText prints a number of bytes in the largest unit that divides it.
func bytesText(n uint64, b, k, m string) string {
	switch {
	case n >= 1024*1024 && n%(1024*1024) == 0:
		return fmt.Sprintf("%d%s", n/1024/1024, m)
	case n >= 1024 && n%1024 == 0:
		return fmt.Sprintf("%d%s", n/1024, k)
	}
	return fmt.Sprintf("%d%s", n, b)
}

func (x *hashlimitMatch) appendSave(b []byte) []byte {
	option := "upto"
	if x.above {
		option = "above"
	}
	if x.inBytes {
		b = fmt.Appendf(b, " --hashlimit-%s %s/s", option, bytesText(x.perSecond(), "b", "kb", "mb"))
		if x.burstBytes != 0 {
			b = fmt.Appendf(b, " --hashlimit-burst %s", burstText(x.refills()*x.perSecond(), "b", "kb", "mb"))
		}
	} else {
		b = fmt.Appendf(b, " --hashlimit-%s %s --hashlimit-burst %d", option, rateText(x.avg, hashScale, false), x.burst)
	}
	if x.mode != 0 {
		b = fmt.Appendf(b, " --hashlimit-mode %s", strings.Join(x.modes(), ","))
	}
	b = fmt.Appendf(b, " --hashlimit-name %s", word(x.name))
	for _, o := range []struct {
		name  string
		value uint32
	}{{"size", x.size}, {"max", x.max}, {"gcinterval", x.collect}, {"expire", x.expire}} {
		if o.value != 0 {
			b = fmt.Appendf(b, " --hashlimit-htable-%s %d", o.name, o.value)
		}
	}
	full := uint8(zeroAddr(x.family).BitLen())
	if x.sourceMask != full {
		b = fmt.Appendf(b, " --hashlimit-srcmask %d", x.sourceMask)
	}
	if x.destMask != full {
		b = fmt.Appendf(b, " --hashlimit-dstmask %d", x.destMask)
	}
	return b
}

// modes in the order of iptables-save.
func (x *hashlimitMatch) modes() []string {
	var list []string
	for _, o := range []struct {
		bit  uint8
		name string
	}{{bySource, "srcip"}, {bySourcePort, "srcport"}, {byDestination, "dstip"}, {byDestPort, "dstport"}} {
		if x.mode&o.bit != 0 {
			list = append(list, o.name)
		}
	}
	return list
}

// refills is how often the credit may be filled at once: the burst in seconds
// of the rate, rounded up.
func (x *hashlimitMatch) refills() uint64 {
	if x.burstBytes == 0 {
		return 0
	}
	return (x.burstBytes + x.perSecond() - 1) / x.perSecond()
}

// lifetime is after how long an entry that no packet refreshes is removed, in
// milliseconds. Ref: libxt_hashlimit.c.
func (x *hashlimitMatch) lifetime() uint64 {
	switch {
	case x.expire != 0:
		return uint64(x.expire)
	case x.inBytes && x.burstBytes != 0:
		return 60000
	case x.inBytes:
		return 15000
	}
	for _, u := range units {
		if strings.HasSuffix(rateText(x.avg, hashScale, false), "/"+u.name) {
			return uint64(u.seconds) * 1000
		}
	}
	return 1000
}

func (x *hashlimitMatch) translate(t *translator) bool {
	if x.mode == 0 {
		return t.fail("a meter of nft needs a key")
	}
	protocol := protocolName(t.rule.Header.Protocol)
	if t.rule.Header.Protocol == 0 {
		protocol = "tcp" // as the reference assumes
		if x.mode&(byDestPort|bySourcePort) != 0 && !t.reference {
			return t.fail("ports of a rule without protocol")
		}
	}
	var keys []string
	for bit, key := range []string{x.key(t, "daddr", x.destMask), protocol + " dport", x.key(t, "saddr", x.sourceMask), protocol + " sport"} {
		if x.mode&(1<<bit) != 0 {
			keys = append(keys, key)
		}
	}
	text := strings.Join(keys, " . ")
	if n := x.lifetime(); n != 1000 {
		text += fmt.Sprintf(" timeout %ds", n/1000)
	}
	text += " limit rate "
	if x.above {
		text += "over "
	}
	if x.inBytes {
		text += bytesText(x.perSecond(), " bytes", " kbytes", " mbytes") + "/second"
		if x.burstBytes != 0 {
			text += " burst " + burstText(x.refills()*x.perSecond(), " bytes", " kbytes", " mbytes")
		}
	} else {
		text += rateText(x.avg, hashScale, true)
		if x.burst != defaultBurst || !t.reference {
			text += fmt.Sprintf(" burst %d packets", x.burst)
		}
	}
	t.addf("meter %s { %s }", x.name, text)
	return true
}

// key is an address with its mask; the reference writes masks of IPv6 in full.
func (x *hashlimitMatch) key(t *translator, field string, length uint8) string {
	text := t.ip() + " " + field
	if int(length) == zeroAddr(x.family).BitLen() {
		return text
	}
	mask := lengthMask(x.family, int(length))
	return text + " and " + mask.StringExpanded()
}

func (x *hashlimitMatch) uses(*Uses) bool { return false }

// hashTable is shared by all rules that give the same name; what the first of
// them says holds for all.
type hashTable struct {
	by      *hashlimitMatch
	entries map[hashKey]*hashEntry
	max     int
	swept   int64
}

type hashKey struct {
	source, destination netip.Addr
	ports               [4]byte
}

type hashEntry struct {
	expires int64 // nanoseconds
	tick    int64
	credit  uint64
	refills uint64
}

func (x *hashlimitMatch) newState(m *Machine) any {
	name := fmt.Sprintf("hashlimit %d %s", x.family, x.name)
	if t, ok := m.shared[name].(*hashTable); ok {
		return t
	}
	size := int(x.size)
	if size == 0 {
		size = 8192 // of a machine with more than 1 GiB of memory
	}
	t := &hashTable{by: x, entries: map[hashKey]*hashEntry{}, max: int(x.max)}
	if t.max == 0 {
		t.max = 8 * max(size, 16)
	}
	m.shared[name] = t
	return t
}

func (x *hashlimitMatch) matches(m *Machine) result {
	t := m.own().(*hashTable)
	key, is := t.by.find(m)
	if is != resultTrue {
		return is
	}
	t.sweep(m.Now)
	e, ok := t.entries[key]
	tick := m.Now / jiffy
	if ok && m.Now >= e.expires {
		delete(t.entries, key)
		ok = false
	}
	if !ok {
		if len(t.entries) >= t.max {
			return resultDrop
		}
		e = &hashEntry{tick: tick, credit: t.by.full(), refills: t.by.refills()}
		t.entries[key] = e
	}
	e.expires = m.Now + int64(t.by.lifetime())*1e6
	e.credit = min(e.credit+uint64(tick-e.tick)*t.by.perTick(), t.by.full())
	e.tick = tick
	return truth(t.by.spend(e, m.pkt.Length) != x.above)
}

// sweep removes expired entries once a second.
func (t *hashTable) sweep(now int64) {
	if now-t.swept < 1e9 {
		return
	}
	t.swept = now
	for key, e := range t.entries {
		if now >= e.expires {
			delete(t.entries, key)
		}
	}
}

// find makes a packet's key.
func (x *hashlimitMatch) find(m *Machine) (hashKey, result) {
	var key hashKey
	if x.mode&bySource != 0 {
		key.source = maskAddr(m.pkt.View.SrcAddr(), lengthMask(x.family, int(x.sourceMask)))
	}
	if x.mode&byDestination != 0 {
		key.destination = maskAddr(m.pkt.View.DstAddr(), lengthMask(x.family, int(x.destMask)))
	}
	if x.mode&(bySourcePort|byDestPort) == 0 {
		return key, resultTrue
	}
	switch m.fields.protocol {
	case packet.ProtoTCP, packet.ProtoUDP, packet.ProtoUDPLite, packet.ProtoSCTP, packet.ProtoDCCP:
	default:
		return key, resultTrue
	}
	h, is := m.transport(4, 4)
	switch {
	case is == resultFalse:
		return key, resultDrop
	case is != resultTrue:
		return key, is
	}
	if x.mode&bySourcePort != 0 {
		copy(key.ports[:2], h[:2])
	}
	if x.mode&byDestPort != 0 {
		copy(key.ports[2:], h[2:4])
	}
	return key, resultTrue
}

// Credits of packets and of bytes per tick: the highest power of two that does
// not overflow in a day, and in a second.
const (
	hashPerTick  = 1 << 39
	bytesPerTick = 1 << 24
)

func (x *hashlimitMatch) perTick() uint64 {
	if x.inBytes {
		return bytesPerTick
	}
	return hashPerTick
}

// full is the most credit that an entry may have.
func (x *hashlimitMatch) full() uint64 {
	if x.inBytes {
		return ticks * bytesPerTick
	}
	return x.packetCost() * uint64(x.burst)
}

// packetCost is a packet's price. Ref: xt_hashlimit.c, user2credits.
func (x *hashlimitMatch) packetCost() uint64 { return x.avg * (ticks * hashPerTick / hashScale) }

// spend pays for a packet, and reports false where the credit is too short.
func (x *hashlimitMatch) spend(e *hashEntry, length int) bool {
	cost := x.packetCost()
	if x.inBytes {
		high, low := bits.Mul64(x.avg, ticks*bytesPerTick)
		perChunk := high<<32 | low>>32
		cost = min(perChunk*uint64(length/chunk+1), ticks*bytesPerTick)
		if e.credit < cost && e.refills > 0 {
			e.refills--
			e.credit = x.full()
		}
	}
	if e.credit < cost {
		return false
	}
	e.credit -= cost
	return true
}

// six tells the family of addresses in memory order.
func six(f catalog.Family) bool { return f == catalog.FamilyIP6 }

// beUint32 reads a number of a packet.
func beUint32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }
