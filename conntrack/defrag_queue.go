package conntrack

import (
	"container/list"
	"encoding/binary"
	"slices"

	"verdict/packet"
	"verdict/packet/rewrite"
)

// fragmentQueue is a datagram that is not complete.
type fragmentQueue struct {
	key        fragmentKey
	deadline   int64
	age        *list.Element
	rank       uint32 // IPv4: fragments of the source seen when the last one came
	memory     int
	fragments  []fragment // by offset
	runs       []span     // pieces without gap, by offset
	length     int        // of the payload, as far as is known
	meat       int        // payload bytes received
	hasFirst   bool
	hasLast    bool
	ecn        uint8 // set of the codepoints seen, one bit each
	maxSize    int
	maxDF      int // largest fragment with DF
	link       packet.LinkType
	header     []byte // of the first fragment: link and IP header
	network    int    // offset of the IP header in it
	nextHeader int    // IPv6: offset of the field that names the fragment header
	protocol   uint8  // IPv6: what the fragment header names

	hasTemplate bool
	template    Zone
	mark        uint32
}

// span is a piece of the payload: [start, end).
type span struct{ start, end int }

// fragmentOutcome is what a fragment does to its queue.
type fragmentOutcome uint8

const (
	fragmentKept    fragmentOutcome = iota
	fragmentUseless                 // the fragment is dropped
	fragmentSpoils                  // the whole queue is given up
	fragmentPasses                  // likewise, and the fragment goes on by itself
)

// skbOverhead is about what the kernel's buffers cost beside their data.
const skbOverhead = 768

// add enters a fragment. Overlapping pieces spoil the datagram, repeated ones
// are dropped.
// Ref: ip_fragment.c, ip_frag_queue; nf_conntrack_reasm.c, nf_ct_frag6_queue.
func (d *Defrag) add(q *fragmentQueue, f *fragment, now int64) fragmentOutcome {
	if !q.key.six && d.tooFar(q) {
		d.memory -= q.memory
		*q = fragmentQueue{key: q.key, age: q.age, rank: q.rank}
		d.startTime(q, now)
	}
	if outcome := q.bounds(f); outcome != fragmentKept {
		return outcome
	}
	switch q.fit(span{f.offset, f.end}) {
	case fragmentUseless:
		return fragmentUseless
	case fragmentSpoils:
		return fragmentSpoils
	}
	f.data = slices.Clone(f.data[:min(len(f.data), f.end-f.offset)])
	at, _ := slices.BinarySearchFunc(q.fragments, f.offset, func(x fragment, offset int) int { return x.offset - offset })
	q.fragments = slices.Insert(q.fragments, at, *f)
	q.meat += f.end - f.offset
	q.ecn |= f.ecn
	q.maxSize = max(q.maxSize, f.size)
	if f.dontFragment {
		q.maxDF = max(q.maxDF, f.size)
	}
	cost := f.end - f.offset + skbOverhead
	q.memory += cost
	d.memory += cost
	return fragmentKept
}

// tooFar reports whether so many other fragments of the source came since the
// queue's last one that its identification may have been used again.
// Ref: ip_fragment.c, ip_frag_too_far.
func (d *Defrag) tooFar(q *fragmentQueue) bool {
	if len(d.arrive) > maxSources {
		clear(d.arrive)
	}
	now := d.arrive[q.key.src] + 1
	d.arrive[q.key.src] = now
	far := len(q.fragments) > 0 && now-q.rank > fragmentMaxDist
	q.rank = now
	return far
}

// bounds checks the fragment against the end of the datagram. A piece before
// the last has a length of full eight bytes.
func (q *fragmentQueue) bounds(f *fragment) fragmentOutcome {
	wrong := fragmentSpoils
	if q.key.six {
		wrong = fragmentUseless
	}
	if !f.more {
		if f.end < q.length || q.hasLast && f.end != q.length {
			return wrong
		}
		q.hasLast, q.length = true, f.end
	} else {
		if f.end&7 != 0 {
			if q.key.six {
				return fragmentPasses
			}
			f.end &^= 7
		}
		if f.end > q.length {
			if q.hasLast {
				return wrong
			}
			q.length = f.end
		}
	}
	if f.end == f.offset {
		return wrong
	}
	return fragmentKept
}

