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

func newFlowerMask(mask *offload.Key, first, end int) *flowerMask {
	m := &flowerMask{mask: *mask, buckets: make([]*flowerFilter, 4)}
	m.first, m.end = first, end
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

// maskedWords takes the words of a mask's span out of a key, and their hash
// under the mask.
func maskedWords(k, mask *offload.Key, first, end int) ([]uint64, uint64) {
	out := make([]uint64, (end-first)/8)
	h := uint64(0)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(k[first+8*i:])
		h = mix(h, out[i]&binary.LittleEndian.Uint64(mask[first+8*i:]))
	}
	return out, h
}

// words takes the words of the mask's span out of a key, and their hash under
// the mask.
func (m *flowerMask) words(k *offload.Key) ([]uint64, uint64) {
	out := make([]uint64, len(m.spanWords))
	h := uint64(0)
	for i, w := range m.spanWords {
		out[i] = binary.LittleEndian.Uint64(k[m.first+8*i:])
		h = mix(h, out[i]&w)
	}
	return out, h
}

// exact finds the filter with these words under the mask.
func (m *flowerMask) exact(words []uint64, hash uint64) *flowerFilter {
	for f := m.buckets[hash&uint64(len(m.buckets)-1)]; f != nil; f = f.next {
		if f.hash != hash {
			continue
		}
		same := true
		for i, w := range m.spanWords {
			same = same && (f.raw[i]^words[i])&w == 0
		}
		if same {
			return f
		}
	}
	return nil
}

// key is the whole key of a filter, for listings and hardware.
func (f *flowerFilter) key() *offload.Key {
	k := new(offload.Key)
	if f.full != nil {
		*k = *f.full
	}
	for i, w := range f.raw {
		binary.LittleEndian.PutUint64(k[f.mask.first+8*i:], w)
	}
	return k
}

// byteAt is one byte of the key, 0 outside the mask's span.
func (f *flowerFilter) byteAt(at int) byte {
	if at < f.mask.first || at >= f.mask.end {
		return 0
	}
	at -= f.mask.first
	return byte(f.raw[at/8] >> (8 * (at % 8)))
}

// port is a field of two bytes of the key.
func (f *flowerFilter) port(field offload.Field) uint16 {
	return uint16(f.byteAt(field.Off))<<8 | uint16(f.byteAt(field.Off+1))
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
		if (binary.LittleEndian.Uint64(b[8*i:])^f.raw[i])&w != 0 {
			return false
		}
	}
	return true
}

// scan is the plain form of lookup: every filter, every byte.
func (m *flowerMask) scan(k *offload.Key) *flowerFilter {
	for _, head := range m.buckets {
		for f := head; f != nil; f = f.next {
			same, key := true, f.key()
			for i := range k {
				same = same && (k[i]^key[i])&m.mask[i] == 0
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
	if n < f.port(low) || n > f.port(high) {
		return false
	}
	binary.BigEndian.PutUint16(key.Get(low), f.port(low))
	binary.BigEndian.PutUint16(key.Get(high), f.port(high))
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
