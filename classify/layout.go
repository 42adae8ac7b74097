package classify

import (
	"fmt"

	"verdict/internal/simd"
)

// Field is a part of a key.
type Field struct {
	Name string
	Bits int // 1 to 128
}

// Layout says where the fields of a key are. It never changes.
type Layout struct {
	fields []fieldPlace
	words  int
}

// fieldPlace is where a field's 32-bit words are, most significant first.
type fieldPlace struct {
	Field
	bytes        int
	first, count int
}

// A Key holds the values of all fields of a layout: make one with NewKey and
// fill it with Set, or SetWord. Its form is the Layout's own.
type Key []uint32

// maxLines bounds the size of a key: 15 words, 23 words, and so on.
const maxLines = 4

// maxWords is the number of words that so many lines hold: lane 7 of the
// first line is taken, see simd.RowOrder.
func maxWords(lines int) int { return 8*lines - 1 }

// lane is where a word of a key is.
func lane(word int) int {
	if word >= simd.RowOrder {
		return word + 1
	}
	return word
}

// linesFor is the number of lines that hold so many words.
func linesFor(words int) int { return max(words+8, 8) / 8 }

// LayoutError says why fields make no layout.
type LayoutError struct{ Reason string }

func (e *LayoutError) Error() string { return "classify: " + e.Reason }

// NewLayout makes a layout. Fields have 1 to 128 bits; all together may take
// 31 words of 32 bits. The error is a *LayoutError.
func NewLayout(fields ...Field) (*Layout, error) {
	l := &Layout{}
	for _, f := range fields {
		if f.Bits < 1 || f.Bits > 128 {
			return nil, &LayoutError{fmt.Sprintf("field %q has %d bits, not 1 to 128", f.Name, f.Bits)}
		}
		p := fieldPlace{Field: f, bytes: (f.Bits + 7) / 8, first: l.words, count: (f.Bits + 31) / 32}
		l.fields = append(l.fields, p)
		l.words += p.count
	}
	if l.words > maxWords(maxLines) {
		return nil, &LayoutError{fmt.Sprintf("the fields take %d words, more than %d", l.words, maxWords(maxLines))}
	}
	return l, nil
}

// Fields lists the fields.
func (l *Layout) Fields() []Field {
	list := make([]Field, len(l.fields))
	for i := range l.fields {
		list[i] = l.fields[i].Field
	}
	return list
}

// NewKey returns a key whose fields are zero.
func (l *Layout) NewKey() Key { return make(Key, l.Stride()) }

// Stride is the number of words of a key: a batch of n keys is one slice of n
// times as many words.
func (l *Layout) Stride() int { return 8 * linesFor(l.words) }

// Set stores a field's value, big endian, as many bytes as the field has.
func (l *Layout) Set(k Key, field int, value []byte) {
	f := &l.fields[field]
	for i := range f.count {
		end := len(value) - 4*(f.count-1-i)
		w := uint32(0)
		for _, b := range value[max(end-4, 0):end] {
			w = w<<8 | uint32(b)
		}
		k[lane(f.first+i)] = w
	}
}

// Lane is where in a key the i-th word of a field is, the first being the most
// significant, for programs that store values without going through bytes.
func (l *Layout) Lane(field, i int) int { return lane(l.fields[field].first + i) }

// limit is the greatest value of a word of the field.
func (f *fieldPlace) limit(i int) uint32 {
	if i > 0 || f.Bits%32 == 0 {
		return ^uint32(0)
	}
	return 1<<(f.Bits%32) - 1
}

// confine cuts ranges to the values that the field can have, and leaves out
// those that have all and boxes that have none.
func (f *fieldPlace) confine(d disjunction) disjunction {
	limit := f.limit(0)
	if limit == ^uint32(0) {
		return d
	}
	out := d[:0]
next:
	for _, b := range d {
		kept := b[:0]
		for _, x := range b {
			if x.word == f.first && x.mask == ^uint32(0) {
				switch {
				case x.Low > limit && x.wraps():
					x.Range = span(0, x.high())
				case x.Low > limit:
					continue next
				case !x.wraps() && x.high() > limit:
					x.Range = span(x.Low, limit)
				}
				if x.Low == 0 && x.high() == limit {
					continue
				}
			}
			kept = append(kept, x)
		}
		out = append(out, kept)
	}
	return out
}
