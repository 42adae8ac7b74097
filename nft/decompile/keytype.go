package decompile

import (
	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// A set's keys and data read by the types it was declared with: by the
// numbers that the kernel keeps, or by the typeof expression in the user
// data.

// setKeyFormats gives the format of each field of a set's keys.
func setKeyFormats(s *ruleset.Set) []format {
	if s == nil {
		return nil
	}
	formats := typeofFormats(s.UserData.KeyTypeof)
	if formats == nil {
		formats = typeFormats(s.KeyType)
	}
	if formats == nil {
		formats = []format{{typ: catalog.Integer, form: catalog.FormHex}}
	}
	setFieldBits(formats, s.Fields, int(s.KeyLen))
	return setOrders(formats, s.UserData.KeyHost, s.UserData.FieldHost, s.Flags&ruleset.SetInterval != 0)
}

// setDataFormats gives the format of each field of a map's data, nil for
// sets, verdict maps and object maps.
func setDataFormats(s *ruleset.Set) []format {
	if s == nil || s.Flags&ruleset.SetMap == 0 || s.DataType == ruleset.TypeVerdict {
		return nil
	}
	formats := typeofFormats(s.UserData.DataTypeof)
	if formats == nil {
		formats = typeFormats(s.DataType)
	}
	if formats == nil {
		formats = []format{{typ: catalog.Integer}}
	}
	length := int(s.DataLen)
	if s.UserData.DataInterval {
		length /= 2
	}
	setFieldBits(formats, nil, length)
	return setOrders(formats, s.UserData.DataHost, s.UserData.DataFieldHost, false)
}

func typeFormats(id uint32) []format {
	types := catalog.ConcatTypes(id)
	if types == nil {
		return nil
	}
	formats := make([]format, len(types))
	for i, t := range types {
		formats[i] = formatOf(t)
	}
	return formats
}

// setFieldBits gives fields of types without a size the size that they have
// in this set.
func setFieldBits(formats []format, fields []uint8, length int) {
	for i := range formats {
		switch {
		case formats[i].bits != 0:
		case i < len(fields):
			formats[i].bits = int(fields[i]) * 8
		case len(formats) == 1:
			formats[i].bits = length * 8
		}
	}
}

// setOrders says which fields are little endian. The keys of intervals are
// not: they are compared bytewise.
func setOrders(formats []format, host bool, fieldHost []bool, interval bool) []format {
	for i := range formats {
		f := &formats[i]
		switch {
		case len(formats) == 1:
			f.order = orderOf(host)
		case fieldHost != nil:
			f.order = orderOf(i < len(fieldHost) && fieldHost[i])
		case interval:
			f.order = catalog.OrderNetwork
		}
	}
	return formats
}

func orderOf(host bool) catalog.ByteOrder {
	if host {
		return catalog.OrderHost
	}
	return catalog.OrderNetwork
}

// typeofFormats gives the formats of a typeof expression, nil if there is
// none.
func typeofFormats(source string) []format {
	if source == "" {
		return nil
	}
	x := typeofExpr(source)
	if c, ok := x.(*syntax.Concat); ok {
		formats := make([]format, len(c.Parts))
		for i, p := range c.Parts {
			formats[i] = selectorFormat(p)
		}
		return formats
	}
	return []format{selectorFormat(x)}
}

func typeofExpr(source string) syntax.Expr {
	x, errs := syntax.ParseExpr(diag.NewSource("typeof", []byte(source)))
	if x == nil || errs.HasErrors() {
		return word_(source)
	}
	return x
}

// selectorFormat says how values of a written selector read.
func selectorFormat(x syntax.Expr) format {
	unknown := format{typ: catalog.Integer}
	switch x := x.(type) {
	case *syntax.HeaderField:
		if p := catalog.ProtocolByName(x.Protocol.Text); p != nil {
			if f := p.FieldByName(x.Field.Text); f != nil {
				return fieldFormat(f)
			}
		}
	case *syntax.Inner:
		return selectorFormat(x.Expr)
	case *syntax.RawPayload:
		return format{typ: catalog.Integer, form: catalog.FormHex, bits: int(x.Length), order: catalog.OrderNetwork}
	case *syntax.Meta:
		return keyFormatOf(catalog.MetaKey(x.Key.Text))
	case *syntax.CT:
		return keyFormatOf(catalog.CTKey(x.Key.Text, familyOf(x.Family)))
	case *syntax.RT:
		return keyFormatOf(catalog.RTKey(x.Key.Text, familyOf(x.Family)))
	case *syntax.Socket:
		return keyFormatOf(catalog.SocketKey(x.Key.Text))
	case *syntax.IPsec:
		return keyFormatOf(catalog.XFRMKey(x.Key.Text, familyOf(x.Family)))
	case *syntax.TunnelMeta:
		return keyFormatOf(catalog.TunnelKey(x.Key.Text))
	case *syntax.Fib:
		if x.Result.Text == catalog.FibCheck.Name {
			return keyFormatOf(catalog.FibCheck)
		}
		return keyFormatOf(catalog.FibResult(x.Result.Text))
	case *syntax.OSF:
		return keyFormatOf(catalog.OSFKey(x.Key.Text))
	case *syntax.Numgen, *syntax.Hash:
		return generated
	case *syntax.ExthdrField:
		return optionFormat(catalog.ExthdrByName(x.Header.Text), x.Field.Text)
	case *syntax.TCPOption:
		return optionFormat(catalog.TCPOptionByName(x.Kind.Text), x.Field.Text)
	case *syntax.IPOption:
		return optionFormat(catalog.IPOptionByName(x.Name.Text), x.Field.Text)
	case *syntax.SCTPChunk:
		return optionFormat(catalog.SCTPChunkByName(x.Type.Text), x.Field.Text)
	case *syntax.DCCPOption:
		return present
	case *syntax.Binary:
		return selectorFormat(x.Left)
	}
	return unknown
}

func familyOf(w syntax.Word) catalog.Family {
	f, _ := catalog.FamilyByName(w.Text)
	return f
}

func keyFormatOf(k *catalog.Key) format {
	if k == nil {
		return format{typ: catalog.Integer}
	}
	return keyFormat(k)
}

func optionFormat(o *catalog.Option, field string) format {
	if field == "" {
		return present
	}
	if o != nil {
		if f := o.FieldByName(field); f != nil {
			return optionFieldFormat(f)
		}
	}
	return format{typ: catalog.Integer}
}

func optionFieldFormat(f *catalog.OptionField) format {
	fm := format{typ: f.Type, form: f.Type.Form, bits: f.Bits, order: f.ByteOrder()}
	if f.Form != catalog.FormDecimal {
		fm.form = f.Form
	}
	return fm
}