// fit finds the piece's place among those received.
// Ref: inet_fragment.c, inet_frag_queue_insert.
func (q *fragmentQueue) fit(s span) fragmentOutcome {
	if len(q.runs) == 0 {
		q.runs = append(q.runs, s)
		return fragmentKept
	}
	if last := &q.runs[len(q.runs)-1]; last.end < s.end {
		switch {
		case s.start < last.end:
			return fragmentSpoils
		case s.start == last.end:
			last.end = s.end
		default:
			q.runs = append(q.runs, s)
		}
		return fragmentKept
	}
	for i, run := range q.runs {
		switch {
		case s.start >= run.end:
			continue
		case s.end <= run.start:
			q.runs = slices.Insert(q.runs, i, s)
			return fragmentKept
		case s.start >= run.start && s.end <= run.end:
			return fragmentUseless
		}
		return fragmentSpoils
	}
	return fragmentSpoils
}

func (q *fragmentQueue) complete() bool { return q.hasFirst && q.hasLast && q.meat == q.length }

// keepFirst keeps what the datagram has from its first fragment.
func (q *fragmentQueue) keepFirst(v *packet.View, f *fragment, a *Attachment, mark *uint32) {
	q.hasFirst = true
	q.link, q.network = v.Link, v.NetOff
	q.header = slices.Clone(v.Data[:f.header])
	q.nextHeader, q.protocol = f.nextHeader, f.protocol
	q.hasTemplate, q.template, q.mark = a.HasTemplate, a.TemplateZone, *mark
}

func (q *fragmentQueue) reassembly() *Reassembly {
	r := &Reassembly{MaxSize: q.maxSize, DF: q.maxDF == q.maxSize}
	for _, f := range q.fragments {
		r.Sizes = append(r.Sizes, f.end-f.offset)
	}
	return r
}

// congestion merges the ECN codepoints of a datagram's fragments: what is to be
// set in the first one's, and false for a mix that must not be.
// Ref: inet_fragment.c, ip_frag_ecn_table; RFC 3168 §5.3.
func congestion(seen uint8) (set uint8, ok bool) {
	const notECT, ect1, ect0, ce = 1, 2, 4, 8
	switch {
	case seen&notECT != 0 && seen != notECT:
		return 0, false
	case seen&ce != 0 && seen&(ect0|ect1) != 0:
		return 3, true
	}
	return 0, true
}

// rebuild writes the datagram. Where the capture lacks a part of it, the
// datagram is cut there.
// Ref: ip_fragment.c, ip_frag_reasm; nf_conntrack_reasm.c, nf_ct_frag6_reasm.
func (q *fragmentQueue) rebuild(v *packet.View, b *rewrite.Buffer) bool {
	ecn, ok := congestion(q.ecn)
	headerLen := len(q.header) - q.network
	counted := headerLen + q.length
	if q.key.six {
		counted -= 40
	}
	if !ok || counted > maxDatagram {
		return false
	}
	prefix := q.header[:q.network]
	if q.link != v.Link {
		prefix = v.Data[:v.NetOff]
	}
	frame := make([]byte, 0, len(prefix)+headerLen+q.length)
	frame = append(append(frame, prefix...), q.header[q.network:]...)
	h := frame[len(prefix):]
	if q.key.six {
		binary.BigEndian.PutUint16(h[4:], uint16(counted))
		h[1] |= ecn << 4
		h[q.nextHeader] = q.protocol
	} else {
		binary.BigEndian.PutUint16(h[2:], uint16(counted))
		h[1] |= ecn
		binary.BigEndian.PutUint16(h[6:], 0)
		if q.maxDF == q.maxSize {
			h[6] = 0x40
		}
		binary.BigEndian.PutUint16(h[10:], packet.IPv4HeaderChecksum(h))
	}
	whole := len(frame) + q.length
	for _, f := range q.fragments {
		frame = append(frame, f.data...)
		if len(f.data) < f.end-f.offset {
			break
		}
	}
	b.Set(v, frame, len(prefix), whole)
	return true
}
