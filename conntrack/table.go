package conntrack

import (
	"sync/atomic"

	"verdict/catalog"
	"verdict/packet"
	"verdict/packet/rewrite"
)

// Config holds the switches and bounds of a table; the zero Config is the
// kernel's defaults.
type Config struct {
	Max        int  // entries at most, 0: 262144
	NoLoose    bool // tcp_loose = 0
	Liberal    bool // tcp_be_liberal = 1
	NoChecksum bool // nf_conntrack_checksum = 0
	Accounting bool // nf_conntrack_acct = 1
	IgnoreRST  bool // tcp_ignore_invalid_rst = 1
	MaxRetrans int  // tcp_max_retrans, 0: 3
	MaxExpect  int  // nf_conntrack_expect_max, 0: 4096
	// Before71 follows Linux as it was before 7.1, where that differs: UDP-Lite
	// is tracked by its ports, IPv6 extension headers are not counted, and a
	// RST may answer a SYN of its own direction.
	Before71 bool
	Seed     uint64
}

const (
	defaultMax       = 262144
	defaultRetrans   = 3
	defaultMaxExpect = 4096
)

// Result is what tracking does with a packet.
type Result uint8

// The results. Invalid packets are accepted, without connection.
const (
	Accept Result = iota
	Drop
)

// Packet is a packet with its attachment on its way through the host.
type Packet struct {
	View       *packet.View
	Attachment *Attachment
	Family     catalog.Family // FamilyIP or FamilyIP6
	Prerouting bool           // checksums are verified there only
	Now        int64          // nanoseconds since the epoch
	Out        uint32         // index of the output device, 0 if there is none
	// Buffer takes what Confirm rewrites in payloads for helpers of
	// connections with NAT. Without it such payloads stay as they are.
	Buffer *rewrite.Buffer
}

// Stats counts what happened, as /proc/net/stat/nf_conntrack does.
type Stats struct {
	Found        uint64 // confirmed connection found by a packet
	New          uint64 // connections created
	Invalid      uint64 // packets that could not be tracked
	Unknown      uint64 // packets of which too little was captured
	Assumed      uint64 // checks passed because the capture is cut
	Insert       uint64 // connections confirmed
	InsertFailed uint64 // confirmations that clashed
	ClashResolve uint64 // clashes that did no harm
	Drop         uint64 // packets dropped
	EarlyDrop    uint64 // connections that made room for others
	Expired      uint64 // connections that timed out
	Drawn        uint64 // ports and ids that NAT chose at random among several
}

// Table is the connections of one host. It is not safe for concurrent use.
type Table struct {
	config   Config
	timeouts protocolTimeouts
	slabs    slabs
	index    index
	sources  sourceIndex
	expected expectations
	stats    Stats
	random   random

	count  int         // connections, confirmed or not
	serial uint64      // connections ever made, for ids
	sweep  uint32      // next place to look for expired connections
	swept  int64       // when the whole table was last swept for room
	hungry bool        // a connection found no room since
	labels atomic.Bool // new connections have room for labels
}

// NewTable makes an empty table.
func NewTable(c Config) *Table {
	if c.Max == 0 {
		c.Max = defaultMax
	}
	if c.MaxRetrans == 0 {
		c.MaxRetrans = defaultRetrans
	}
	if c.MaxExpect == 0 {
		c.MaxExpect = defaultMaxExpect
	}
	t := &Table{config: c, random: newRandom(c.Seed)}
	t.timeouts.init()
	t.index.init(c.Seed)
	return t
}

// RoomForLabels says whether connections that begin from now on have room for
// labels: those have it that began while some rule knew of labels, and the
// others never get it.
// Ref: nf_conntrack_labels.c, nf_connlabels_get; nf_conntrack_labels.h,
// nf_ct_labels_ext_add.
//
// Unlike the rest of a table it may be said by several workers at once, of whom
// none tracks connections.
func (t *Table) RoomForLabels(room bool) { t.labels.Store(room) }

// Stats returns the counters.
func (t *Table) Stats() Stats { return t.stats }

// Len is the number of connections: confirmed ones that have not expired as
// far as was noticed, and those that their first packets still hold.
func (t *Table) Len() int { return t.count }

// Track finds or creates the packet's connection and attaches it. A packet that
// has one already, or is marked untracked, stays as it is. A packet of a known
// connection costs its look-up and, at prerouting, its checksum; nothing is
// allocated.
// Ref: nf_conntrack_core.c, nf_conntrack_in.
func (t *Table) Track(p *Packet) Result {
	a := p.Attachment
	if a.Conn != nil || a.Info == InfoUntracked {
		return Accept
	}
	var zone Zone
	if a.HasTemplate {
		zone, a.HasTemplate, a.TemplateZone = a.TemplateZone, false, Zone{}
	}
	a.Info = InfoNone
	s := segment{before71: t.config.Before71}
	result := s.find(p.View)
	if result == outcomeOK && !p.Prerouting && !s.six && p.View.MoreFragments {
		// The host's own fragment, from a socket that asked for it.
		return Accept
	}
	if result == outcomeOK {
		result = t.follow(p, &s, zone)
	}
	switch result {
	case outcomeInvalid:
		t.stats.Invalid++
		a.detach(InfoNone)
	case outcomeUnknown:
		t.stats.Unknown++
		a.detach(InfoUnknown)
	case outcomeDrop:
		t.stats.Drop++
		a.detach(InfoNone)
		return Drop
	}
	return Accept
}

