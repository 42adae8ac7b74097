package kernel

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// TrafficCase is random tc commands with packets that pass their filters: u32
// filters with hash tables, links and offsets, and mirred in all its forms,
// which every kernel with CONFIG_NET_CLS_U32 and CONFIG_NET_ACT_MIRRED has.
type TrafficCase struct {
	Seed     uint64
	Commands []string
	Packets  []TrafficPacket
	// Compared counts the packets that Compare ran.
	Compared int
}

// TrafficPacket is a frame that arrives at an interface, or leaves by it.
type TrafficPacket struct {
	Device string
	Egress bool
	Data   []byte
}

// trafficDevices are the interfaces of tc cases.
var trafficDevices = []string{"t0", "t1", "t2"}

// NewTrafficCase draws a case; the same seed gives the same one.
func NewTrafficCase(seed uint64, packets int) *TrafficCase {
	g := trafficGenerator{r: rand.New(rand.NewPCG(seed, 7)), tables: map[string][]string{}}
	c := &TrafficCase{Seed: seed}
	for _, d := range trafficDevices {
		c.Commands = append(c.Commands, "qdisc add dev "+d+" clsact")
	}
	for range 1 + g.r.IntN(8) {
		c.Commands = append(c.Commands, g.filter()...)
	}
	for range packets {
		c.Packets = append(c.Packets, g.packet())
	}
	return c
}

type trafficGenerator struct {
	r      *rand.Rand
	tables map[string][]string // by place and priority: tables that may be linked to
	count  int
}

func pickOf[T any](g *trafficGenerator, list ...T) T { return list[g.r.IntN(len(list))] }

func (g *trafficGenerator) chance(percent int) bool { return g.r.IntN(100) < percent }

// where is the hook of a filter; most stand at one, so that they meet.
func (g *trafficGenerator) where() string {
	return pickOf(g, "dev t0 ingress", "dev t0 ingress", "dev t0 ingress", "dev t0 egress", "dev t1 ingress", "dev t1 egress")
}

// filter draws one filter, with the hash table that it needs.
func (g *trafficGenerator) filter() []string {
	where, chain := g.where(), pickOf(g, 0, 0, 0, 0, 1, 2)
	pref := 1 + g.r.IntN(4)
	protocol := pickOf(g, "ip", "ip", "ip", "all", "all", "ipv6", "802.1q")
	head := fmt.Sprintf("filter add %s chain %d protocol %s pref %d", where, chain, protocol, pref)
	key := fmt.Sprintf("%s %d %d", where, chain, pref)
	switch {
	case g.chance(18):
		g.count++
		table := fmt.Sprintf("%x:", 1+g.count)
		g.tables[key] = append(g.tables[key], table)
		return []string{fmt.Sprintf("%s handle %s u32 divisor %d", head, table, pickOf(g, 1, 2, 4, 16, 256))}
	case len(g.tables[key]) > 0 && g.chance(60):
		table := g.tables[key][g.r.IntN(len(g.tables[key]))]
		if g.chance(55) {
			bucket := pickOf(g, "", "0", "1", "5", "35", "11")
			return []string{fmt.Sprintf("%s u32 ht %s%s: %s %s", head, table, bucket, g.matches(), g.action())}
		}
		text := fmt.Sprintf("%s u32 ht 800:: %s link %s", head, g.matches(), table)
		if g.chance(70) {
			text += " " + pickOf(g, "hashkey mask 0x000000ff at 12", "hashkey mask 0x0000ffff at 20", "hashkey mask 0x00ff0000 at 8", "hashkey mask 0xff000000 at 16", "hashkey mask 0x0000ffff at 0")
		}
		if g.chance(60) {
			text += " " + pickOf(g, "offset at 0 mask 0x0f00 shift 6 eat", "offset plus 20 eat", "offset at 0 mask 0x0f00 shift 6", "offset plus 4", "offset plus 40 eat", "offset plus 1500 eat", "offset at 2 mask 0x00ff shift 0 plus 4 eat")
		}
		if g.chance(25) {
			text += " " + g.action()
		}
		return []string{text}
	}
	return []string{fmt.Sprintf("%s u32 %s %s", head, g.matches(), g.action())}
}

