package tc

import (
	"encoding/binary"
	"slices"

	"verdict/offload"
)

// flowerMask is a mask with the filters that use it, in a hash table over the
// words that the mask spans.
//
// Ref: cls_flower.c, struct fl_flow_mask
type flowerMask struct {
	mask       offload.Key
	first, end int // the span in bytes, whole words
	spanWords  []uint64
	ranged     bool
	filters    []*flowerFilter // of a mask with ranges, in order
	buckets    []*flowerFilter
	count      int
}

func newFlowerMask(mask *offload.Key) *flowerMask {
	m := &flowerMask{mask: *mask, buckets: make([]*flowerFilter, 4)}
	m.first, m.end = mask.Span()
	m.ranged = mask.IsSet(offload.FieldRangeSrcMin) || mask.IsSet(offload.FieldRangeDstMin)
	for at := m.first; at < m.end; at += 8 {
		m.spanWords = append(m.spanWords, binary.LittleEndian.Uint64(mask[at:]))
	}
	return m
}

// mix is the hash's step.
func mix(h, w uint64) uint64 {
	h = (h ^ w) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// words masks a key; the result is what is compared.
func (m *flowerMask) words(k *offload.Key) ([]uint64, uint64) {
	out := make([]uint64, len(m.spanWords))
	h := uint64(0)
	for i, w := range m.spanWords {
		out[i] = binary.LittleEndian.Uint64(k[m.first+8*i:]) & w
		h = mix(h, out[i])
	}
	return out, h
}

// exact finds the filter with these words.
func (m *flowerMask) exact(words []uint64, hash uint64) *flowerFilter {
	for f := m.buckets[hash&uint64(len(m.buckets)-1)]; f != nil; f = f.next {
		if f.hash == hash && slices.Equal(f.masked, words) {
			return f
		}
	}
	return nil
}

// lookup finds the packet's filter.
//
// Ref: cls_flower.c, fl_mask_lookup
func (m *flowerMask) lookup(k *offload.Key, linear bool) *flowerFilter {
	if m.ranged {
		return m.lookupRange(k)
	}
	if linear {
		return m.scan(k)
	}
	h := uint64(0)
	b := k[m.first:m.end]
	for i, w := range m.spanWords {
		h = mix(h, binary.LittleEndian.Uint64(b[8*i:])&w)
	}
	for f := m.buckets[h&uint64(len(m.buckets)-1)]; f != nil; f = f.next {
		if f.hash == h && m.equal(f, b) {
			return f
		}
	}
	return nil
}

func (m *flowerMask) equal(f *flowerFilter, b []byte) bool {
	for i, w := range m.spanWords {
		if binary.LittleEndian.Uint64(b[8*i:])&w != f.masked[i] {
			return false
		}
	}
	return true
}

// scan is the plain form of lookup: every filter, every byte.
func (m *flowerMask) scan(k *offload.Key) *flowerFilter {
	for _, head := range m.buckets {
		for f := head; f != nil; f = f.next {
			same := true
			for i := range k {
				same = same && (k[i]^f.key[i])&m.mask[i] == 0
			}
			if same {
				return f
			}
		}
	}
	return nil
}

// lookupRange goes through the filters in order: of each whose ranges hold the
// packet's ports, the rest of the key is looked up with its bounds.
//
// Ref: cls_flower.c, fl_lookup_range
func (m *flowerMask) lookupRange(k *offload.Key) *flowerFilter {
	key := *k
	for _, f := range m.filters {
		if !m.within(f, k, &key, offload.FieldRangeDst, offload.FieldRangeDstMin, offload.FieldRangeDstMax) ||
			!m.within(f, k, &key, offload.FieldRangeSrc, offload.FieldRangeSrcMin, offload.FieldRangeSrcMax) {
			continue
		}
		words, hash := m.words(&key)
		if found := m.exact(words, hash); found != nil {
			return found
		}
	}
	return nil
}

// within compares a port with a filter's range and puts the bounds into key.
func (m *flowerMask) within(f *flowerFilter, k, key *offload.Key, port, low, high offload.Field) bool {
	if !m.mask.IsSet(low) || !m.mask.IsSet(high) {
		return true
	}
	n := binary.BigEndian.Uint16(k.Get(port))
	if n < binary.BigEndian.Uint16(f.key.Get(low)) || n > binary.BigEndian.Uint16(f.key.Get(high)) {
		return false
	}
	copy(key.Get(low), f.key.Get(low))
	copy(key.Get(high), f.key.Get(high))
	return true
}

func (m *flowerMask) insert(f *flowerFilter) {
	if m.count >= len(m.buckets) {
		m.resize(len(m.buckets) * 4)
	}
	m.link(f)
	m.count++
	if m.ranged {
		m.filters = append(m.filters, f)
	}
}

func (m *flowerMask) link(f *flowerFilter) {
	at := f.hash & uint64(len(m.buckets)-1)
	f.next, m.buckets[at] = m.buckets[at], f
}

func (m *flowerMask) resize(n int) {
	old := m.buckets
	m.buckets = make([]*flowerFilter, n)
	for _, f := range old {
		for f != nil {
			next := f.next
			m.link(f)
			f = next
		}
	}
}

func (m *flowerMask) unlink(f *flowerFilter) {
	for p := &m.buckets[f.hash&uint64(len(m.buckets)-1)]; *p != nil; p = &(*p).next {
		if *p == f {
			*p = f.next
			f.next = nil
			return
		}
	}
}

func (m *flowerMask) remove(f *flowerFilter) {
	m.unlink(f)
	m.count--
	if i := slices.Index(m.filters, f); i >= 0 {
		m.filters = slices.Delete(m.filters, i, i+1)
	}
}

// swap puts a filter in another's place.
func (m *flowerMask) swap(old, f *flowerFilter) {
	m.unlink(old)
	m.link(f)
	if i := slices.Index(m.filters, old); i >= 0 {
		m.filters[i] = f
	}
}
