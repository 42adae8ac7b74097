package conntrack

import "encoding/binary"

// sctpChunk is one chunk of a packet.
type sctpChunk struct {
	kind, flags uint8
	length      int
	at          int // offset from the SCTP header
}

// chunk reads the chunk at an offset from the SCTP header, and false where the
// packet, or what was captured of it, ends.
func (s *segment) chunk(at int) (sctpChunk, bool) {
	h, result := s.bytes(at, 4)
	if result != outcomeOK {
		return sctpChunk{}, false
	}
	return sctpChunk{kind: h[0], flags: h[1], length: int(binary.BigEndian.Uint16(h[2:])), at: at}, true
}

// next is where the following chunk starts.
func (k *sctpChunk) next() int { return k.at + (k.length+3)&^3 }

// sctpHeaderLen is the length of the common header.
const sctpHeaderLen = 12

// chunkSet says which chunk types a packet holds.
type chunkSet [4]uint64

func (b *chunkSet) add(kind uint8)      { b[kind>>6] |= 1 << (kind & 63) }
func (b *chunkSet) has(kind uint8) bool { return b[kind>>6]>>(kind&63)&1 != 0 }

func (b *chunkSet) any(kinds uint64) bool { return b[0]&kinds != 0 }

// chunks checks how chunks are combined.
// Ref: nf_conntrack_proto_sctp.c, do_basic_checks; RFC 9260 §6.10.
func (s *segment) chunks(set *chunkSet) bool {
	alone := false
	count := 0
	for at := sctpHeaderLen; ; count++ {
		k, ok := s.chunk(at)
		if !ok {
			break
		}
		mustBeFirst := k.kind == chunkCookieAck || k.kind == chunkCookieEcho
		if k.kind == chunkInit || k.kind == chunkInitAck || k.kind == chunkShutdownComplete {
			alone = true
		}
		if (mustBeFirst || alone) && count > 0 || k.length == 0 {
			return false
		}
		set.add(k.kind)
		at = k.next()
	}
	return count > 0 || s.cut()
}

// sctp tracks an SCTP packet.
// Ref: nf_conntrack_proto_sctp.c, nf_conntrack_sctp_packet.
func (t *Table) sctp(c *Conn, p *Packet, s *segment, d Direction) outcome {
	h, result := s.bytes(0, sctpHeaderLen)
	if result != outcomeOK {
		return result
	}
	if !t.checksumOK(p, s) {
		return outcomeInvalid
	}
	var set chunkSet
	if !s.chunks(&set) {
		return outcomeInvalid
	}
	if set.any(1<<chunkInit | 1<<chunkInitAck) {
		if _, result = s.bytes(sctpHeaderLen+4, 4); result == outcomeUnknown {
			return result
		}
	}
	w := sctpWalk{s: s, c: c, k: &c.proto.sctp, d: d, set: &set, tag: binary.BigEndian.Uint32(h[4:])}
	if c.Status&StatusConfirmed == 0 && !w.opens() {
		return outcomeInvalid
	}
	const ownTagRule = 1<<chunkInit | 1<<chunkShutdownComplete | 1<<chunkCookieEcho | 1<<chunkAbort |
		1<<chunkShutdownAck | 1<<chunkHeartbeat | 1<<chunkHeartbeatAck
	if !set.any(ownTagRule) && w.tag != w.k.tags[d] {
		return outcomeInvalid
	}
	for at := sctpHeaderLen; ; {
		chunk, ok := s.chunk(at)
		if !ok {
			break
		}
		if !w.chunk(&chunk) {
			return outcomeInvalid
		}
		at = chunk.next()
	}
	if w.quiet {
		return outcomeOK
	}
	t.refresh(c, p, d, c.policy(&t.timeouts.sctp)[w.k.state])
	if w.established {
		c.Status |= StatusAssured
	}
	return outcomeOK
}

// sctpWalk is the walk along the chunks of a packet.
type sctpWalk struct {
	s           *segment
	c           *Conn
	k           *sctpState
	d           Direction
	set         *chunkSet
	tag         uint32 // the packet's verification tag
	quiet       bool   // the packet passes without refreshing
	established bool
}

// opens decides whether a packet may open an association.
// Ref: nf_conntrack_proto_sctp.c, sctp_new.
func (w *sctpWalk) opens() bool {
	if w.set.any(1<<chunkAbort | 1<<chunkShutdownComplete | 1<<chunkCookieAck) {
		return false
	}
	*w.k = sctpState{}
	for at := sctpHeaderLen; ; {
		chunk, ok := w.s.chunk(at)
		if !ok {
			return true
		}
		if sctpNext(Original, chunk.kind, sctpNone) == sctpNone {
			return false
		}
		switch chunk.kind {
		case chunkInit:
			initiate, ok := w.initiateTag(&chunk)
			if w.tag != 0 || !ok {
				return false
			}
			w.k.tags[Reply] = initiate
		case chunkHeartbeat:
			w.k.tags[Original] = w.tag
		case chunkShutdownAck:
			w.k.tags[Reply] = w.tag
		}
		at = chunk.next()
	}
}

