package conntrack

import (
	"bytes"

	"verdict/catalog"
	"verdict/packet"
)

// Manip is one of the two translations that a connection may have.
type Manip uint8

// The translations.
const (
	SourceManip Manip = iota
	DestinationManip
)

// Bits of NATRange.Flags. Ref: include/uapi/linux/netfilter/nf_nat.h.
const (
	NATRandom      uint32 = 4
	NATPersistent  uint32 = 8
	NATFullyRandom uint32 = 16
	NATPortOffset  uint32 = 32
	NATNetmap      uint32 = 64
)

// NATRange is what a nat statement asks for: addresses and ports between two
// bounds. Flags are the kernel's NF_NAT_RANGE bits (4 random, 8 persistent, 16
// fully random, 32 port offset from BasePort, 64 netmap). IPv4 addresses are
// the first four bytes; what follows them does not matter.
type NATRange struct {
	MinAddr, MaxAddr [16]byte
	MinPort, MaxPort uint16
	BasePort         uint16
	HasAddr, HasPort bool
	Flags            uint32
	// Device is the index of the output interface whose address masquerade
	// took; the connection ends when its packets leave by another one.
	Device uint32

	before71 bool // Config.Before71: UDP-Lite has ports
}

func (r *NATRange) random() bool { return r.Flags&(NATRandom|NATFullyRandom) != 0 }

// NATUndecided reports whether the packet's connection still needs a decision
// on a translation. ICMP errors never do.
// Ref: nf_nat_core.c, nf_nat_inet_fn.
func (t *Table) NATUndecided(p *Packet, m Manip) bool {
	a := p.Attachment
	if a.Conn == nil || a.Conn.Status&m.done() != 0 {
		return false
	}
	switch a.Info {
	case InfoNew:
		return true
	case InfoRelated, InfoRelatedReply:
		return !quotesOther(p.View)
	}
	return false
}

// quotesOther reports whether a related packet is an ICMP error.
func quotesOther(v *packet.View) bool {
	var s segment
	return s.find(v) == outcomeOK && (s.protocol == packet.ProtoICMP || s.protocol == packet.ProtoICMPv6)
}

// done is the status bit of a translation that was decided, and changed that
// of one that changes something.
func (m Manip) done() uint32    { return StatusSrcNATDone << m }
func (m Manip) changed() uint32 { return StatusSrcNAT << m }

// SetupNAT decides a translation for the packet's connection; a nil range is
// the null binding. It does nothing for confirmed connections and translations
// that were decided.
// Ref: nf_nat_core.c, nf_nat_setup_info.
func (t *Table) SetupNAT(p *Packet, m Manip, r *NATRange) Result {
	c := p.Attachment.Conn
	if c == nil || c.table != t {
		return Accept
	}
	if r == nil {
		return t.bind(c, m, c.nullRange(m), p.Now)
	}
	wanted := *r
	wanted.before71 = t.config.Before71
	if c.Family() == catalog.FamilyIP {
		clear(wanted.MinAddr[4:])
		clear(wanted.MaxAddr[4:])
	}
	if r.Flags&NATNetmap != 0 {
		wanted.netmap(p.View, m)
	}
	return t.bind(c, m, &wanted, p.Now)
}

// bind decides a translation.
func (t *Table) bind(c *Conn, m Manip, r *NATRange, now int64) Result {
	if c.Status&(StatusConfirmed|m.done()) != 0 {
		return Accept
	}
	current, ok := c.Tuples[Reply].Invert()
	if !ok {
		return Drop
	}
	wanted := current
	t.uniqueTuple(&wanted, c, m, r, now)
	if wanted != current {
		c.Tuples[Reply], _ = wanted.Invert()
		c.Status |= m.changed()
		if c.Status&StatusHelper != 0 && c.Protocol() == packet.ProtoTCP {
			c.shifts()
		}
	}
	if m == SourceManip {
		t.sources.insert(t, c)
		c.device = r.Device
	}
	c.Status |= m.done()
	return Accept
}

// nullRange asks for the address that the connection has anyway.
// Ref: nf_nat_core.c, nf_nat_alloc_null_binding.
func (c *Conn) nullRange(m Manip) *NATRange {
	r := &NATRange{HasAddr: true}
	if m == SourceManip {
		r.MinAddr = c.Tuples[Reply].Dst
	} else {
		r.MinAddr = c.Tuples[Reply].Src
	}
	r.MaxAddr = r.MinAddr
	return r
}

// netmap replaces the network part of the packet's address: the bits in which
// the bounds agree.
// Ref: nft_nat.c, nft_nat_setup_netmap.
func (r *NATRange) netmap(v *packet.View, m Manip) {
	var s segment
	if s.find(v) != outcomeOK {
		return
	}
	h := s.data[s.network:]
	at, size := 12, 4
	if s.six {
		at, size = 8, 16
	}
	if m == DestinationManip {
		at += size
	}
	for i, host := range h[at : at+size] {
		mask := ^(r.MinAddr[i] ^ r.MaxAddr[i])
		r.MinAddr[i] = host&^mask | r.MinAddr[i]&mask
	}
	r.MaxAddr = r.MinAddr
	r.HasAddr = true
}

// holds reports whether the end of a tuple that a translation changes is in
// the range already.
// Ref: nf_nat_core.c, nf_in_range.
func (r *NATRange) holds(t *Tuple, m Manip) bool {
	addr := &t.Src
	if m == DestinationManip {
		addr = &t.Dst
	}
	if r.HasAddr && (bytes.Compare(addr[:], r.MinAddr[:]) < 0 || bytes.Compare(addr[:], r.MaxAddr[:]) > 0) {
		return false
	}
	return !r.HasPort || r.holdsPort(t, m)
}

// holdsPort is true for protocols without port.
// Ref: nf_nat_core.c, l4proto_in_range.
func (r *NATRange) holdsPort(t *Tuple, m Manip) bool {
	port := t.SrcPort
	switch {
	case t.Protocol == packet.ProtoICMP, t.Protocol == packet.ProtoICMPv6:
	case !hasPorts(t.Protocol, r.before71):
		return true
	case m == DestinationManip:
		port = t.DstPort
	}
	return port >= r.MinPort && port <= r.MaxPort
}

// DropMasqueraded removes the connections that masquerade through a device, as
// when it goes down.
// Ref: nf_nat_masquerade.c, masq_device_event.
func (t *Table) DropMasqueraded(device uint32) {
	for c := range t.confirmed() {
		if c.device == device && device != 0 {
			t.remove(c)
		}
	}
}
