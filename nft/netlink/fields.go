package netlink

import (
	"bytes"
	"encoding/binary"
)

// maxField is one more than the highest attribute number that any list of the
// package has.
const maxField = 32

// fields is a list of attributes by number, with notes of what was read, so
// that the rest can be kept.
type fields struct {
	values [maxField][]byte
	have   uint32
	read   uint32
	// odd says that something is there that the reader cannot represent:
	// a number that is too high or there twice, or a value of a wrong size.
	odd   bool
	extra []attr // numbers that are too high, and repetitions
	err   error  // the bytes are no list of attributes
	depth int    // of expressions within expressions
}

func parseFields(b []byte) *fields {
	f := &fields{}
	f.err = eachAttr(b, func(a attr) error {
		if a.typ >= maxField || f.have&(1<<a.typ) != 0 {
			f.odd = true
			f.extra = append(f.extra, a)
			return nil
		}
		f.values[a.typ], f.have = a.value, f.have|1<<a.typ
		return nil
	})
	if f.err != nil {
		f.odd = true
	}
	return f
}

func (f *fields) has(t uint16) bool { return f.have&(1<<t) != 0 }

// take gives a value, nil if it is not there, and notes that it was read.
func (f *fields) take(t uint16) []byte {
	f.read |= 1 << t
	return f.values[t]
}

// skip reads over attributes that need not be kept.
func (f *fields) skip(types ...uint16) {
	for _, t := range types {
		f.read |= 1 << t
	}
}

func (f *fields) fixed(t uint16, n int) ([]byte, bool) {
	if !f.has(t) {
		return nil, false
	}
	v := f.take(t)
	if len(v) != n {
		f.odd = true
		return nil, false
	}
	return v, true
}

func (f *fields) u8(t uint16) uint8 {
	if v, ok := f.fixed(t, 1); ok {
		return v[0]
	}
	return 0
}

func (f *fields) u16(t uint16) uint16 {
	if v, ok := f.fixed(t, 2); ok {
		return binary.BigEndian.Uint16(v)
	}
	return 0
}

func (f *fields) u32(t uint16) uint32 {
	if v, ok := f.fixed(t, 4); ok {
		return binary.BigEndian.Uint32(v)
	}
	return 0
}

func (f *fields) u64(t uint16) uint64 {
	if v, ok := f.fixed(t, 8); ok {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

// small reads a 32-bit attribute whose value must be at most limit.
func (f *fields) small(t uint16, limit uint32) uint32 {
	v := f.u32(t)
	if v > limit {
		f.odd = true
		return 0
	}
	return v
}

// flag reads a 32-bit attribute of flags of which only one is known.
func (f *fields) flag(t uint16) bool { return f.small(t, 1) == 1 }

// str reads a string up to its zero byte.
func (f *fields) str(t uint16) string {
	v := f.take(t)
	if i := bytes.IndexByte(v, 0); i >= 0 {
		return string(v[:i])
	}
	return string(v)
}

// whole says that all was read and understood.
func (f *fields) whole() bool { return !f.odd && f.have&^f.read == 0 }

// rest gives what was not read.
func (f *fields) rest() []attr {
	list := f.extra
	for t := range uint16(maxField) {
		if f.have&^f.read&(1<<t) != 0 {
			list = append(list, attr{t, f.values[t]})
		}
	}
	return list
}