// follow tracks a packet whose transport header is known.
func (t *Table) follow(p *Packet, s *segment, zone Zone) outcome {
	if s.protocol == packet.ProtoICMP || s.protocol == packet.ProtoICMPv6 {
		done, result := t.icmpError(p, s, zone)
		if done || result != outcomeOK {
			return result
		}
	}
	var tuple Tuple
	if result := s.tuple(&tuple); result != outcomeOK {
		return result
	}
	for {
		result := t.resolve(p, &tuple, zone)
		if result != outcomeOK {
			return result
		}
		if result = t.update(p, s); result != outcomeRepeat {
			return result
		}
		p.Attachment.detach(InfoNone)
	}
}

// resolve attaches the tuple's connection, a new one if there is none.
// Ref: nf_conntrack_core.c, resolve_normal_ct.
func (t *Table) resolve(p *Packet, tuple *Tuple, zone Zone) outcome {
	c, d := t.find(tuple, zone, p.Now)
	if c == nil {
		return t.create(p, tuple, zone)
	}
	t.stats.Found++
	c.refs++
	p.Attachment.attach(c, c.infoOf(d))
	return outcomeOK
}

// infoOf tells how a packet in a direction relates to the connection.
func (c *Conn) infoOf(d Direction) Info {
	switch {
	case d == Reply:
		return InfoEstablishedReply
	case c.Status&StatusSeenReply != 0:
		return InfoEstablished
	case c.Status&StatusExpected != 0:
		return InfoRelated
	}
	return InfoNew
}

// find looks a tuple up: with the zone's id for the original direction, then
// with that for replies.
func (t *Table) find(tuple *Tuple, zone Zone, now int64) (*Conn, Direction) {
	id := zone.For(Original)
	c, d := t.findIn(tuple, zone, id, now)
	if c == nil && zone.For(Reply) != id {
		c, d = t.findIn(tuple, zone, zone.For(Reply), now)
	}
	return c, d
}

// findIn looks a tuple up among those of one zone id. Expired connections on
// the way are removed.
func (t *Table) findIn(tuple *Tuple, zone Zone, id uint16, now int64) (*Conn, Direction) {
	hash := t.index.hash(tuple, id)
	for i := t.index.home(hash); ; i = t.index.next(i) {
		s := t.index.slots[i]
		if s.ref == 0 {
			return nil, Original
		}
		if s.hash != hash {
			continue
		}
		c, d := t.slabs.at(s.ref>>1-1), Direction(s.ref&1)
		if c.Tuples[d] != *tuple || c.Zone.For(d) != zone.For(d) {
			continue
		}
		if now >= c.expires {
			t.expire(c)
			return t.findIn(tuple, zone, id, now)
		}
		if tuple.SrcPort == tuple.DstPort && tuple.Src == tuple.Dst && c.Tuples[Reply] == *tuple {
			d = Reply // both ends are the same: the entry made last is found first
		}
		return c, d
	}
}

// update runs the protocol's tracker on the packet's connection.
func (t *Table) update(p *Packet, s *segment) outcome {
	a := p.Attachment
	c, d := a.Conn, a.Info.Direction()
	result := t.track(c, p, s, d)
	if result == outcomeOK && a.Info == InfoEstablishedReply {
		c.Status |= StatusSeenReply
	}
	return result
}

// track is the protocol's tracker.
// Ref: nf_conntrack_core.c, nf_conntrack_handle_packet.
func (t *Table) track(c *Conn, p *Packet, s *segment, d Direction) outcome {
	switch s.protocol {
	case packet.ProtoTCP:
		return t.tcp(c, p, s, d)
	case packet.ProtoUDP:
		return t.udp(c, p, s, d)
	case packet.ProtoUDPLite:
		if t.config.Before71 {
			return t.udpLite(c, p, s, d)
		}
	case packet.ProtoICMP, packet.ProtoICMPv6:
		return t.icmp(c, p, s, d)
	case packet.ProtoSCTP:
		return t.sctp(c, p, s, d)
	case packet.ProtoGRE:
		return t.gre(c, p, d)
	}
	t.refresh(c, p, d, c.policy(&t.timeouts.generic)[timeoutOnly])
	return outcomeOK
}

// refresh gives the connection a new time to live and counts the packet.
// Ref: nf_conntrack_core.c, __nf_ct_refresh_acct.
func (t *Table) refresh(c *Conn, p *Packet, d Direction, timeout int64) {
	switch {
	case c.Status&StatusFixedTimeout != 0:
	case c.Status&StatusConfirmed == 0:
		c.expires = timeout
	default:
		c.expires = p.Now + timeout
	}
	t.account(c, p, d)
}

// account counts the packet. Ref: nf_conntrack_core.c, nf_ct_acct_update.
func (t *Table) account(c *Conn, p *Packet, d Direction) {
	if t.config.Accounting {
		c.Packets[d]++
		c.Bytes[d] += uint64(p.View.NetLen)
	}
}
