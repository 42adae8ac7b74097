package catalog

// ExthdrByName finds an IPv6 extension header, nil if there is none.
func ExthdrByName(name string) *Option { return optionByName(Exthdrs, name) }

// TCPOptionByName finds a TCP option, nil if there is none.
func TCPOptionByName(name string) *Option { return optionByName(TCPOptions, name) }

// IPOptionByName finds an IPv4 option, nil if there is none.
func IPOptionByName(name string) *Option { return optionByName(IPOptions, name) }

// SCTPChunkByName finds an SCTP chunk, nil if there is none.
func SCTPChunkByName(name string) *Option { return optionByName(SCTPChunks, name) }

// ExthdrByKind finds the first IPv6 extension header of a protocol number,
// nil if there is none. For routing headers that is the general one: see
// RoutingHeader.
func ExthdrByKind(kind uint8) *Option { return optionByKind(Exthdrs, kind) }

// TCPOptionByKind finds the first TCP option of a kind, nil if there is none.
func TCPOptionByKind(kind uint8) *Option { return optionByKind(TCPOptions, kind) }

// IPOptionByKind finds an IPv4 option, nil if there is none.
func IPOptionByKind(kind uint8) *Option { return optionByKind(IPOptions, kind) }

// SCTPChunkByKind finds an SCTP chunk by its type, nil if there is none.
func SCTPChunkByKind(kind uint8) *Option { return optionByKind(SCTPChunks, kind) }

// RoutingHeader finds the routing header of a type, nil if there is none.
func RoutingHeader(routingType int) *Option {
	for _, o := range Exthdrs {
		if o.Kind == 43 && o.RoutingType == routingType {
			return o
		}
	}
	return nil
}

func optionByName(list []*Option, name string) *Option {
	for _, o := range list {
		if o.Name == name {
			return o
		}
	}
	return nil
}

func optionByKind(list []*Option, kind uint8) *Option {
	for _, o := range list {
		if o.Kind == kind {
			return o
		}
	}
	return nil
}

// OptionFieldAt finds the option and field that lie at a place, in bits from
// the start of an option of the kind, in the first of the list's options that
// has such a field; or else the address that begins with these bits. For fields
// with an index it gives that too, else 0. All are zero if there is none.
func OptionFieldAt(list []*Option, kind uint8, offset, bits int) (o *Option, f *OptionField, index int) {
	for _, whole := range []bool{true, false} {
		for _, o := range list {
			if o.Kind != kind {
				continue
			}
			for i := range o.Fields {
				f := &o.Fields[i]
				if f.Bits != bits && (whole || !f.Type.Prefix || f.Bits < bits) {
					continue
				}
				if index, ok := f.indexAt(offset); ok {
					return o, f, index
				}
			}
		}
	}
	return nil, nil, 0
}

// indexAt is the index of the element that lies at a place, 0 for a field
// without index.
func (f *OptionField) indexAt(offset int) (index int, ok bool) {
	if f.Step == 0 || offset < f.Offset {
		return 0, offset == f.Offset
	}
	index = 1 + (offset-f.Offset)/f.Step
	return index, (offset-f.Offset)%f.Step == 0 && index <= f.Indices
}

// ByteOrder is the order of the field's bytes in a register.
func (f *OptionField) ByteOrder() ByteOrder {
	if f.Order != OrderNone {
		return f.Order
	}
	return f.Type.Order
}

// Bytes is the range of whole bytes that holds the field.
func (f *OptionField) Bytes() (offset, length int) {
	first, last := f.Offset/8, (f.Offset+f.Bits-1)/8
	return first, last - first + 1
}

// At is the offset in bits of the element with an index, which counts from 1.
// Fields without index ignore it.
func (f *OptionField) At(index int) int {
	if f.Step == 0 || index < 1 {
		return f.Offset
	}
	return f.Offset + (index-1)*f.Step
}
