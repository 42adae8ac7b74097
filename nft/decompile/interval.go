package decompile

import (
	"bytes"
	"slices"

	"verdict/catalog"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// interval is a range of a single-field interval set, both ends included. The
// keys of such sets are compared bytewise, so they are big endian.
type interval struct {
	from, to []byte
	element  *ruleset.Element
}

// intervals joins the starts and exclusive ends of an interval set. A start
// that follows an open start closes it; one that is never closed runs to the
// end of the key space.
func intervals(list []*ruleset.Element) []interval {
	sortRanked(list, leadingBytes, func(a, b *ruleset.Element) int {
		if c := bytes.Compare(a.Key, b.Key); c != 0 {
			return c
		}
		return int(b.Flags&ruleset.ElemIntervalEnd) - int(a.Flags&ruleset.ElemIntervalEnd)
	})
	joined := make([]interval, 0, (len(list)+1)/2)
	var open *ruleset.Element
	for _, e := range list {
		if open != nil {
			joined = append(joined, interval{from: open.Key, to: before(e.Key), element: open})
			open = nil
		}
		if e.Flags&ruleset.ElemIntervalEnd == 0 {
			open = e
		}
	}
	if open != nil {
		joined = append(joined, interval{from: open.Key, to: bytes.Repeat([]byte{0xff}, len(open.Key)), element: open})
	}
	return joined
}

// before is the key one below.
func before(key []byte) []byte {
	k := slices.Clone(key)
	for i := len(k) - 1; i >= 0; i-- {
		k[i]--
		if k[i] != 0xff {
			break
		}
	}
	return k
}

// rangeOf writes a closed range of register values: one value, a prefix where
// the type has them, a wildcard of names, or A-B.
func (o *Options) rangeOf(f *format, from, to []byte) syntax.Expr {
	from, to = bigEndian(f, from), bigEndian(f, to)
	if bytes.Equal(from, to) {
		return o.write(f, from, symbolic)
	}
	if f.form == catalog.FormString {
		return wildcard(from, to)
	}
	if f.typ.Prefix && f.shift == 0 {
		if length, ok := prefixLength(from, to); ok {
			return o.prefix(f, from, length)
		}
	}
	return &syntax.Range{From: o.write(f, from, plain), To: o.write(f, to, plain)}
}

// prefixLength recognises a range that is one prefix.
func prefixLength(from, to []byte) (length int, ok bool) {
	if len(from) != len(to) {
		return 0, false
	}
	i := 0
	for i < len(from) && from[i] == to[i] {
		i++
	}
	if i == len(from) {
		return 8 * i, true
	}
	differ := from[i] ^ to[i]
	if differ&(differ+1) != 0 || from[i]&differ != 0 || to[i]&differ != differ {
		return 0, false
	}
	if !isZero(from[i+1:]) || !isOnes(to[i+1:]) {
		return 0, false
	}
	length = 8 * i
	for bit := byte(0x80); bit > differ; bit >>= 1 {
		length++
	}
	return length, true
}

// wildcard writes a range of names that share their leading part: `"eth*"`.
func wildcard(from, to []byte) syntax.Expr {
	n := 0
	for n < min(len(from), len(to)) && from[n] == to[n] && from[n] != 0 {
		n++
	}
	if isZero(from[n:]) && isOnes(to[n:]) {
		return quoted(string(from[:n]) + "*")
	}
	return &syntax.Range{From: quotedString(from, 0), To: quotedString(to, 0)}
}
