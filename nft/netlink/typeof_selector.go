package netlink

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

// noDirection is ct without a direction.
const noDirection = 0xffffffff

// selectorRecords gives kind and records of a selector.
func selectorRecords(x syntax.Expr) (kind uint32, u userData, ok bool) {
	switch x := x.(type) {
	case *syntax.HeaderField, *syntax.RawPayload, *syntax.Inner:
		u, ok := payloadRecords(x)
		return kindPayload, u, ok
	case *syntax.ExthdrField, *syntax.TCPOption, *syntax.IPOption, *syntax.SCTPChunk, *syntax.DCCPOption:
		u, ok := exthdrRecords(x)
		return kindExthdr, u, ok
	case *syntax.Meta:
		return keyRecords(kindMeta, catalog.MetaKey(x.Key.Text))
	case *syntax.RT:
		return keyRecords(kindRT, catalog.RTKey(x.Key.Text, familyOf(x.Family)))
	case *syntax.Socket:
		kind, u, ok := keyRecords(kindSocket, catalog.SocketKey(x.Key.Text))
		if x.Level != nil {
			u.u32(1, value(x.Level))
		}
		return kind, u, ok
	case *syntax.CT:
		kind, u, ok := keyRecords(kindCT, catalog.CTKey(x.Key.Text, familyOf(x.Family)))
		u.u32(1, directions[x.Direction.Text])
		return kind, u, ok
	case *syntax.Fib:
		u, ok := fibRecords(x)
		return kindFib, u, ok
	case *syntax.IPsec:
		kind, u, ok := keyRecords(kindIPsec, catalog.XFRMKey(x.Key.Text, familyOf(x.Family)))
		u.u32(1, value(x.Spnum))
		u.u32(2, bit(x.Direction.Text == "out"))
		return kind, u, ok
	case *syntax.Numgen:
		u.u32(0, bit(x.Mode.Text == "random"))
		u.u32(1, value(x.Mod))
		u.u32(2, value(x.Offset))
		return kindNumgen, u, true
	case *syntax.Hash:
		if !x.Symmetric {
			return 0, nil, false // its expression has no stored form
		}
		for t, v := range []uint32{1, value(x.Offset), value(x.Mod), 0, 0} {
			u.u32(uint8(t), v)
		}
		return kindHash, u, true
	case *syntax.OSF:
		return kindOSF, userData{}, x.Key.Text == "name" && !x.TTL.Given()
	}
	return 0, nil, false
}

var directions = map[string]uint32{"": noDirection, "original": 0, "reply": 1}

func keyRecords(kind uint32, k *catalog.Key) (uint32, userData, bool) {
	var u userData
	if k == nil {
		return 0, nil, false
	}
	u.u32(0, k.Number)
	return kind, u, true
}

func familyOf(w syntax.Word) catalog.Family {
	f, _ := catalog.FamilyByName(w.Text)
	return f
}

// fibFlags are the flags of fib in the order in which they are written.
var fibFlags = []struct {
	name string
	bit  uint32
}{{"saddr", expr.FibSaddr}, {"daddr", expr.FibDaddr}, {"mark", expr.FibMark}, {"iif", expr.FibIif}, {"oif", expr.FibOif}}

func fibRecords(x *syntax.Fib) (u userData, ok bool) {
	flags := uint32(0)
	for _, w := range x.Flags {
		for _, f := range fibFlags {
			if f.name == w.Text {
				flags |= f.bit
			}
		}
	}
	if x.Result.Text == catalog.FibCheck.Name {
		u.u32(0, expr.FibResultOif)
		u.u32(1, flags|expr.FibPresent)
		return u, true
	}
	k := catalog.FibResult(x.Result.Text)
	if k == nil {
		return nil, false
	}
	u.u32(0, k.Number)
	u.u32(1, flags)
	return u, true
}

// decodeSelector gives a selector, nil for what is not understood.
func decodeSelector(kind uint32, data []byte) syntax.Expr {
	n := readNumbers(data)
	switch kind {
	case kindPayload:
		return decodePayload(n)
	case kindExthdr:
		return decodeExthdr(n)
	case kindMeta:
		if k := catalog.MetaKeyByNumber(n[0]); k != nil && n.only(0) {
			return metaOf(k)
		}
	case kindRT:
		if k := catalog.RTKeyByNumber(n[0]); k != nil && n.only(0) {
			return &syntax.RT{Key: word(k.Name), Family: family(k)}
		}
	case kindSocket:
		if k := catalog.SocketKeyByNumber(n[0]); k != nil && n.only(0, 1) {
			s := &syntax.Socket{Key: word(k.Name)}
			if level, ok := n[1]; ok {
				s.Level = number(level)
			}
			return s
		}
	case kindCT:
		return decodeCT(n)
	case kindFib:
		return decodeFib(n)
	case kindIPsec:
		return decodeIPsec(n)
	case kindNumgen, kindHash:
		return decodeGenerator(kind, n)
	case kindOSF:
		if len(n) == 0 {
			return &syntax.OSF{Key: word("name")}
		}
	}
	return nil
}

func metaOf(k *catalog.Key) *syntax.Meta {
	return &syntax.Meta{Key: word(k.Name), Qualified: !k.PrintAlone}
}

// family is the word in front of keys that have a variant for each family.
func family(k *catalog.Key) syntax.Word {
	if k.Family == catalog.FamilyUnspec {
		return syntax.Word{}
	}
	return word(k.Family.String())
}

func decodeCT(n numbers) syntax.Expr {
	k := catalog.CTKeyByNumber(n[0])
	if k == nil || !n.only(0, 1) {
		return nil
	}
	for name, d := range directions {
		if d == n[1] {
			return &syntax.CT{Key: word(k.Name), Family: family(k), Direction: word(name)}
		}
	}
	return nil
}

func decodeFib(n numbers) syntax.Expr {
	if !n.only(0, 1) {
		return nil
	}
	x := &syntax.Fib{}
	for _, f := range fibFlags {
		if n[1]&f.bit != 0 {
			x.Flags = append(x.Flags, word(f.name))
		}
	}
	k := catalog.FibResultByNumber(n[0])
	switch {
	case n[1]&expr.FibPresent != 0:
		x.Result = word(catalog.FibCheck.Name)
	case k != nil:
		x.Result = word(k.Name)
	default:
		return nil
	}
	return x
}

func decodeIPsec(n numbers) syntax.Expr {
	k := catalog.XFRMKeyByNumber(n[0])
	if k == nil || !n.only(0, 1, 2) {
		return nil
	}
	x := &syntax.IPsec{Key: word(k.Name), Family: family(k), Direction: word("in")}
	if n[2] == 1 {
		x.Direction = word("out")
	}
	if n[1] != 0 {
		x.Spnum = number(n[1])
	}
	return x
}

func decodeGenerator(kind uint32, n numbers) syntax.Expr {
	if kind == kindHash {
		if !n.only(0, 1, 2, 3, 4) || n[0] != 1 {
			return nil
		}
		x := &syntax.Hash{Symmetric: true, Mod: number(n[2])}
		if n[1] != 0 {
			x.Offset = number(n[1])
		}
		return x
	}
	if !n.only(0, 1, 2) {
		return nil
	}
	x := &syntax.Numgen{Mode: word("inc"), Mod: number(n[1])}
	if n[0] == 1 {
		x.Mode = word("random")
	}
	if n[2] != 0 {
		x.Offset = number(n[2])
	}
	return x
}
