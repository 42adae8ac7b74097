package conntrack

import (
	"encoding/binary"
	"math/bits"

	"verdict/catalog"
	"verdict/packet"
)

// uniqueTuple changes one end of a tuple so that it lies in the range and no
// other connection answers to it. If that fails, the last try stands, and
// confirming the connection will find the clash.
// Ref: nf_nat_core.c, get_unique_tuple.
func (t *Table) uniqueTuple(tuple *Tuple, c *Conn, m Manip, r *NATRange, now int64) {
	current := *tuple
	if m == SourceManip && !r.random() {
		if r.holds(tuple, m) {
			if !t.used(tuple, c, now) || t.twin(tuple, c, now) {
				return
			}
		} else if source, ok := t.sources.mapped(t, c, r, now); ok {
			tuple.Src, tuple.SrcPort = source.Src, source.SrcPort
			if !t.used(tuple, c, now) {
				return
			}
		}
	}
	*tuple = current
	if r.HasAddr {
		r.chooseAddress(tuple, m, c.Zone.ID)
	}
	if !r.random() {
		switch {
		case !r.HasPort:
			if !t.used(tuple, c, now) {
				return
			}
		case r.Flags&NATPortOffset == 0 && r.holdsPort(tuple, m) && (r.MinPort == r.MaxPort || !t.used(tuple, c, now)):
			return
		}
	}
	t.choosePort(tuple, c, m, r, now)
}

// used reports whether another connection answers to a tuple. Connections that
// are not confirmed are not seen, nor is another first packet of the same flow.
// Ref: nf_conntrack_core.c, nf_conntrack_tuple_taken.
func (t *Table) used(tuple *Tuple, c *Conn, now int64) bool {
	answer, ok := tuple.Invert()
	if !ok {
		return false
	}
	return t.rival(&answer, c, now) != nil
}

// rival is the connection that has a tuple in either direction.
func (t *Table) rival(tuple *Tuple, c *Conn, now int64) *Conn {
	id := c.Zone.For(Reply)
	hash := t.index.hash(tuple, id)
	for i := t.index.home(hash); t.index.slots[i].ref != 0; i = t.index.next(i) {
		s := t.index.slots[i]
		if s.hash != hash {
			continue
		}
		o, d := t.slabs.at(s.ref>>1-1), Direction(s.ref&1)
		if o.Tuples[d] != *tuple || o.Zone.For(d) != c.Zone.For(d) || o == c || now >= o.expires {
			continue
		}
		if o.Tuples[Original] == c.Tuples[Original] && o.Zone.For(Original) == c.Zone.For(Original) {
			continue
		}
		return o
	}
	return nil
}

// twin reports whether a tuple is used only by the same flow that both ends
// began at once, without NAT. Confirming will merge the two.
// Ref: nf_nat_core.c, nf_nat_used_tuple_new.
func (t *Table) twin(tuple *Tuple, c *Conn, now int64) bool {
	answer, _ := tuple.Invert()
	o := t.rival(&answer, c, now)
	return o != nil && allowsClash(c.Protocol()) && o.Status&statusNATMask == 0 &&
		o.Tuples[Original] == c.Tuples[Reply] && o.Tuples[Reply] == c.Tuples[Original]
}

// chooseAddress takes an address from the range by a hash of the packet's
// addresses, so that one client keeps its address towards one server, or
// towards all with the persistent flag.
// Ref: nf_nat_core.c, find_best_ips_proto.
func (r *NATRange) chooseAddress(tuple *Tuple, m Manip, zone uint16) {
	addr := &tuple.Src
	if m == DestinationManip {
		addr = &tuple.Dst
	}
	if r.MinAddr == r.MaxAddr {
		*addr = r.MinAddr
		return
	}
	words := 1
	if tuple.Family == catalog.FamilyIP6 {
		words = 4
	}
	persistent := r.Flags&NATPersistent != 0
	initial := uint32(0)
	if !persistent {
		initial = binary.LittleEndian.Uint32(tuple.Dst[4*(words-1):]) ^ uint32(zone)
	}
	j := hashWords(&tuple.Src, initial)
	full := false
	for i := range words {
		low, high := binary.BigEndian.Uint32(r.MinAddr[4*i:]), binary.BigEndian.Uint32(r.MaxAddr[4*i:])
		span := high - low + 1
		if full {
			low, span = 0, ^uint32(0)
		}
		scaled, _ := bits.Mul32(j, span)
		chosen := low + scaled
		binary.BigEndian.PutUint32(addr[4*i:], chosen)
		full = full || chosen != high
		if !persistent {
			j ^= binary.LittleEndian.Uint32(tuple.Dst[4*i:])
		}
	}
}

