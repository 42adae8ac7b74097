package tc

import (
	"encoding/binary"

	"verdict/conntrack"
	"verdict/packet"
)

// headroom is the space before a frame that rewriting keeps free.
const headroom = 128

// Tag is a VLAN tag in the packet's metadata.
type Tag struct {
	Present bool
	TPID    uint16
	TCI     uint16
}

// Tunnel is tunnel metadata: of the packet that a tunnel device received, or
// what tunnel_key set for one that will send it.
type Tunnel struct {
	Set              bool
	Received         bool
	IPv6             bool
	Src, Dst         [16]byte // IPv4 addresses take the first 4 bytes
	SrcPort, DstPort uint16
	KeyID            uint32
	HasKeyID         bool
	TOS, TTL         uint8
	Flags            uint32
	OptionKind       uint16 // 0, or the kernel's option flag
	Options          []byte
}

// Resume is where hardware left off: software goes on there.
type Resume struct {
	Set   bool
	Chain uint32
}

// Packet is a frame at a tc hook, the kernel's socket buffer. The zero Packet
// is ready for Load, and may be loaded again and again.
type Packet struct {
	buf   []byte // memory that holds the frame
	own   []byte // memory of the packet's own, for writing
	owned bool

	// Positions in buf: link header, network header, transport header, start
	// and end of what the hook counts from.
	mac, net, th, data, tail int
	macLen                   int

	// Protocol is the EtherType of what starts at the network header.
	Protocol uint16
	// VLAN is the outermost tag where it was taken off.
	VLAN Tag
	// Ingress says that the packet is at an ingress hook.
	Ingress bool
	// Device is where the packet is, IIF the index of the device that it came
	// in by.
	Device *Device
	IIF    uint32

	Mark, Priority uint32
	TCIndex        uint16
	Queue          uint16
	PktType        packet.PktType
	RtClassID      uint32 // of the packet's route
	CGroupClass    uint32 // class of the sending socket's control group
	HasSocket      bool
	SKUID, SKGID   uint32
	Hash           uint32
	L2Miss         bool
	Tunnel         Tunnel
	Resume         Resume
	// Trapped says that hardware handed the packet over, and that it does so
	// only once.
	Trapped bool

	// CT is the packet's connection.
	CT     conntrack.Attachment
	postCT bool
	ctZone uint16

	// Now is the time in nanoseconds since the epoch.
	Now int64

	// missing is how many bytes of the packet the capture does not hold; short
	// says that somebody asked for them.
	missing int
	short   bool
	// redirected says that mirred sent the packet itself here.
	redirected bool

	pktLen   int // what the qdisc counts
	changed  bool
	keys     dissection
	keysGood bool
	// dissections counts changes of the packet that void keys.
	dissections int
	prior       [][]byte
}

// Load takes a frame that arrives (ingress) or leaves. The packet refers to
// its bytes until it is changed. It reports false for a frame that the
// receiving side drops before any hook: one without a whole Ethernet header, or
// with a VLAN tag too short to be taken off.
//
// Ref: dev.c, __netif_receive_skb_core; if_vlan.h, skb_vlan_untag
func (p *Packet) Load(frame []byte, ingress bool) bool {
	p.reset()
	p.Ingress = ingress
	if len(frame) < ethLen {
		return false
	}
	p.buf, p.tail = frame, len(frame)
	p.mac, p.net, p.macLen = 0, ethLen, ethLen
	p.Protocol = etherType(frame)
	p.PktType = packetType(frame)
	if !ingress {
		p.loadEgress()
		return true
	}
	p.th = p.probeTransport()
	if p.th < 0 {
		p.th = p.net
	}
	p.data = p.net
	if isVLAN(p.Protocol) {
		if len(frame) < ethLen+vlanLen+2 {
			return false
		}
		p.untag()
	}
	p.pktLen = p.tail - p.data
	return true
}

// loadEgress places the headers of a frame that a packet socket sends: the
// network header lies behind all tags.
//
// Ref: af_packet.c, packet_parse_headers
func (p *Packet) loadEgress() {
	p.data = p.mac
	p.th = p.probeTransport()
	off, typ := ethLen, p.Protocol
	for isVLAN(typ) && off+vlanLen <= p.tail {
		typ = binary.BigEndian.Uint16(p.buf[off+2:])
		off += vlanLen
	}
	if !isVLAN(typ) {
		p.net = off
	}
	if p.th < 0 {
		p.th = p.net
	}
	p.pktLen = p.tail - p.data
}

func (p *Packet) reset() {
	p.CT.Reset()
	*p = Packet{own: p.own, CT: p.CT, prior: p.prior[:0]}
}

// untag takes the tag at the network header off: all of the link header before
// it but the type moves up.
func (p *Packet) untag() {
	tpid, tci := p.Protocol, binary.BigEndian.Uint16(p.buf[p.net:])
	p.makeOwned()
	p.Protocol = encapsulated(p.buf[p.net+2 : p.tail])
	copy(p.buf[p.mac+vlanLen:], p.buf[p.mac:p.net-2])
	p.mac += vlanLen
	p.net += vlanLen
	p.data = p.net
	p.macLen = p.net - p.mac
	p.VLAN = Tag{Present: true, TPID: tpid, TCI: tci}
	p.changed = false
}

// encapsulated reads the type behind a tag as the kernel takes it: a length is
// one of two pseudo types. b starts at the type.
//
// Ref: if_vlan.h, vlan_set_encap_proto
func encapsulated(b []byte) uint16 {
	typ := binary.BigEndian.Uint16(b)
	if typ >= 0x600 {
		return typ
	}
	if len(b) >= 4 && b[2] == 0xff && b[3] == 0xff {
		return packet.Type8023
	}
	return packet.Type8022
}

