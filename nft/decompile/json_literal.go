package decompile

import (
	"strconv"

	"verdict/catalog"
	"verdict/nft/syntax"
)

// JSON gives the options of a listing that is written as JSON: priorities as
// numbers, handles, and values in the notation of their type.
func (o Options) JSON() Options {
	o.json, o.Handles, o.NumericPriority = true, true, true
	return o
}

// jsonLiteral writes the values that JSON shows otherwise than text does:
// times in whole seconds as numbers, indices of interfaces without a name as
// strings, truth values also where symbols are numbers. Times of day carry the second of the UTC day as their value, which
// tells whether a range goes over midnight there.
func (o *Options) jsonLiteral(f *format, n uint64, w wording) (*syntax.Literal, bool) {
	switch f.form {
	case catalog.FormDuration:
		if !f.typ.Seconds {
			n /= 1000
		}
		return decimal(n), true
	case catalog.FormIfIndex:
		if x := o.ifIndex(uint32(n), w); x.(*syntax.Literal).Kind == syntax.LitNumber {
			return quoted(strconv.FormatUint(n, 10)), true
		}
	case catalog.FormBoolean:
		if w == symbolic && o.NumericSymbols && !f.numeric {
			return word_([]string{"missing", "exists"}[n&1]), true
		}
	case catalog.FormHour:
		l := o.hour(n)
		l.Value = n
		return l, true
	}
	return nil, false
}
