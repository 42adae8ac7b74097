package store

import (
	"fmt"
	"reflect"
	"slices"

	"verdict/catalog"
)

// codec writes and reads values of one type.
type codec interface {
	encode(b []byte, v reflect.Value) []byte
	decode(d *decoder, v reflect.Value)
}

// decoder reads values with a file's schema.
type decoder struct {
	reader
	schema *fileSchema
	depth  int
	slabs  map[*structPlan]*slab
}

func newDecoder(content []byte, schema *fileSchema) *decoder {
	return &decoder{reader: reader{data: content}, schema: schema, slabs: map[*structPlan]*slab{}}
}

// slab is room for more structs of one type, so that a large file does not
// cost an allocation for each.
type slab struct {
	room reflect.Value
	used int
	size int
}

const maxSlab = 256

// alloc gives a new struct.
func (d *decoder) alloc(p *structPlan) reflect.Value {
	s := d.slabs[p]
	if s == nil {
		s = &slab{}
		d.slabs[p] = s
	}
	if s.used == s.size {
		s.size = min(max(1, 2*s.size), maxSlab)
		s.room, s.used = reflect.MakeSlice(reflect.SliceOf(p.typ), s.size, s.size), 0
	}
	s.used++
	return s.room.Index(s.used - 1)
}

// maxDepth bounds how deep values nest; an expression in a tunnel is the
// deepest that rulesets have.
const maxDepth = 32

type boolCodec struct{}

func (boolCodec) encode(b []byte, v reflect.Value) []byte {
	if v.Bool() {
		return append(b, 1)
	}
	return append(b, 0)
}

func (boolCodec) decode(d *decoder, v reflect.Value) { v.SetBool(d.byte() != 0) }

type uintCodec struct{}

func (uintCodec) encode(b []byte, v reflect.Value) []byte { return appendUint(b, v.Uint()) }

func (uintCodec) decode(d *decoder, v reflect.Value) {
	n := d.uint()
	if v.OverflowUint(n) {
		d.fail(fmt.Errorf("the number %d does not fit", n))
		return
	}
	v.SetUint(n)
}

type intCodec struct{}

func (intCodec) encode(b []byte, v reflect.Value) []byte { return appendInt(b, v.Int()) }

func (intCodec) decode(d *decoder, v reflect.Value) {
	n := d.int()
	if v.OverflowInt(n) {
		d.fail(fmt.Errorf("the number %d does not fit", n))
		return
	}
	v.SetInt(n)
}

type stringCodec struct{}

func (stringCodec) encode(b []byte, v reflect.Value) []byte { return appendString(b, v.String()) }

func (stringCodec) decode(d *decoder, v reflect.Value) { v.SetString(d.string()) }

type bytesCodec struct{}

func (bytesCodec) encode(b []byte, v reflect.Value) []byte {
	return append(appendUint(b, uint64(v.Len())), v.Bytes()...)
}

// decode keeps the bytes where they are: the content is never written to.
func (bytesCodec) decode(d *decoder, v reflect.Value) { v.SetBytes(d.bytes()) }

// keyCodec writes a row of the catalog.
type keyCodec struct{}

func (keyCodec) encode(b []byte, v reflect.Value) []byte {
	k, _ := v.Interface().(*catalog.Key)
	return appendUint(b, ownKeys().number[k])
}

func (keyCodec) decode(d *decoder, v reflect.Value) {
	n := d.uint()
	switch {
	case n == 0:
	case n > uint64(len(d.schema.keys)):
		d.fail(fmt.Errorf("no key has the number %d", n))
	case d.schema.keys[n-1] == nil:
		d.fail(fmt.Errorf("key number %d of the file is not known to this version", n))
	default:
		v.Set(reflect.ValueOf(d.schema.keys[n-1]))
	}
}

// structCodec writes the fields that are not zero, after a bit for each field.
type structCodec struct{ plan *structPlan }

func (c structCodec) encode(b []byte, v reflect.Value) []byte {
	at := len(b)
	for range (len(c.plan.fields) + 7) / 8 {
		b = append(b, 0)
	}
	for i, f := range c.plan.fields {
		if value := v.Field(f.index); !value.IsZero() {
			b[at+i/8] |= 1 << (i % 8)
			b = f.codec.encode(b, value)
		}
	}
	return b
}

func (c structCodec) decode(d *decoder, v reflect.Value) {
	st := d.schema.own[c.plan.id]
	if st == nil {
		d.fail(fmt.Errorf("the file does not describe %s", c.plan.name))
		return
	}
	if d.depth++; d.depth > maxDepth {
		d.fail(fmt.Errorf("values nest too deep"))
		return
	}
	present := d.take(uint64(len(st.fields)+7) / 8)
	for i := range st.fields {
		if d.err != nil || present[i/8]&(1<<(i%8)) == 0 {
			continue
		}
		f := &st.fields[i]
		if f.plan == nil {
			d.fail(fmt.Errorf("%s.%s is not known to this version", st.name, f.name))
			return
		}
		f.plan.codec.decode(d, v.Field(f.plan.index))
	}
	d.depth--
}

