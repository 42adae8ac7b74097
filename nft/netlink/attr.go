package netlink

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// An attribute is a length, a type and a value, padded to four bytes. The
// upper two bits of the type are flags.
// Ref: include/uapi/linux/netlink.h, struct nlattr.
const (
	attrHeader = 4
	attrNested = 0x8000
	attrType   = 0x3fff
	maxAttr    = 0xffff
)

// errTooLong is for values that no attribute can hold.
var errTooLong = errors.New("an attribute is longer than 65531 bytes")

// builder appends attributes.
type builder struct {
	b   []byte
	err error
}

func (w *builder) header(t uint16, n int) {
	if n > maxAttr-attrHeader {
		w.err = errTooLong
		n = 0
	}
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(n+attrHeader))
	w.b = binary.LittleEndian.AppendUint16(w.b, t)
}

func (w *builder) pad() {
	for len(w.b)%4 != 0 {
		w.b = append(w.b, 0)
	}
}

func (w *builder) u8(t uint16, v uint8) {
	w.header(t, 1)
	w.b = append(w.b, v, 0, 0, 0)
}

func (w *builder) u16(t uint16, v uint16) {
	w.header(t, 2)
	w.b = append(binary.BigEndian.AppendUint16(w.b, v), 0, 0)
}

func (w *builder) u32(t uint16, v uint32) {
	w.header(t, 4)
	w.b = binary.BigEndian.AppendUint32(w.b, v)
}

func (w *builder) u64(t uint16, v uint64) {
	w.header(t, 8)
	w.b = binary.BigEndian.AppendUint64(w.b, v)
}

func (w *builder) bytes(t uint16, v []byte) {
	w.header(t, len(v))
	if w.err == nil {
		w.b = append(w.b, v...)
	}
	w.pad()
}

// str appends a string with its final zero byte.
func (w *builder) str(t uint16, s string) {
	w.header(t, len(s)+1)
	if w.err == nil {
		w.b = append(append(w.b, s...), 0)
	}
	w.pad()
}

// begin opens a nested attribute and returns what end needs.
func (w *builder) begin(t uint16) int {
	mark := len(w.b)
	w.header(t|attrNested, 0)
	return mark
}

func (w *builder) end(mark int) {
	n := len(w.b) - mark
	if n > maxAttr {
		w.err = errTooLong
		return
	}
	binary.LittleEndian.PutUint16(w.b[mark:], uint16(n))
}

// attr is one attribute.
type attr struct {
	typ   uint16 // without flags
	value []byte
}

// errAttr is for bytes that are no list of attributes.
var errAttr = errors.New("malformed attribute")

// next cuts the first attribute off a list. Bytes beyond the last attribute
// that are fewer than a header are padding.
func next(b []byte) (a attr, rest []byte, err error) {
	if len(b) < attrHeader {
		return attr{}, nil, errAttr
	}
	n := int(binary.LittleEndian.Uint16(b))
	if n < attrHeader || n > len(b) {
		return attr{}, nil, fmt.Errorf("%w: length %d of %d bytes", errAttr, n, len(b))
	}
	a = attr{binary.LittleEndian.Uint16(b[2:]) & attrType, b[attrHeader:n:n]}
	return a, b[min((n+3)&^3, len(b)):], nil
}

// eachAttr visits the attributes of a list.
func eachAttr(b []byte, visit func(attr) error) error {
	for len(b) > 0 {
		a, rest, err := next(b)
		if err != nil {
			return err
		}
		if err := visit(a); err != nil {
			return err
		}
		b = rest
	}
	return nil
}
