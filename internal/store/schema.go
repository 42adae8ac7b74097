package store

import (
	"fmt"
	"reflect"
	"sync"

	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// record types: what the records of a file hold, apart from elements.
type (
	// image is a snapshot without elements.
	image struct {
		Sequence        uint64
		Time            int64
		Generation      uint32
		NextTableHandle uint64
		Tables          []*ruleset.Table
		Interfaces      []Interface
	}
	// batchRecord is a transaction.
	batchRecord struct {
		Time       int64
		PID        uint32
		Command    string
		Owner      string
		Generation uint32 // afterwards
		Released   bool
		Interfaces []Interface
		Changes    []ruleset.Change
	}
	// handlesRecord is where the counters of handles stand.
	handlesRecord struct {
		NextTableHandle uint64
		Tables          []tableHandles
	}
	tableHandles struct {
		Family     catalog.Family
		Name       string
		NextHandle uint64
	}
	// payload is what an element carries beside key, times and target.
	payload struct {
		Data    *expr.Data
		Exprs   []expr.Expr
		Comment string
	}
)

// structPlan says how a struct is written.
type structPlan struct {
	id     int
	name   string
	typ    reflect.Type
	fields []*fieldPlan
}

// fieldPlan says how a field is written. Its form names the type in a schema.
type fieldPlan struct {
	name  string
	form  string
	index int
	codec codec
	// needed: no expression is without it.
	needed bool
}

// schema is the set of types of this program's files.
type schema struct {
	structs []*structPlan
	byType  map[reflect.Type]*structPlan
	exprs   map[reflect.Type]*structPlan // by pointer type
	text    []byte                       // the schema record's content
}

var roots = []reflect.Type{
	reflect.TypeFor[image](), reflect.TypeFor[batchRecord](), reflect.TypeFor[handlesRecord](), reflect.TypeFor[payload](),
	reflect.TypeFor[ruleset.Target](), reflect.TypeFor[elementRest](),
}

// ownSchema is that of this program. The types are fixed, so it cannot fail
// once a test has run it.
var ownSchema = sync.OnceValue(func() *schema {
	s := &schema{byType: map[reflect.Type]*structPlan{}, exprs: map[reflect.Type]*structPlan{}}
	for _, e := range expressions {
		t := reflect.TypeOf(e)
		s.exprs[t] = s.structOf(t.Elem(), "")
	}
	for _, t := range roots {
		s.structOf(t, "")
	}
	s.text = s.appendText(nil)
	return s
})

// Types that are not stored: places in sources, and elements, which snapshots
// hold in a form of their own.
var omitted = map[reflect.Type]bool{
	reflect.TypeFor[diag.Span](): true, reflect.TypeFor[[]diag.Span](): true, reflect.TypeFor[*ruleset.Elements](): true,
}

// The forms that the plan of a field must know.
const (
	formKey  = "key"
	formExpr = "expression"
)

func (s *schema) structOf(t reflect.Type, within string) *structPlan {
	if p := s.byType[t]; p != nil {
		return p
	}
	p := &structPlan{id: len(s.structs), name: t.String(), typ: t}
	if t.Name() == "" {
		p.name = within
	}
	s.structs = append(s.structs, p)
	s.byType[t] = p
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || omitted[f.Type] {
			continue
		}
		c, form := s.codecOf(f.Type, p.name+"."+f.Name)
		p.fields = append(p.fields, &fieldPlan{
			name: f.Name, form: form, index: i, codec: c, needed: form == formKey || form == formExpr,
		})
	}
	return p
}

// codecOf chooses how values of a type are written, and names the form.
func (s *schema) codecOf(t reflect.Type, within string) (codec, string) {
	switch {
	case t == reflect.TypeFor[*catalog.Key]():
		return keyCodec{}, formKey
	case t == reflect.TypeFor[expr.Expr]():
		return exprCodec{s}, formExpr
	case t == reflect.TypeFor[[]ruleset.Element]():
		return elementsCodec{}, "elements"
	}
	switch t.Kind() {
	case reflect.Bool:
		return boolCodec{}, "bool"
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return uintCodec{}, "uint"
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		return intCodec{}, "int"
	case reflect.String:
		return stringCodec{}, "string"
	case reflect.Struct:
		p := s.structOf(t, within)
		return structCodec{p}, p.name
	case reflect.Pointer:
		p := s.structOf(t.Elem(), within)
		return pointerCodec{p}, "*" + p.name
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return bytesCodec{}, "bytes"
		}
		item, form := s.codecOf(t.Elem(), within)
		return sliceCodec{t, item}, "[]" + form
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			item, form := s.codecOf(t.Elem(), within)
			return mapCodec{t, item}, "map " + form
		}
	}
	panic(fmt.Sprintf("store: no form for %v in %s", t, within)) // found by any test
}

// appendText writes the schema: the structs with their fields, then the keys.
func (s *schema) appendText(b []byte) []byte {
	b = appendUint(b, uint64(len(s.structs)))
	for _, p := range s.structs {
		b = appendString(b, p.name)
		b = appendUint(b, uint64(len(p.fields)))
		for _, f := range p.fields {
			b = appendString(b, f.name)
			b = appendString(b, f.form)
		}
	}
	names := ownKeys().names
	b = appendUint(b, uint64(len(names)))
	for _, n := range names {
		b = appendString(b, n)
	}
	return b
}

// fileSchema is the schema of a file in terms of this program's types.
type fileSchema struct {
	same    bool // equal to this program's
	structs []*fileStruct
	own     []*fileStruct // by structPlan.id
	keys    []*catalog.Key
}

// fileStruct is a struct of a file. A field that this program lacks has no
// plan.
type fileStruct struct {
	plan   *structPlan // nil if the program lacks it
	name   string
	fields []fileField
}

type fileField struct {
	name string
	plan *fieldPlan
}

// readSchema reads a schema record.
func readSchema(content []byte) (*fileSchema, error) {
	own := ownSchema()
	fs := &fileSchema{same: string(content) == string(own.text), own: make([]*fileStruct, len(own.structs))}
	byName := make(map[string]*structPlan, len(own.structs))
	for _, p := range own.structs {
		byName[p.name] = p
	}
	r := reader{data: content}
	for range r.count() {
		st := &fileStruct{name: r.string()}
		st.plan = byName[st.name]
		for range r.count() {
			name, form := r.string(), r.string()
			st.fields = append(st.fields, fileField{name, st.plan.field(name, form)})
		}
		fs.structs = append(fs.structs, st)
		if st.plan != nil {
			fs.own[st.plan.id] = st
		}
	}
	var names []string
	for range r.count() {
		names = append(names, r.string())
	}
	if r.err == nil && len(r.data) > 0 {
		r.err = fmt.Errorf("%d bytes too many", len(r.data))
	}
	if fs.same {
		fs.keys = ownKeys().keys
	} else {
		fs.keys = resolveKeys(names)
	}
	return fs, r.err
}

// field finds a field by name and form, nil if there is none.
func (p *structPlan) field(name, form string) *fieldPlan {
	if p == nil {
		return nil
	}
	for _, f := range p.fields {
		if f.name == name && f.form == form {
			return f
		}
	}
	return nil
}