// pointerCodec writes what a pointer leads to. Nil is a field that is left
// out; lists hold none.
type pointerCodec struct{ plan *structPlan }

func (c pointerCodec) encode(b []byte, v reflect.Value) []byte {
	return structCodec(c).encode(append(b, 1), v.Elem())
}

func (c pointerCodec) decode(d *decoder, v reflect.Value) {
	if d.byte() == 0 {
		d.fail(fmt.Errorf("a %s is missing", c.plan.name))
		return
	}
	target := d.alloc(c.plan)
	structCodec(c).decode(d, target)
	v.Set(target.Addr())
}

// exprCodec writes an expression: the number of its type and its operands.
type exprCodec struct{ schema *schema }

func (c exprCodec) encode(b []byte, v reflect.Value) []byte {
	v = v.Elem()
	p := c.schema.exprs[v.Type()]
	b = appendUint(b, uint64(p.id)+1)
	return structCodec{p}.encode(b, v.Elem())
}

func (c exprCodec) decode(d *decoder, v reflect.Value) {
	n := d.uint()
	if n == 0 || n > uint64(len(d.schema.structs)) {
		d.fail(fmt.Errorf("no type has the number %d", n))
		return
	}
	st := d.schema.structs[n-1]
	if st.plan == nil || c.schema.exprs[reflect.PointerTo(st.plan.typ)] == nil {
		d.fail(fmt.Errorf("expression %s is not known to this version", st.name))
		return
	}
	target := d.alloc(st.plan)
	structCodec{st.plan}.decode(d, target)
	for _, f := range st.plan.fields {
		if f.needed && d.err == nil && target.Field(f.index).IsNil() {
			d.fail(fmt.Errorf("%s has no %s", st.name, f.name))
			return
		}
	}
	v.Set(target.Addr())
}

type sliceCodec struct {
	typ  reflect.Type
	item codec
}

func (c sliceCodec) encode(b []byte, v reflect.Value) []byte {
	b = appendUint(b, uint64(v.Len()))
	for i := range v.Len() {
		b = c.item.encode(b, v.Index(i))
	}
	return b
}

// chunk bounds what is allocated ahead of the items of a list, since a length
// may be wrong.
const chunk = 4096

func (c sliceCodec) decode(d *decoder, v reflect.Value) {
	n := d.count()
	list := reflect.MakeSlice(c.typ, min(n, chunk), min(n, chunk))
	for i := 0; i < n && d.err == nil; i++ {
		if i == list.Len() {
			more := min(n, 2*list.Len())
			grown := reflect.MakeSlice(c.typ, more, more)
			reflect.Copy(grown, list)
			list = grown
		}
		c.item.decode(d, list.Index(i))
	}
	if d.err == nil {
		v.Set(list)
	}
}

// mapCodec writes maps by strings, in the order of the keys.
type mapCodec struct {
	typ  reflect.Type
	item codec
}

func (c mapCodec) encode(b []byte, v reflect.Value) []byte {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(x, y reflect.Value) int {
		switch {
		case x.String() < y.String():
			return -1
		case x.String() > y.String():
			return 1
		}
		return 0
	})
	b = appendUint(b, uint64(len(keys)))
	for _, k := range keys {
		b = appendString(b, k.String())
		b = c.item.encode(b, v.MapIndex(k))
	}
	return b
}

func (c mapCodec) decode(d *decoder, v reflect.Value) {
	n := d.count()
	m := reflect.MakeMapWithSize(c.typ, min(n, chunk))
	for range n {
		key := reflect.New(c.typ.Key()).Elem()
		key.SetString(d.string())
		value := reflect.New(c.typ.Elem()).Elem()
		c.item.decode(d, value)
		if d.err != nil {
			return
		}
		m.SetMapIndex(key, value)
	}
	v.Set(m)
}

// encode writes a value whose type is a root of the schema.
func encode[T any](b []byte, value *T) []byte {
	p := ownSchema().byType[reflect.TypeFor[T]()]
	return structCodec{p}.encode(b, reflect.ValueOf(value).Elem())
}

// decodeInto reads a value whose type is a root of the schema.
func decodeInto[T any](d *decoder, value *T) {
	p := ownSchema().byType[reflect.TypeFor[T]()]
	structCodec{p}.decode(d, reflect.ValueOf(value).Elem())
}
