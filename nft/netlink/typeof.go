package netlink

import (
	"encoding/binary"

	"verdict/diag"
	"verdict/nft/syntax"
)

// The typeof expression of a set is kept in the user data: a kind, and what
// the kind needs, as records. Kinds that nft cannot store give nothing, as
// there. (Observed with nft 1.0.6.)
const (
	typeofKind = 0
	typeofData = 1

	kindVerdict = 1
	kindPayload = 7
	kindExthdr  = 8
	kindMeta    = 9
	kindSocket  = 10
	kindOSF     = 11
	kindCT      = 12
	kindConcat  = 13
	kindNumgen  = 23
	kindHash    = 24
	kindRT      = 25
	kindFib     = 26
	kindIPsec   = 27
)

// encodeTypeof gives the records of an expression, nil for none and for what
// has no stored form.
func encodeTypeof(text string) []byte {
	if text == "" {
		return nil
	}
	x := parseTypeof(text)
	if x == nil {
		return nil
	}
	if c, ok := x.(*syntax.Concat); ok {
		return encodeConcat(c)
	}
	return encodeSelector(x)
}

// parseTypeof reads a typeof expression where it stands in a ruleset, nil if
// it is none.
func parseTypeof(text string) syntax.Expr {
	source := diag.NewSource("typeof", []byte("table ip t {\nset s {\ntypeof "+text+"\n}\n}\n"))
	file, found := syntax.Parse(source, syntax.Options{})
	if found.HasErrors() {
		return nil
	}
	var key syntax.Expr
	syntax.WalkFile(file, func(n syntax.Node) bool {
		if k, ok := n.(*syntax.KeyType); ok {
			key = k.Key
		}
		return key == nil
	})
	return key
}

func encodeConcat(c *syntax.Concat) []byte {
	var list userData
	for i, p := range c.Parts {
		one := encodeSelector(p)
		if one == nil || i > maxConcat {
			return nil
		}
		list.add(uint8(i), one)
	}
	return typeofRecord(kindConcat, list)
}

// maxConcat is the highest index of a field of a concatenation.
const maxConcat = 15

// encodeSelector gives the records of one selector, nil if it has none.
func encodeSelector(x syntax.Expr) []byte {
	kind, data, ok := selectorRecords(x)
	if !ok {
		return nil
	}
	return typeofRecord(kind, data)
}

func typeofRecord(kind uint32, data userData) []byte {
	var u userData
	u.u32(typeofKind, kind)
	if len(data) > maxUserRecord {
		return nil
	}
	u.add(typeofData, data)
	return u
}

// decodeTypeof gives the text of an expression; ok is false for records that
// are not understood. Concatenations of plain types have no text.
func decodeTypeof(b []byte) (text string, ok bool) {
	kind, data, ok := typeofSplit(b)
	switch {
	case !ok:
		return "", false
	case kind == kindVerdict:
		return "", true
	case kind != kindConcat:
		x := decodeSelector(kind, data)
		if x == nil {
			return "", false
		}
		return string(syntax.AppendExpr(nil, x)), true
	}
	fields, ok := records(data)
	if !ok || len(fields) == 0 {
		return "", ok
	}
	c := &syntax.Concat{}
	for _, f := range fields {
		kind, data, ok := typeofSplit(f.value)
		if !ok {
			return "", false
		}
		x := decodeSelector(kind, data)
		if x == nil {
			return "", false
		}
		c.Parts = append(c.Parts, x)
	}
	return string(syntax.AppendExpr(nil, c)), true
}

// typeofSplit cuts records into kind and data.
func typeofSplit(b []byte) (kind uint32, data []byte, ok bool) {
	list, ok := records(b)
	if !ok {
		return 0, nil, false
	}
	for _, r := range list {
		switch {
		case r.typ == typeofKind && len(r.value) == 4:
			kind = binary.LittleEndian.Uint32(r.value)
		case r.typ == typeofData:
			data = r.value
		default:
			return 0, nil, false
		}
	}
	return kind, data, kind != 0
}

// numbers are the 32-bit values of records by type.
type numbers map[uint8]uint32

// readNumbers reads records that are all 32 bits; nil for others.
func readNumbers(b []byte) numbers {
	list, ok := records(b)
	if !ok {
		return nil
	}
	n := numbers{}
	for _, r := range list {
		v, sized := r.u32()
		if !sized {
			return nil
		}
		n[r.typ] = v
	}
	return n
}

// only says that no other records than these are there.
func (n numbers) only(types ...uint8) bool {
	if n == nil {
		return false
	}
	known := 0
	for _, t := range types {
		if _, ok := n[t]; ok {
			known++
		}
	}
	return known == len(n)
}

func word(s string) syntax.Word { return syntax.Word{Text: s} }

func number(n uint32) *syntax.Number { return &syntax.Number{Value: uint64(n)} }

func value(n *syntax.Number) uint32 {
	if n == nil {
		return 0
	}
	return uint32(n.Value)
}