// etherType is the protocol that eth_type_trans finds.
func etherType(frame []byte) uint16 { return encapsulated(frame[12:]) }

func packetType(frame []byte) packet.PktType {
	broadcast := true
	for _, b := range frame[:6] {
		broadcast = broadcast && b == 0xff
	}
	switch {
	case broadcast:
		return packet.PktBroadcast
	case frame[0]&1 != 0:
		return packet.PktMulticast
	}
	return packet.PktUnicast
}

// Frame returns the frame with its tag in place, as it would leave. It
// allocates only where a tag has to be put in.
func (p *Packet) Frame() []byte { return p.AppendFrame(nil) }

// AppendFrame appends the frame with its tag in place to dst.
func (p *Packet) AppendFrame(dst []byte) []byte {
	b := p.buf[p.mac:p.tail]
	if !p.VLAN.Present {
		return append(dst, b...)
	}
	at := min(12, len(b))
	dst = append(dst, b[:at]...)
	dst = append(dst, byte(p.VLAN.TPID>>8), byte(p.VLAN.TPID), byte(p.VLAN.TCI>>8), byte(p.VLAN.TCI))
	return append(dst, b[at:]...)
}

// Changed reports whether an action wrote to the packet's bytes or its tag.
func (p *Packet) Changed() bool { return p.changed }

// Redirected reports whether a frame that came out is the packet that mirred
// redirected, not a copy of it.
func (p *Packet) Redirected() bool { return p.redirected }

// Len is the length that the hook counts: from the network header at ingress,
// from the link header at egress, without a tag that was taken off.
func (p *Packet) Len() int { return p.tail - p.data + p.missing }

// Cut says that the packet was origLen bytes long, of which the frame that was
// loaded is the beginning. What needs the rest has an unknown result.
func (p *Packet) Cut(origLen int) {
	p.missing = max(0, origLen-(p.tail-p.mac)-p.tagLen())
}

// tagLen is the length of a tag that was taken off.
func (p *Packet) tagLen() int {
	if p.VLAN.Present {
		return vlanLen
	}
	return 0
}

// makeOwned copies the frame for writing, with space before it.
func (p *Packet) makeOwned() {
	if p.owned {
		return
	}
	need := headroom + len(p.buf)
	if cap(p.own) < need {
		p.own = make([]byte, need+headroom)
	}
	p.own = p.own[:need]
	clear(p.own[:headroom])
	copy(p.own[headroom:], p.buf)
	p.buf = p.own
	p.shift(headroom)
	p.owned = true
}

// shift moves all positions.
func (p *Packet) shift(n int) {
	p.mac += n
	p.net += n
	p.th += n
	p.data += n
	p.tail += n
}

// touch prepares a change: the bytes are the packet's own, and what was
// dissected of it is void.
func (p *Packet) touch() {
	p.makeOwned()
	p.changed = true
	p.void()
}

// void forgets what was dissected.
func (p *Packet) void() {
	p.keysGood = false
	p.dissections++
}

// grow makes sure of n bytes before the link header.
func (p *Packet) grow(n int) {
	p.touch()
	if p.mac >= n {
		return
	}
	buf := make([]byte, len(p.buf)+headroom+n)
	copy(buf[headroom+n:], p.buf)
	p.own, p.buf = buf, buf
	p.shift(headroom + n)
}

// load reads n bytes at a position; bytes before the frame are zero as far as
// the kernel's headroom goes. It reports false beyond the packet.
func (p *Packet) load(at, n int, dst []byte) bool {
	if at+n > p.tail || at < p.mac-headroom {
		p.short = p.short || p.missing > 0 && at+n > p.tail
		return false
	}
	if at >= 0 {
		copy(dst[:n], p.buf[at:])
		return true
	}
	for i := range n {
		dst[i] = 0
		if at+i >= 0 {
			dst[i] = p.buf[at+i]
		}
	}
	return true
}

// has reports whether n bytes from a position on are in the packet.
func (p *Packet) has(at, n int) bool {
	if at+n > p.tail && p.missing > 0 {
		p.short = true
	}
	return at >= 0 && at+n <= p.tail
}

// outer is the protocol that filters are chosen by: a tag's, where there is
// one.
func (p *Packet) outer() uint16 {
	if p.VLAN.Present {
		return p.VLAN.TPID
	}
	return p.Protocol
}

// inner is the protocol behind all tags, as skb_protocol finds it when it
// skips them.
func (p *Packet) inner() uint16 {
	typ := p.Protocol
	for off := p.mac + ethLen; isVLAN(typ); off += vlanLen {
		if !p.has(off, vlanLen) {
			return 0
		}
		typ = binary.BigEndian.Uint16(p.buf[off+2:])
	}
	return typ
}

// clone makes dst a copy with bytes of its own. The copy has no connection.
func (p *Packet) clone(dst *Packet) {
	own := dst.own
	dst.CT.Reset()
	attachment := dst.CT
	*dst = *p
	dst.CT = attachment
	dst.prior = nil
	need := len(p.buf) + headroom
	if p.owned {
		need = len(p.buf)
	}
	if cap(own) < need {
		own = make([]byte, need)
	}
	dst.own, dst.owned = own[:need], true
	if p.owned {
		copy(dst.own, p.buf)
		dst.buf = dst.own
		return
	}
	clear(dst.own[:headroom])
	copy(dst.own[headroom:], p.buf)
	dst.buf = dst.own
	dst.shift(headroom)
}

const (
	ethLen  = 14
	vlanLen = 4
)

func isVLAN(typ uint16) bool { return typ == packet.TypeVLAN || typ == packet.TypeSVLAN }

func isMPLS(typ uint16) bool { return typ == packet.TypeMPLS || typ == packet.TypeMPLSMC }
