package store

import (
	"reflect"

	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// elementsCodec writes the elements of a batch. It does by hand what the
// general way would do slowly for lists of a million.
type elementsCodec struct{}

// Bits of the byte that begins an element of a batch.
const (
	batchKeyEnd = 1 << iota
	batchIntervalEnd
	batchCatchAll
	batchTimeout
	batchExpires
	batchRest
	batchOpen
)

// elementRest is what few elements carry.
type elementRest struct {
	Data    *expr.Data
	Object  string
	Exprs   []expr.Expr
	Comment string
}

func (elementsCodec) encode(b []byte, v reflect.Value) []byte {
	list, _ := v.Interface().([]ruleset.Element)
	b = appendUint(b, uint64(len(list)))
	for i := range list {
		b = appendElement(b, &list[i])
	}
	return b
}

func appendElement(b []byte, el *ruleset.Element) []byte {
	at := len(b)
	b = append(b, 0)
	b = append(appendUint(b, uint64(len(el.Key))), el.Key...)
	if el.KeyEnd != nil {
		b[at] |= batchKeyEnd
		b = append(appendUint(b, uint64(len(el.KeyEnd))), el.KeyEnd...)
	}
	if el.Flags&ruleset.ElemIntervalEnd != 0 {
		b[at] |= batchIntervalEnd
	}
	if el.Flags&ruleset.ElemCatchAll != 0 {
		b[at] |= batchCatchAll
	}
	if el.HasTimeout {
		b[at] |= batchTimeout
		b = appendUint(b, el.Timeout)
	}
	if el.Expires != 0 {
		b[at] |= batchExpires
		b = appendUint(b, el.Expires)
	}
	if el.Data != nil || el.Object != "" || len(el.Exprs) > 0 || el.Comment != "" {
		b[at] |= batchRest
		b = encode(b, &elementRest{el.Data, el.Object, el.Exprs, el.Comment})
	}
	if el.OpenInterval {
		b[at] |= batchOpen
	}
	return b
}

func (elementsCodec) decode(d *decoder, v reflect.Value) {
	n := d.count()
	list := make([]ruleset.Element, 0, min(n, len(d.data)/2+1)) // at least two bytes each
	for range n {
		list = append(list, ruleset.Element{})
		readBatchElement(d, &list[len(list)-1])
		if d.err != nil {
			return
		}
	}
	v.Set(reflect.ValueOf(list))
}

func readBatchElement(d *decoder, el *ruleset.Element) {
	bits := d.byte()
	if key := d.bytes(); len(key) > 0 {
		el.Key = key
	}
	if bits&batchKeyEnd != 0 {
		el.KeyEnd = d.bytes()
	}
	if bits&batchIntervalEnd != 0 {
		el.Flags |= ruleset.ElemIntervalEnd
	}
	if bits&batchCatchAll != 0 {
		el.Flags |= ruleset.ElemCatchAll
	}
	if bits&batchTimeout != 0 {
		el.HasTimeout, el.Timeout = true, d.uint()
	}
	if bits&batchExpires != 0 {
		el.Expires = d.uint()
	}
	if bits&batchRest != 0 {
		var rest elementRest
		decodeInto(d, &rest)
		el.Data, el.Object, el.Exprs, el.Comment = rest.Data, rest.Object, rest.Exprs, rest.Comment
	}
	el.OpenInterval = bits&batchOpen != 0
}