// initiateTag reads the tag that an INIT or INIT-ACK announces; the chunk's
// fixed part must be there.
func (w *sctpWalk) initiateTag(chunk *sctpChunk) (uint32, bool) {
	const fixed = 16
	b, result := w.s.bytes(chunk.at+4, fixed)
	if result == outcomeUnknown {
		b, result = w.s.bytes(chunk.at+4, 4)
	}
	if result != outcomeOK {
		return 0, false
	}
	return binary.BigEndian.Uint32(b), true
}

// chunk takes one chunk into account; false makes the packet invalid.
func (w *sctpWalk) chunk(chunk *sctpChunk) bool {
	k, other := w.k, 1-w.d
	switch chunk.kind {
	case chunkInit:
		if w.tag != 0 {
			return false
		}
	case chunkAbort, chunkShutdownComplete:
		want := k.tags[w.d]
		if chunk.flags&1 != 0 {
			want = k.tags[other]
		}
		if w.tag != want {
			return false
		}
	case chunkCookieEcho:
		if w.tag != k.tags[w.d] {
			return false
		}
	case chunkCookieAck:
		k.sawInit = [2]bool{}
	case chunkHeartbeat:
		if skip, ok := w.heartbeat(); skip || !ok {
			return ok
		}
	case chunkHeartbeatAck:
		if !w.heartbeatAck() {
			return false
		}
	}
	old := k.state
	next := sctpNext(w.d, chunk.kind, old)
	if next == sctpInvalid {
		return false
	}
	switch chunk.kind {
	case chunkInit:
		if !w.init(chunk, old, next) {
			return false
		}
	case chunkInitAck:
		if !w.initAck(chunk) {
			return false
		}
	}
	k.state = next
	if next == sctpEstablished && old != next {
		w.established = true
	}
	return true
}

// heartbeat learns or checks the tag. One that is wrong may come from another
// path of the same association: it passes once, and nothing else with it.
func (w *sctpWalk) heartbeat() (skip, ok bool) {
	k := w.k
	switch {
	case k.tags[w.d] == 0:
		k.tags[w.d] = w.tag
	case w.tag != k.tags[w.d]:
		if w.set.has(chunkData) || w.quiet {
			return false, false
		}
		k.suspect, k.suspectDir, w.quiet = true, w.d, true
		return true, true
	default:
		k.suspect = false
	}
	return false, true
}

// heartbeatAck accepts a new tag where the heartbeat had one too.
func (w *sctpWalk) heartbeatAck() bool {
	k := w.k
	switch {
	case k.tags[w.d] == 0:
		k.tags[w.d] = w.tag
	case w.tag != k.tags[w.d]:
		if w.set.has(chunkData) || w.quiet || !k.suspect || k.suspectDir == w.d {
			return false
		}
		k.suspect = false
		k.tags[w.d], k.tags[1-w.d] = w.tag, 0
	default:
		k.suspect = false
	}
	return true
}

// init notes the tag that the other direction will use. A repeated INIT does
// not keep a closed association alive.
func (w *sctpWalk) init(chunk *sctpChunk, old, next uint8) bool {
	initiate, ok := w.initiateTag(chunk)
	if !ok {
		return false
	}
	k, other := w.k, 1-w.d
	if initiate != k.tags[other] || w.c.Status&StatusConfirmed == 0 {
		if k.sawInit[w.d] && k.sawInit[other] {
			k.sawInit[other] = false
		}
		k.sawInit[w.d] = true
	}
	k.tags[other] = initiate
	if old == sctpClosed && next == sctpClosed && w.c.Status&StatusConfirmed != 0 {
		w.quiet = true
	}
	return true
}

// initAck checks the tag against what an INIT of this side announced.
func (w *sctpWalk) initAck(chunk *sctpChunk) bool {
	initiate, ok := w.initiateTag(chunk)
	if !ok {
		return false
	}
	k, other := w.k, 1-w.d
	differs := k.tags[other] != initiate
	switch {
	case !k.sawInit[other] && k.tags[other] != 0 && differs,
		k.sawInit[w.d] && k.sawInit[other] && differs:
		return false
	}
	k.tags[other] = initiate
	return true
}
