package decompile

import (
	"bytes"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// elementWriter writes the elements of one set.
type elementWriter struct {
	o            *Options
	set          *ruleset.Set
	keys, data   []format
	dataInterval bool
	ranges       bool // keys are concatenations of ranges
	perLine      int  // elements on a line of a listing
}

func newElementWriter(o *Options, s *ruleset.Set) *elementWriter {
	return &elementWriter{
		o: o, set: s, keys: setKeyFormats(s), data: setDataFormats(s),
		dataInterval: s.UserData.DataInterval,
		ranges:       s.Flags&ruleset.SetInterval != 0 && (s.Flags&ruleset.SetConcat != 0 || len(s.Fields) > 1),
	}
}

// useKeys makes keys read as the selector before the set says.
func (w *elementWriter) useKeys(keys []format) {
	if len(keys) == 0 || len(w.keys) > 1 && len(keys) != len(w.keys) {
		return
	}
	for i := range keys {
		if keys[i].bits == 0 && i < len(w.keys) {
			keys[i].bits = w.keys[i].bits
		}
	}
	w.keys = keys
}

// useData makes data read as its user says where the map has no type of its
// own.
func (w *elementWriter) useData(data []format, interval bool) {
	if len(data) == 0 || w.set.DataType == ruleset.TypeVerdict {
		return
	}
	w.dataInterval = w.dataInterval || interval
	if len(w.data) == len(data) {
		for i := range data {
			if w.data[i].typ == catalog.Integer {
				order := w.data[i].order
				w.data[i] = data[i]
				w.data[i].order = order
			}
		}
		return
	}
	w.data = data
}

// literal writes the elements of a named set, laid out as in listings; nil if
// there are none.
func (w *elementWriter) literal() *syntax.SetLiteral {
	all := w.elements()
	if len(all) == 0 {
		return nil
	}
	return &syntax.SetLiteral{Elements: all, PerLine: w.perLine}
}

// elements writes all elements in the order of listings.
func (w *elementWriter) elements() []syntax.Expr {
	if w.set.Elements == nil {
		return nil
	}
	list := make([]*ruleset.Element, 0, w.set.Elements.Len())
	var rest *ruleset.Element
	for e := range w.o.elementsOf(w.set) {
		if e.Flags&ruleset.ElemCatchAll != 0 {
			rest = e
		} else {
			list = append(list, e)
		}
	}
	w.perLine = w.elementsPerLine(list)
	var out []syntax.Expr
	switch {
	case w.set.Flags&ruleset.SetInterval == 0:
		w.sort(list)
		out = w.singles(list)
	case w.ranges:
		out = w.singles(list)
	default:
		out = w.intervals(list)
	}
	if rest != nil {
		out = append(out, w.element(&syntax.Element{}, rest, &syntax.Wildcard{}))
	}
	return out
}

func (w *elementWriter) singles(list []*ruleset.Element) []syntax.Expr {
	out := make([]syntax.Expr, len(list), len(list)+1)
	slab := make([]syntax.Element, len(list))
	for i, e := range list {
		out[i] = w.element(&slab[i], e, w.key(e))
	}
	return out
}

func (w *elementWriter) intervals(list []*ruleset.Element) []syntax.Expr {
	joined := intervals(list)
	out := make([]syntax.Expr, len(joined), len(joined)+1)
	slab := make([]syntax.Element, len(joined))
	f := w.keys[0]
	f.order = catalog.OrderNetwork
	for i := range joined {
		out[i] = w.element(&slab[i], joined[i].element, w.o.rangeOf(&f, joined[i].from, joined[i].to))
	}
	return out
}

// key writes an element's key.
func (w *elementWriter) key(e *ruleset.Element) syntax.Expr {
	if len(w.keys) == 1 {
		return w.o.literal(&w.keys[0], e.Key)
	}
	x := &syntax.Concat{Parts: make([]syntax.Expr, 0, len(w.keys))}
	at := 0
	for i := range w.keys {
		f, n := &w.keys[i], w.fieldBytes(i)
		from := slice(e.Key, at, n)
		if e.KeyEnd != nil {
			x.Parts = append(x.Parts, w.o.rangeOf(f, from, slice(e.KeyEnd, at, n)))
		} else {
			x.Parts = append(x.Parts, w.o.literal(f, from))
		}
		at += (n + 3) / 4 * 4
	}
	return x
}

func (w *elementWriter) fieldBytes(i int) int {
	if i < len(w.set.Fields) {
		return int(w.set.Fields[i])
	}
	return (w.keys[i].bits + 7) / 8
}

func slice(v []byte, at, n int) []byte {
	return v[min(at, len(v)):min(at+n, len(v))]
}

// element fills in an element with what belongs to it.
func (w *elementWriter) element(x *syntax.Element, e *ruleset.Element, key syntax.Expr) *syntax.Element {
	x.Key = key
	for _, s := range e.Exprs {
		if s := w.o.stateful(s); s != nil {
			x.Statements = append(x.Statements, s)
		}
	}
	w.times(e, x)
	x.Comment.Text = e.Comment
	switch {
	case e.Object != "":
		x.Data = quoted(e.Object)
	case e.Data == nil:
	case e.Data.Verdict != nil:
		x.Data = verdictData(e.Data.Verdict)
	default:
		x.Data = w.value(e.Data.Value.Bytes)
	}
	return x
}

func (w *elementWriter) times(e *ruleset.Element, x *syntax.Element) {
	if e.HasTimeout && e.Timeout != w.set.Timeout {
		if e.Timeout == ruleset.TimeoutNever {
			x.Never = w.set.Timeout != 0
		} else {
			x.Timeout = w.o.span(e.Timeout)
		}
	}
	if e.Expires != 0 && !w.o.Stateless {
		x.Expires = w.o.span(e.Expires)
	}
}

// verdictData writes the verdict that an element leads to.
func verdictData(v *expr.Verdict) *syntax.VerdictExpr {
	x := &syntax.VerdictExpr{Kind: v.Kind}
	if v.Kind == catalog.VerdictJump || v.Kind == catalog.VerdictGoto {
		x.Chain = name(v.Chain)
	}
	return x
}

// value writes map data; ranges come as both ends one after the other.
func (w *elementWriter) value(v []byte) syntax.Expr {
	to := v
	if w.dataInterval {
		v, to = v[:len(v)/2], v[len(v)/2:]
	}
	if len(w.data) == 1 {
		if f := &w.data[0]; w.dataInterval && f.typ.Prefix && bytes.Equal(v, to) {
			return w.o.prefix(f, v, f.typ.Bits)
		}
		return w.part(&w.data[0], v, to)
	}
	x := &syntax.Concat{Parts: make([]syntax.Expr, 0, len(w.data))}
	at := 0
	for i := range w.data {
		n := (w.data[i].bits + 7) / 8
		x.Parts = append(x.Parts, w.part(&w.data[i], slice(v, at, n), slice(to, at, n)))
		at += (n + 3) / 4 * 4
	}
	return x
}

func (w *elementWriter) part(f *format, from, to []byte) syntax.Expr {
	if w.dataInterval {
		return w.o.rangeOf(f, from, to)
	}
	return w.o.literal(f, from)
}
