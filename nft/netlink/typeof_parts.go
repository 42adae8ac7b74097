package netlink

import (
	"verdict/catalog"
	"verdict/nft/syntax"
)

// typeofParts gives lengths and byte orders of the fields of a typeof
// concatenation, nil for a single selector.
func typeofParts(text string) (list []part) {
	c, ok := parseTypeof(text).(*syntax.Concat)
	if !ok {
		return nil
	}
	for _, p := range c.Parts {
		list = append(list, partOf(p))
	}
	return list
}

func partOf(x syntax.Expr) part {
	switch x := x.(type) {
	case *syntax.HeaderField:
		if p := catalog.ProtocolByName(x.Protocol.Text); p != nil {
			if f := p.FieldByName(x.Field.Text); f != nil {
				return bitsPart(f.Bits, f.ByteOrder())
			}
		}
	case *syntax.Inner:
		return partOf(x.Expr)
	case *syntax.RawPayload:
		return bitsPart(int(x.Length), catalog.OrderNetwork)
	case *syntax.Meta:
		return keyPart(catalog.MetaKey(x.Key.Text))
	case *syntax.CT:
		return keyPart(catalog.CTKey(x.Key.Text, familyOf(x.Family)))
	case *syntax.RT:
		return keyPart(catalog.RTKey(x.Key.Text, familyOf(x.Family)))
	case *syntax.Socket:
		return keyPart(catalog.SocketKey(x.Key.Text))
	case *syntax.IPsec:
		return keyPart(catalog.XFRMKey(x.Key.Text, familyOf(x.Family)))
	case *syntax.OSF:
		return keyPart(catalog.OSFKey(x.Key.Text))
	case *syntax.Fib:
		return keyPart(catalog.FibResult(x.Result.Text))
	case *syntax.ExthdrField:
		return optionPart(catalog.ExthdrByName(x.Header.Text), x.Field.Text)
	case *syntax.TCPOption:
		return optionPart(catalog.TCPOptionByName(x.Kind.Text), x.Field.Text)
	case *syntax.IPOption:
		return optionPart(catalog.IPOptionByName(x.Name.Text), x.Field.Text)
	case *syntax.SCTPChunk:
		return optionPart(catalog.SCTPChunkByName(x.Type.Text), x.Field.Text)
	case *syntax.Numgen, *syntax.Hash:
		return part{4, true}
	}
	return part{bytes: 1}
}

func bitsPart(bits int, order catalog.ByteOrder) part {
	return part{uint8((bits + 7) / 8), order == catalog.OrderHost}
}

func keyPart(k *catalog.Key) part {
	if k == nil {
		return part{}
	}
	order := k.Order
	if order == catalog.OrderNone && k.Type != nil {
		order = k.Type.Order
	}
	return part{uint8(k.Bytes()), order == catalog.OrderHost}
}

func optionPart(o *catalog.Option, field string) part {
	if o != nil {
		if f := o.FieldByName(field); f != nil {
			return bitsPart(f.Bits, f.ByteOrder())
		}
	}
	return part{bytes: 1}
}
