package decompile

import (
	"math/bits"

	"verdict/catalog"
	"verdict/nft/syntax"
)

// flags writes a value of a bitmask type: the name of its one bit, several
// joined by |, or a number.
func (o *Options) flags(f *format, v uint64) syntax.Expr {
	if v == 0 || f.unmasked && bits.OnesCount64(v) > 1 {
		return hexNumber(v, 0)
	}
	var all syntax.Expr
	for _, item := range o.flagItems(f, v) {
		if all == nil {
			all = item
		} else {
			all = &syntax.Binary{Op: syntax.OpOr, Left: all, Right: item}
		}
	}
	return all
}

// flagList writes the bits of a value as a comma list, in ascending order.
func (o *Options) flagList(f *format, v []byte) syntax.Expr {
	items := o.flagItemsOf(f, v)
	if len(items) == 1 {
		return items[0]
	}
	return &syntax.List{Items: items}
}

func (o *Options) flagItemsOf(f *format, v []byte) []syntax.Expr {
	if f.form == catalog.FormLabel {
		return o.labelItems(v)
	}
	return o.flagItems(f, uint64Of(v))
}

func (o *Options) flagItems(f *format, v uint64) []syntax.Expr {
	items := make([]syntax.Expr, 0, bits.OnesCount64(v))
	for ; v != 0; v &= v - 1 {
		bit := v & -v
		if s, ok := f.typ.SymbolByValue(bit); ok && !o.NumericSymbols {
			items = append(items, word_(s))
		} else {
			items = append(items, hexNumber(bit, 0))
		}
	}
	return items
}

// labels writes connection labels, each by the number of its bit.
func (o *Options) labels(v []byte) syntax.Expr {
	items := o.labelItems(v)
	if len(items) == 0 {
		return decimal(0)
	}
	all := items[0]
	for _, item := range items[1:] {
		all = &syntax.Binary{Op: syntax.OpOr, Left: all, Right: item}
	}
	return all
}

func (o *Options) labelItems(v []byte) []syntax.Expr {
	var items []syntax.Expr
	for bit := range len(v) * 8 {
		if v[len(v)-1-bit/8]&(1<<(bit%8)) == 0 {
			continue
		}
		if o.LabelName != nil {
			if name := o.LabelName(bit); name != "" {
				items = append(items, quoted(name))
				continue
			}
		}
		items = append(items, decimal(uint64(bit)))
	}
	return items
}
