package store

import (
	"encoding/binary"
	"errors"
)

// errShort is the error of content that ends too early.
var errShort = errors.New("the content ends too early")

// reader takes values from the front of a content. After the first error all
// values are zero.
type reader struct {
	data []byte
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.data = nil
}

func (r *reader) uint() uint64 {
	if len(r.data) > 0 && r.data[0] < 0x80 {
		v := r.data[0]
		r.data = r.data[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.fail(errShort)
		return 0
	}
	r.data = r.data[n:]
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.data)
	if n <= 0 {
		r.fail(errShort)
		return 0
	}
	r.data = r.data[n:]
	return v
}

// take gives the next n bytes, which belong to the content.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.fail(errShort)
		return nil
	}
	b := r.data[:n:n]
	r.data = r.data[n:]
	return b
}

func (r *reader) bytes() []byte { return r.take(r.uint()) }

func (r *reader) string() string { return string(r.bytes()) }

func (r *reader) byte() byte {
	if len(r.data) == 0 {
		r.fail(errShort)
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

// count reads the length of a list whose items take at least one byte each.
func (r *reader) count() int {
	n := r.uint()
	if n > uint64(len(r.data)) {
		r.fail(errShort)
		return 0
	}
	return int(n)
}

func appendUint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

func appendInt(b []byte, v int64) []byte { return binary.AppendVarint(b, v) }

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
