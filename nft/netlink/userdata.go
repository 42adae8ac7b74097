package netlink

import (
	"bytes"
	"encoding/binary"
)

// User data is what nft stores with an item for its own listings: one byte of
// type, one of length, and the value. The kernel only keeps it. Numbers are in
// the machine's order.
// Ref: libnftnl/udata.h.
const (
	udComment     = 0 // of tables, chains, rules, elements and objects
	udElemFlags   = 1
	udElemOpen    = 1 // of the flags
	udKeyOrder    = 0
	udDataOrder   = 1
	udMerge       = 2
	udKeyTypeof   = 3
	udDataTypeof  = 4
	udExprs       = 5
	udDataRange   = 6
	udSetComment  = 7
	udOrderHost   = 1
	udOrderBig    = 2
	maxUserData   = 256 // Ref: nf_tables.h, NFT_USERDATA_MAXLEN
	maxUserRecord = 255
)

// userData builds user data.
type userData []byte

func (u *userData) add(t uint8, v []byte) {
	if len(v) <= maxUserRecord {
		*u = append(append(*u, t, uint8(len(v))), v...)
	}
}

func (u *userData) u32(t uint8, v uint32) { u.add(t, binary.LittleEndian.AppendUint32(nil, v)) }

func (u *userData) text(t uint8, s string) {
	if s != "" {
		u.add(t, append([]byte(s), 0))
	}
}

// userData appends user data if there is any.
func (w *builder) userData(t uint16, u userData) {
	if len(u) > 0 && len(u) <= maxUserData {
		w.bytes(t, u)
	}
}

// record is one entry of user data.
type record struct {
	typ   uint8
	value []byte
}

// records reads user data; ok is false if it is malformed.
func records(b []byte) (list []record, ok bool) {
	for len(b) > 0 {
		if len(b) < 2 || len(b) < 2+int(b[1]) {
			return list, false
		}
		n := 2 + int(b[1])
		list = append(list, record{b[0], b[2:n:n]})
		b = b[n:]
	}
	return list, true
}

func (r record) text() string {
	if i := bytes.IndexByte(r.value, 0); i >= 0 {
		return string(r.value[:i])
	}
	return string(r.value)
}

func (r record) u32() (uint32, bool) {
	if len(r.value) != 4 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(r.value), true
}

// comment gives the comment in user data that holds nothing else; ok is false
// for user data with anything that is not understood.
func comment(b []byte) (text string, ok bool) {
	list, ok := records(b)
	for _, r := range list {
		if r.typ != udComment {
			return text, false
		}
		text = r.text()
	}
	return text, ok
}

// readElementUserData reads comment and flags of an element; ok is false for
// user data with anything that is not understood.
func readElementUserData(b []byte) (text string, open, ok bool) {
	list, ok := records(b)
	for _, r := range list {
		switch r.typ {
		case udComment:
			text = r.text()
		case udElemFlags:
			flags, sized := r.u32()
			open = flags == udElemOpen
			ok = ok && sized && flags&^udElemOpen == 0
		default:
			ok = false
		}
	}
	return text, open, ok
}
