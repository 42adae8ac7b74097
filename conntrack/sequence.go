package conntrack

import (
	"encoding/binary"

	"verdict/packet"
)

// sequenceShift says by how much the payload of one direction has grown: by
// before up to a position, by after behind it.
// Ref: nf_conntrack_seqadj.h, struct nf_ct_seqadj.
type sequenceShift struct {
	position      uint32
	before, after int32
}

// at is the shift of a sequence number.
func (s *sequenceShift) at(seq uint32) int32 {
	if after(seq, s.position) {
		return s.after
	}
	return s.before
}

// grow notes that the payload at a sequence number grew.
// Ref: nf_conntrack_seqadj.c, nf_ct_seqadj_set.
func (s *sequenceShift) grow(seq uint32, by int32) {
	if s.before == s.after || before(s.position, seq) {
		s.position, s.before = seq, s.after
		s.after += by
	}
}

// shifts returns the connection's shifts, making them if needed.
func (c *Conn) shifts() *[2]sequenceShift {
	r := c.rarely()
	if r.adjust == nil {
		r.adjust = new([2]sequenceShift)
	}
	return r.adjust
}

// adjustSequence moves the packet's sequence and acknowledgement numbers by
// what a helper added to payloads.
// Ref: nf_conntrack_seqadj.c, nf_ct_seq_adjust.
func (t *Table) adjustSequence(p *Packet, c *Conn) Result {
	if c.Status&StatusSeqAdjust == 0 || c.rare.adjust == nil || p.Buffer == nil {
		return Accept
	}
	var s segment
	var h tcpHeader
	if s.find(p.View) != outcomeOK || s.protocol != packet.ProtoTCP || h.read(&s) != outcomeOK {
		return Accept
	}
	d := p.Attachment.Info.Direction()
	own, other := &c.rare.adjust[d], &c.rare.adjust[1-d]
	p.write32(s.at+4, h.seq+uint32(own.at(h.seq)))
	if h.flags&flagACK == 0 {
		return Accept
	}
	p.write32(s.at+8, h.ack-uint32(other.answered(h.ack)))
	for at := range h.sackEdges() {
		edge := binary.BigEndian.Uint32(h.options[at:])
		p.write32(s.at+20+at, edge-uint32(other.answered(edge)))
	}
	return Accept
}

// answered is the shift of a number that the other end acknowledges.
func (s *sequenceShift) answered(ack uint32) int32 {
	if after(ack-uint32(s.before), s.position) {
		return s.after
	}
	return s.before
}

// write32 writes into the TCP header.
func (p *Packet) write32(at int, value uint32) {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], value)
	p.Buffer.TCPBytes(p.View, at, b[:])
}

// sackEdges visits the offsets of the edges of selective acknowledgements
// within the options.
func (h *tcpHeader) sackEdges() func(func(int) bool) {
	return func(yield func(int) bool) {
		for at := 0; at < len(h.options); {
			kind := h.options[at]
			if kind == optionEnd {
				return
			}
			if kind == optionNop {
				at++
				continue
			}
			if at+1 >= len(h.options) {
				return
			}
			n := int(h.options[at+1])
			if n < 2 || at+n > len(h.options) {
				return
			}
			if kind == optionSACK && n >= 10 && (n-2)%8 == 0 {
				for edge := at + 2; edge < at+n; edge += 4 {
					if !yield(edge) {
						return
					}
				}
			}
			at += n
		}
	}
}