// matches draws up to three tests.
func (g *trafficGenerator) matches() string {
	var list []string
	for range pickOf(g, 1, 1, 1, 2, 2, 3) {
		list = append(list, "match "+g.match())
	}
	return strings.Join(list, " ")
}

func (g *trafficGenerator) match() string {
	at := pickOf(g, "at 0", "at 4", "at 8", "at 12", "at 16", "at 20", "at 24", "at -4", "at -8", "at -12", "at -16", "at nexthdr+0", "at nexthdr+4", "at 60", "at 1400")
	switch g.r.IntN(14) {
	case 0:
		return "u32 0 0"
	case 1:
		return fmt.Sprintf("ip src 10.0.%d.%d/%d", g.r.IntN(2), 1+g.r.IntN(3), pickOf(g, 32, 32, 31, 24, 16, 8, 0))
	case 2:
		return fmt.Sprintf("ip dst 10.0.%d.%d/%d", g.r.IntN(2), 1+g.r.IntN(3), pickOf(g, 32, 32, 30, 24, 9))
	case 3:
		return fmt.Sprintf("ip protocol %d 0xff", pickOf(g, 6, 17, 17, 1))
	case 4:
		return fmt.Sprintf("ip %s %d %s", pickOf(g, "dport", "sport"), g.port(), pickOf(g, "0xffff", "0xffff", "0xfff0", "0x00ff"))
	case 5:
		return fmt.Sprintf("ip tos 0x%x %s", pickOf(g, 0, 0x10, 0xb8), pickOf(g, "0xff", "0x1e", "0xfc"))
	case 6:
		return pickOf(g, "ip ihl 5 0xf", "ip nofrag", "ip firstfrag", "ip df", "ip mf", "ip ihl 6 0xf")
	case 7:
		return fmt.Sprintf("ip6 dst 2001:db8::%d/%d", 1+g.r.IntN(3), pickOf(g, 128, 127, 64, 32))
	case 8:
		return fmt.Sprintf("ip6 src 2001:db8::%d/%d", 1+g.r.IntN(3), pickOf(g, 128, 126, 60))
	case 9:
		return fmt.Sprintf("%s %s %d 0xffff", pickOf(g, "tcp", "udp"), pickOf(g, "dst", "src"), g.port())
	case 10:
		return fmt.Sprintf("u8 0x%x 0x%x at %d", pickOf(g, 0x45, 0x46, 0x40, 6, 17, 64), pickOf(g, 0xff, 0xf0, 0x0f), pickOf(g, 0, 1, 8, 9, 13, -2, -14))
	case 11:
		return fmt.Sprintf("u16 0x%x 0x%x at %d", pickOf(g, 0x0800, 0x0035, 0x0050, 0x86dd), pickOf(g, 0xffff, 0x00ff), pickOf(g, -2, 20, 22, 24, 40))
	case 12:
		return fmt.Sprintf("u32 0x%08x 0x%08x %s", pickOf(g, 0x0a000001, 0x00350050, 0x45000000, 0x02aa0000, 0), pickOf(g, 0xffffffff, 0xffff0000, 0x000000ff, 0x0f000000), at)
	}
	return fmt.Sprintf("u32 0x%08x 0x%08x %s", g.r.Uint32(), pickOf[uint32](g, 1, 0x80000000, 0x00010000, 0x3), at)
}

func (g *trafficGenerator) port() int { return pickOf(g, 53, 80, 443, 1000, 1001, 65535) }

// action draws a list of mirred actions, or only a class.
func (g *trafficGenerator) action() string {
	if g.chance(12) {
		return "flowid 1:" + fmt.Sprint(1+g.r.IntN(9))
	}
	text := ""
	if g.chance(10) {
		text = "flowid 1:3 "
	}
	for range pickOf(g, 0, 0, 0, 1, 2) {
		text += fmt.Sprintf("action mirred %s mirror dev %s %s ", pickOf(g, "egress", "egress", "ingress"), pickOf(g, "t1", "t2"), pickOf(g, "pipe", "pipe", "pipe", "jump 1", "jump 2"))
	}
	device, way := pickOf(g, "t1", "t2", "t2", "t0"), pickOf(g, "egress", "egress", "ingress")
	if g.chance(35) {
		return text + fmt.Sprintf("action mirred %s redirect dev %s", way, device)
	}
	control := pickOf(g, "drop", "pass", "continue", "reclassify", "pipe", "trap", "goto chain 1", "goto chain 2", "goto chain 5", "drop", "continue", "pass")
	return text + fmt.Sprintf("action mirred %s mirror dev %s %s", way, device, control)
}

