package pipapo

import (
	"math/bits"
	"sync/atomic"

	"verdict/internal/simd"
	"verdict/set/elem"
)

// match is the tables of all fields, and what lookups in them need.
type match struct {
	fields   []field
	keyLen   int
	maxWords int // of the widest field's buckets
	slack    slackRule
	limit    int
	n        int // elements, once the match is live
	scratch  scratchPool
}

func newMatch(d *elem.Desc, limit int) *match {
	m := &match{keyLen: d.KeyLen, slack: slackFor(d.PageSize), limit: limit}
	offset := 0
	for i, n := range d.Fields {
		m.fields = append(m.fields, field{
			size: int(n), offset: offset, bits: 8, last: i == len(d.Fields)-1,
		})
		offset += elem.Padded(int(n))
	}
	return m
}

// clone copies the tables; the copy has scratch maps of its own.
//
// Ref: nft_set_pipapo.c, pipapo_clone
func (m *match) clone() *match {
	c := &match{keyLen: m.keyLen, maxWords: m.maxWords, slack: m.slack, limit: m.limit}
	c.fields = make([]field, len(m.fields))
	for i := range m.fields {
		c.fields[i] = m.fields[i].clone()
	}
	return c
}

func (m *match) last() *field { return &m.fields[len(m.fields)-1] }

// scratch is the two bit maps of a lookup: the rules of the current field that
// still match, and the candidates for the next one. Between lookups one of
// them, maps[clean], is all zero.
type scratch struct {
	clean int
	maps  [2][]uint64
}

// scratchPool lends a scratch to one lookup at a time. It belongs to one
// match, so the maps always have its width.
type scratchPool struct{ free [16]atomic.Pointer[scratch] }

func (p *scratchPool) take(words int) *scratch {
	for i := range p.free {
		if p.free[i].Load() != nil {
			if s := p.free[i].Swap(nil); s != nil && len(s.maps[0]) == words {
				return s
			}
		}
	}
	return &scratch{maps: [2][]uint64{make([]uint64, words), make([]uint64, words)}}
}

func (p *scratchPool) give(s *scratch) {
	for i := range p.free {
		if p.free[i].Load() == nil && p.free[i].CompareAndSwap(nil, s) {
			return
		}
	}
}

// generation chooses which elements a lookup may return. Its zero value stands
// for any: the packet path and the live state have no element to leave out.
type generation struct{ inactive map[*elem.Entry]struct{} }

func (g generation) active(e *elem.Entry) bool {
	if g.inactive == nil {
		return true
	}
	_, no := g.inactive[e]
	return !no
}

// get is the one lookup, for packets and control plane alike: the first
// element in rule order that matches the key, is active in the generation and
// not expired at now. If such a candidate is rejected, the search goes on with
// the next one.
//
// Ref: nft_set_pipapo.c, pipapo_get_slow
func (m *match) get(key []byte, g generation, now int64) *elem.Entry {
	if m.last().rules == 0 || len(key) < m.keyLen {
		return nil
	}
	s := m.scratch.take(m.maxWords)
	e := m.search(s, key, g, now)
	m.scratch.give(s)
	return e
}

func (m *match) search(s *scratch, key []byte, g generation, now int64) *elem.Entry {
	result, fill := s.maps[1-s.clean], s.maps[s.clean]
	for i := range m.fields {
		f := &m.fields[i]
		f.intersect(result, key, i > 0)
		if i == 0 {
			clear(result[f.words:]) // an earlier lookup may have ended in a wider field
		}
		if f.last {
			return f.firstOf(result[:f.words], g, now)
		}
		if !f.refill(result[:f.words], fill) {
			return nil
		}
		// The result is all zero now and becomes the map to fill next.
		result, fill = fill, result
		s.clean = 1 - s.clean
	}
	return nil
}

// intersect leaves in result the rules of the field that match the key, among
// those in result if keep is set.
func (f *field) intersect(result []uint64, key []byte, keep bool) {
	part := key[f.offset : f.offset+f.size]
	if f.bits == 8 {
		simd.And8(result, f.table, f.words, part, keep)
	} else {
		simd.And4(result, f.table, f.words, part, keep)
	}
}

// refill sets in fill the next field's rules of all rules in result, clears
// result, and tells whether there were any.
//
// Ref: nft_set_pipapo.c, pipapo_refill
func (f *field) refill(result, fill []uint64) bool {
	any := false
	for w, word := range result {
		if word == 0 {
			continue
		}
		result[w] = 0
		for ; word != 0; word &= word - 1 {
			r := w*wordBits + bits.TrailingZeros64(word)
			if r >= len(f.maps.items) {
				break
			}
			setRun(fill, int(f.maps.items[r].to), int(f.maps.items[r].n))
			any = true
		}
	}
	return any
}

func setRun(m []uint64, first, n int) {
	for i := first; i < first+n; i++ {
		m[i/wordBits] |= 1 << (i % wordBits)
	}
}

// firstOf returns the first element in result that may be returned.
func (f *field) firstOf(result []uint64, g generation, now int64) *elem.Entry {
	for w, word := range result {
		for ; word != 0; word &= word - 1 {
			r := w*wordBits + bits.TrailingZeros64(word)
			if r >= len(f.ents.items) {
				return nil
			}
			if e := f.ents.items[r]; !e.Expired(now) && g.active(e) {
				return e
			}
		}
	}
	return nil
}
