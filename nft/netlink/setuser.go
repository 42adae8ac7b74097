package netlink

import (
	"verdict/catalog"
	"verdict/nft/ruleset"
)

// setUserData is what nft stores with a set: the byte orders of keys and data,
// automatic merging, the typeof expressions, whether data are ranges, and the
// comment.
func setUserData(d *ruleset.SetDef) userData {
	var u userData
	s := &d.UserData
	u.u32(udKeyOrder, order(s.KeyHost, len(d.Fields) > 1))
	isMap := d.Flags&ruleset.SetMap != 0
	if isMap {
		single := len(s.DataFields) < 2 && d.DataType != ruleset.TypeVerdict
		u.u32(udDataOrder, order(s.DataHost, !single))
	}
	if s.AutoMerge {
		u.u32(udMerge, 1)
	}
	if t := encodeTypeof(s.KeyTypeof); t != nil {
		u.add(udKeyTypeof, t)
	}
	if t := encodeTypeof(s.DataTypeof); t != nil {
		u.add(udDataTypeof, t)
	}
	if isMap {
		u.u32(udDataRange, bit(s.DataInterval))
	}
	u.text(udSetComment, s.Comment)
	return u
}

// order is nft's number of a byte order; concatenations have none.
func order(host, none bool) uint32 {
	switch {
	case none:
		return 0
	case host:
		return udOrderHost
	}
	return udOrderBig
}

// readSetUserData reads user data into a definition; false for what is not
// understood.
func readSetUserData(d *ruleset.SetDef, b []byte) bool {
	s := &d.UserData
	list, ok := records(b)
	for _, r := range list {
		n, sized := r.u32()
		switch r.typ {
		case udKeyOrder:
			s.KeyHost = n == udOrderHost
		case udDataOrder:
			s.DataHost = n == udOrderHost
		case udMerge:
			s.AutoMerge = n != 0
		case udDataRange:
			s.DataInterval = n != 0
		case udExprs: // how many there are is seen from them
		case udKeyTypeof, udDataTypeof:
			text, known := decodeTypeof(r.value)
			ok = ok && known
			if r.typ == udKeyTypeof {
				s.KeyTypeof = text
			} else {
				s.DataTypeof = text
			}
			continue
		case udSetComment:
			s.Comment = r.text()
			continue
		default:
			ok = false
			continue
		}
		ok = ok && sized
	}
	fieldOrders(d)
	return ok
}

// fieldOrders finds lengths and byte orders of the fields of concatenations,
// which user data does not have, from the types or the typeof expressions.
func fieldOrders(d *ruleset.SetDef) {
	s := &d.UserData
	interval := d.Flags&ruleset.SetInterval != 0
	key := partsOf(s.KeyTypeof, d.KeyType)
	if len(key) > 1 {
		d.Fields = nil
		for _, p := range key {
			d.Fields = append(d.Fields, p.bytes)
			s.FieldHost = append(s.FieldHost, p.host && !interval)
		}
	}
	if d.Flags&ruleset.SetMap == 0 || d.DataType == ruleset.TypeVerdict {
		return
	}
	if data := partsOf(s.DataTypeof, d.DataType); len(data) > 1 {
		for _, p := range data {
			s.DataFields = append(s.DataFields, p.bytes)
			s.DataFieldHost = append(s.DataFieldHost, p.host)
		}
	}
}

// part is a field of a concatenation.
type part struct {
	bytes uint8
	host  bool
}

func partsOf(typeof string, typ uint32) (list []part) {
	if typeof != "" {
		return typeofParts(typeof)
	}
	for _, t := range catalog.ConcatTypes(typ) {
		list = append(list, part{uint8(t.Bytes()), t.Order == catalog.OrderHost})
	}
	return list
}