// packet draws a frame, on and around the values in filters.
func (g *trafficGenerator) packet() TrafficPacket {
	p := TrafficPacket{Device: pickOf(g, "t0", "t0", "t0", "t1"), Egress: g.chance(25)}
	b := []byte{2, 0, 0, 0, 0, 1, 2, 0xaa, 0, 0, 0, byte(g.r.IntN(3))}
	if g.chance(15) {
		copy(b, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	}
	for range pickOf(g, 0, 0, 0, 0, 0, 1, 1, 2) {
		b = append(b, pickOf[byte](g, 0x81, 0x81, 0x88), 0, byte(g.r.IntN(16)), byte(g.r.IntN(200)))
		if b[len(b)-4] == 0x88 {
			b[len(b)-3] = 0xa8
		}
	}
	switch g.r.IntN(10) {
	case 0, 1:
		b = append(b, 0x86, 0xdd)
		b = append(b, g.ip6()...)
	case 2:
		b = append(b, 0x08, 0x06)
		b = append(b, make([]byte, 28)...)
	default:
		b = append(b, 8, 0)
		b = append(b, g.ip4()...)
	}
	if g.chance(8) {
		b = b[:max(20, 14+g.r.IntN(len(b)-14))]
	}
	p.Data = b
	return p
}

func (g *trafficGenerator) transport() (protocol byte, b []byte) {
	protocol = pickOf[byte](g, 6, 17, 17, 1)
	s, d := g.port(), g.port()
	b = []byte{byte(s >> 8), byte(s), byte(d >> 8), byte(d)}
	switch protocol {
	case 6:
		b = append(b, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 0x20, 0, 0, 0, 0, 0)
	case 17:
		b = append(b, 0, 8, 0, 0)
	case 1:
		b = []byte{8, 0, 0, 0, 0, 1, 0, 1}
	}
	for range g.r.IntN(30) {
		b = append(b, byte(g.r.IntN(256)))
	}
	return protocol, b
}

func (g *trafficGenerator) ip4() []byte {
	protocol, payload := g.transport()
	words := pickOf(g, 5, 5, 5, 6, 8)
	h := make([]byte, words*4)
	for i := 20; i < len(h); i++ {
		h[i] = 1 // no operation
	}
	n := len(h) + len(payload)
	fragment := pickOf(g, 0, 0, 0, 0x4000, 0x2000, 0x2001, 0x0003)
	copy(h, []byte{
		0x40 | byte(words), pickOf[byte](g, 0, 0x10, 0xb8), byte(n >> 8), byte(n), 0, 1, byte(fragment >> 8), byte(fragment),
		pickOf[byte](g, 64, 1, 255), protocol, 0, 0, 10, 0, byte(g.r.IntN(2)), byte(1 + g.r.IntN(3)), 10, 0, byte(g.r.IntN(2)), byte(1 + g.r.IntN(3)),
	})
	sum := 0
	for i := 0; i < len(h); i += 2 {
		sum += int(h[i])<<8 | int(h[i+1])
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	h[10], h[11] = byte(^sum>>8), byte(^sum)
	return append(h, payload...)
}

func (g *trafficGenerator) ip6() []byte {
	protocol, payload := g.transport()
	h := make([]byte, 40)
	h[0], h[4], h[5], h[6], h[7] = 0x60, byte(len(payload)>>8), byte(len(payload)), protocol, 64
	copy(h[8:], []byte{0x20, 1, 0x0d, 0xb8})
	copy(h[24:], []byte{0x20, 1, 0x0d, 0xb8})
	h[23], h[39] = byte(1+g.r.IntN(3)), byte(1+g.r.IntN(3))
	return append(h, payload...)
}
