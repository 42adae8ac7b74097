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

// span is where a field lies in a key: its true bytes, and its words.
type span struct {
	from, to    int
	word, words uint8
	// mask is what counts of the first two words of a field with two, or of
	// those behind them where there are more.
	mask uint64
}

func newLayout(d *elem.Desc) *layout {
	l := &layout{keyLen: d.KeyLen, exact: true}
	at := 0
	for _, size := range d.Fields {
		f := span{from: at, to: at + int(size), word: uint8(l.n), words: uint8((size + 3) / 4)}
		f.mask = ^uint64(0) << (8 * (7 - (uint(size)-1)%8))
		l.fields = append(l.fields, f)
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

// holds tells whether a key, split into words, lies in the element's ranges.
// Fields of one word that is a or b have been compared already.
func (l *layout) holds(e *elem.Entry, w *words, a, b uint8) bool {
	low, high := e.Bounds()
	for i := range l.fields {
		f := &l.fields[i]
		at := int(f.word)
		switch f.words {
		case 4:
			x1, x0 := pair(w, at), pair(w, at+2)&f.mask
			first, last := low[4*at:4*at+16], high[4*at:4*at+16]
			if below(x1, x0, number64(first), number64(first[8:])&f.mask) || below(number64(last), number64(last[8:])&f.mask, x1, x0) {
				return false
			}
		case 1:
			if f.word == a || f.word == b {
				continue
			}
			mask := l.mask[at&(maxWords-1)]
			first := number32(low[4*at:]) & mask
			if w[at&(maxWords-1)]-first > number32(high[4*at:])&mask-first {
				return false
			}
		case 2:
			x, first := pair(w, at), number64(low[4*at:])&f.mask
			if x-first > number64(high[4*at:])&f.mask-first {
				return false
			}
		default: // three words
			x1, x0 := pair(w, at), pair(w, at+2)&f.mask
			first, last := low[4*at:4*at+12], high[4*at:4*at+12]
			if below(x1, x0, number64(first), uint64(number32(first[8:]))<<32&f.mask) || below(number64(last), uint64(number32(last[8:]))<<32&f.mask, x1, x0) {
				return false
			}
		}
	}
	return true
}

func number32(s string) uint32 {
	_ = s[3]
	return uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])
}

func number64(s string) uint64 {
	_ = s[7]
	return uint64(s[0])<<56 | uint64(s[1])<<48 | uint64(s[2])<<40 | uint64(s[3])<<32 |
		uint64(s[4])<<24 | uint64(s[5])<<16 | uint64(s[6])<<8 | uint64(s[7])
}

func pair(w *words, i int) uint64 {
	return uint64(w[i&(maxWords-1)])<<32 | uint64(w[(i+1)&(maxWords-1)])
}

// below tells whether one number of 128 bits is below another.
func below(a1, a0, b1, b0 uint64) bool {
	return a1 < b1 || a1 == b1 && a0 < b0
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
