package pipapo

import (
	"verdict/set/elem"
)

// maxWords is the number of 32-bit words in the longest key.
const maxWords = elem.MaxKeyLen / 4

// words is a key, or one end of a box, as big-endian numbers of 32 bits. The
// padding of fields is zero.
type words [maxWords]uint32

// layout knows how fields lie in the words of a key.
type layout struct {
	keyLen int
	n      int // words
	mask   words
	// head tells that a word is the first of its field.
	head [maxWords]bool
	// exact tells that each field is one word, so that comparing words
	// compares fields.
	exact bool
	// whole tells that the two words which buckets compare are the key.
	whole  bool
	fields []span
}

// span is the true bytes of a field in a key.
type span struct{ from, to int }

func newLayout(d *elem.Desc) *layout {
	l := &layout{keyLen: d.KeyLen, exact: true}
	at := 0
	for _, size := range d.Fields {
		l.fields = append(l.fields, span{at, at + int(size)})
		for left := int(size); left > 0; left -= 4 {
			l.head[l.n] = left == int(size)
			l.exact = l.exact && l.head[l.n]
			l.mask[l.n] = ^uint32(0)
			if left < 4 {
				l.mask[l.n] <<= 8 * (4 - left)
			}
			l.n++
		}
		at += elem.Padded(int(size))
	}
	l.whole = l.exact && l.n <= 2
	return l
}

// split reads a key of the right length.
func (l *layout) split(key []byte, w *words) {
	for i := 0; i < l.n && 4*i+4 <= len(key); i++ {
		k := key[4*i : 4*i+4]
		w[i] = (uint32(k[0])<<24 | uint32(k[1])<<16 | uint32(k[2])<<8 | uint32(k[3])) & l.mask[i]
	}
}

func (l *layout) splitString(key string, w *words) {
	for i := 0; i < l.n && 4*i+4 <= len(key); i++ {
		k := key[4*i : 4*i+4]
		w[i] = (uint32(k[0])<<24 | uint32(k[1])<<16 | uint32(k[2])<<8 | uint32(k[3])) & l.mask[i]
	}
}

// box returns the smallest ranges of words that hold all keys of an element. In
// a field of several words they hold other keys too: once the two ends differ
// in a word, the words after it may have any value.
func (l *layout) box(e *elem.Entry, low, high *words) {
	l.splitString(e.Key(), low)
	l.splitString(e.Last(), high)
	if l.exact {
		return
	}
	open := false
	for i := range l.n {
		if l.head[i] {
			open = false
		}
		if open {
			low[i], high[i] = 0, l.mask[i]
		} else if low[i] != high[i] {
			open = true
		}
	}
}

// holds tells whether the key lies in the element's ranges.
func (l *layout) holds(e *elem.Entry, key []byte) bool {
	low, high := e.Key(), e.Last()
	for _, f := range l.fields {
		k := key[f.from:f.to]
		if string(k) < low[f.from:f.to] || string(k) > high[f.from:f.to] {
			return false
		}
	}
	return true
}

// valid tells whether no field's start is above its end.
func (l *layout) valid(e *elem.Entry) bool {
	low, high := e.Key(), e.Last()
	for _, f := range l.fields {
		if low[f.from:f.to] > high[f.from:f.to] {
			return false
		}
	}
	return true
}
