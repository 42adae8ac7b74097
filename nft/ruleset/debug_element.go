package ruleset

import (
	"strconv"

	"verdict/catalog"
	"verdict/nft/expr"
)

// elements appends the header and the elements of one change.
func (d *debugger) elements(b []byte, c *Change) []byte {
	b = append(appendSetName(b, c, 0), '\n')
	if len(c.Elements) == 0 {
		return b
	}
	form := newElementForm(d.find(c))
	for i := range c.Elements {
		b = append(b, '\t')
		b = form.append(b, &c.Elements[i])
	}
	return append(b, '\n')
}

// find gives the definition of a change's set, nil if it is unknown.
func (d *debugger) find(c *Change) *SetDef {
	if def := d.defs[debugKey{c.Family, c.Table, c.Name}]; def != nil && c.SetID == 0 {
		return def
	}
	if def := d.ids[c.SetID]; def != nil {
		return def
	}
	if t := d.base.Table(c.Family, c.Table); t != nil {
		if s := t.Set(c.Name); s != nil {
			return &s.SetDef
		}
	}
	return nil
}

// elementForm is how the elements of a set print.
type elementForm struct {
	key, data []expr.ElementField
	dataHost  bool
	interval  bool // data are ranges: their fields come twice
}

func newElementForm(def *SetDef) elementForm {
	if def == nil {
		return elementForm{}
	}
	u := &def.UserData
	f := elementForm{dataHost: u.DataHost, interval: u.DataInterval}
	for i, n := range def.Fields {
		f.key = append(f.key, expr.ElementField{Len: int(n), Host: i < len(u.FieldHost) && u.FieldHost[i]})
	}
	if len(f.key) == 0 {
		f.key = []expr.ElementField{{Len: int(def.KeyLen), Host: u.KeyHost}}
	}
	lengths := u.DataFields
	if len(lengths) == 0 {
		lengths = fieldLengths(def.DataType)
	}
	for i, n := range lengths {
		f.data = append(f.data, expr.ElementField{Len: int(n), Host: i < len(u.DataFieldHost) && u.DataFieldHost[i]})
	}
	return f
}

// typeBits is the width of one type in the number of a concatenation.
// Ref: nft, include/datatype.h, TYPE_BITS.
const typeBits = 6

// fieldLengths gives the byte lengths of concatenated types, nil for a single
// type.
func fieldLengths(typ uint32) []uint8 {
	if typ == TypeVerdict || typ < 1<<typeBits {
		return nil
	}
	var lengths []uint8
	for ; typ != 0; typ >>= typeBits {
		t := catalog.TypeByID(typ & (1<<typeBits - 1))
		if t == nil {
			return nil
		}
		lengths = append([]uint8{uint8((t.Bits + 7) / 8)}, lengths...)
	}
	return lengths
}

// append appends one element.
func (f *elementForm) append(b []byte, el *Element) []byte {
	b = append(b, "element "...)
	b = f.appendKey(b, el.Key)
	if len(el.KeyEnd) > 0 {
		b = append(b, " - "...)
		b = f.appendKey(b, el.KeyEnd)
	}
	if el.Data != nil {
		b = append(b, " : "...)
		b = f.appendData(b, el.Data)
	}
	if el.Object != "" {
		b = append(b, " : "...)
		b = append(b, el.Object...)
	}
	if el.Flags != 0 {
		b = append(b, " flags "...)
		b = strconv.AppendUint(b, uint64(el.Flags), 10)
	}
	if u := el.userData(); u.length > 0 {
		b = appendUserData(b, u)
	}
	return b
}

func (f *elementForm) appendKey(b, key []byte) []byte {
	if len(key) == 0 {
		return b // catch-all
	}
	if len(f.key) == 0 {
		return expr.AppendElementValue(b, expr.Value{Bytes: key})
	}
	return expr.AppendElementFields(b, key, f.key)
}

func (f *elementForm) appendData(b []byte, d *expr.Data) []byte {
	if d.Verdict != nil {
		return expr.AppendVerdict(b, *d.Verdict)
	}
	fields := f.data
	if len(fields) == 0 {
		n := len(d.Value.Bytes)
		if f.interval {
			n /= 2
		}
		fields = []expr.ElementField{{Len: n, Host: f.dataHost || d.Value.Host}}
	}
	size := 0
	for _, x := range fields {
		size += (x.Len + 3) &^ 3
	}
	if f.interval && len(d.Value.Bytes) > size {
		fields = append(append([]expr.ElementField(nil), fields...), fields...)
	}
	return expr.AppendElementFields(b, d.Value.Bytes, fields)
}

// openFlag is the flag of user data for an interval without end.
// Ref: libnftnl/udata.h, NFTNL_SET_ELEM_F_INTERVAL_OPEN.
const openFlag = "\x01\x00\x00\x00"

func (el *Element) userData() (u userData) {
	if el.Comment != "" {
		u.add(udataComment, el.Comment, true)
	}
	if el.OpenInterval {
		u.add(udataElemFlags, openFlag, false)
	}
	return u
}