// hashWords hashes the four words of an address.
// Ref: Bob Jenkins, lookup3.c, hashword; jhash.h.
func hashWords(addr *[16]byte, initial uint32) uint32 {
	le := binary.LittleEndian
	const basis = 0xdeadbeef + 4<<2
	a, b, c := basis+initial, basis+initial, basis+initial
	a += le.Uint32(addr[0:])
	b += le.Uint32(addr[4:])
	c += le.Uint32(addr[8:])
	rol := bits.RotateLeft32
	a = (a - c) ^ rol(c, 4)
	c += b
	b = (b - a) ^ rol(a, 6)
	a += c
	c = (c - b) ^ rol(b, 8)
	b += a
	a = (a - c) ^ rol(c, 16)
	c += b
	b = (b - a) ^ rol(a, 19)
	a += c
	c = (c - b) ^ rol(b, 4)
	b += a
	a += le.Uint32(addr[12:])
	c = (c ^ b) - rol(b, 14)
	a = (a ^ c) - rol(c, 11)
	b = (b ^ a) - rol(a, 25)
	c = (c ^ b) - rol(b, 16)
	a = (a ^ c) - rol(c, 4)
	b = (b ^ a) - rol(a, 14)
	return (c ^ b) - rol(b, 24)
}

// ports is a range of ports or ids: size values from first on.
type ports struct {
	first uint16
	size  uint32
	field *uint16
}

// portsFor tells which field to vary and within which bounds; false for
// protocols that have none.
// Ref: nf_nat_core.c, nf_nat_l4proto_unique_tuple.
func (r *NATRange) portsFor(tuple *Tuple, c *Conn, m Manip) (ports, bool) {
	p := ports{first: min(r.MinPort, r.MaxPort), field: &tuple.SrcPort}
	p.size = uint32(max(r.MinPort, r.MaxPort)-p.first) + 1
	switch tuple.Protocol {
	case packet.ProtoICMP, packet.ProtoICMPv6:
		if !r.HasPort {
			p.first, p.size = 0, 65536
		}
		return p, true
	case packet.ProtoGRE:
		if m == DestinationManip {
			p.field = &tuple.DstPort
		}
		if !r.HasPort {
			p.first, p.size = 1, 65535
		}
		return p, c.Master != nil
	}
	if m == DestinationManip {
		p.field = &tuple.DstPort
	}
	if !r.HasPort {
		p.first, p.size = portClass(*p.field)
	}
	return p, hasPorts(tuple.Protocol, r.before71) && (r.HasPort || m == SourceManip)
}

// portClass keeps privileged ports privileged.
func portClass(port uint16) (first uint16, size uint32) {
	switch {
	case port < 512:
		return 1, 511
	case port < 1024:
		return 600, 424
	}
	return 1024, 64512
}

const (
	maxAttempts  = 128 // of one round
	lastAttempts = 16  // a round shorter than this was the last one
	hardAttempts = 32  // at the end of a round, others are evicted
)

// choosePort looks for a free port. Where to start is random, but for
// destinations; each further round is half as long and starts elsewhere.
func (t *Table) choosePort(tuple *Tuple, c *Conn, m Manip, r *NATRange, now int64) {
	p, ok := r.portsFor(tuple, c, m)
	if !ok {
		return
	}
	var offset uint16
	switch {
	case r.Flags&NATPortOffset != 0:
		offset = *p.field - r.BasePort
	case r.random(), m == SourceManip:
		offset = t.drawPort(p.size)
	}
	for attempts := min(p.size, maxAttempts); ; attempts /= 2 {
		for left := attempts; left > 0; left-- {
			*p.field = p.first + uint16(uint32(offset)%p.size)
			offset++
			if !t.usedHarder(tuple, c, left, now) {
				return
			}
		}
		if attempts >= p.size || attempts < lastAttempts {
			return
		}
		offset = t.drawPort(p.size)
	}
}

// drawPort draws where in so many ports the search starts.
func (t *Table) drawPort(size uint32) uint16 {
	if size > 1 {
		t.stats.Drawn++
	}
	return t.random.bits16()
}

// usedHarder is used, but near the end of a round it takes the tuple from a
// TCP connection that is over.
// Ref: nf_nat_core.c, nf_nat_used_tuple_harder.
func (t *Table) usedHarder(tuple *Tuple, c *Conn, left uint32, now int64) bool {
	if left > hardAttempts || tuple.Protocol != packet.ProtoTCP || c.proto.tcp.state != tcpSynSent {
		return t.used(tuple, c, now)
	}
	answer, _ := tuple.Invert()
	o, d := t.findIn(&answer, c.Zone, c.Zone.For(Reply), now)
	switch {
	case o == nil:
		return false
	case d == Original, !o.evictable(), !after(c.proto.tcp.sides[Original].end, o.proto.tcp.sides[Original].end):
		return true
	}
	offloaded := o.Status&StatusOffload != 0
	t.remove(o)
	return offloaded
}

// evictable reports whether a connection may make room for another one.
func (c *Conn) evictable() bool {
	return c.Status&(StatusDying|StatusFixedTimeout|StatusSrcNAT) == StatusSrcNAT && c.proto.tcp.state >= tcpTimeWait
}
