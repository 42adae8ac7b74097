package compile

import (
	"iter"
	"slices"

	"verdict/catalog"
	"verdict/diag"
	"verdict/internal/huge"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// setBuild collects the elements of a set or map literal.
type setBuild struct {
	*compiler
	rule *rule // for stateful statements and verdicts of anonymous sets
	info *setInfo
	at   diag.Span
	// shift and width place a sub-byte field's values in the loaded bytes of
	// an anonymous set; flip is applied to them (a transferred xor).
	shift int
	flip  num
	field vtype // the type in which keys are written, where it differs
	// keys are the elements of a single field; what they carry besides is in
	// elems, where their elem says. Concatenations have all in elems.
	keys   []interval
	elems  []ruleset.Element
	all    *ruleset.Element // the catch-all element
	ranges bool             // some key is not a single value
	data   []dataValue      // map data
	arena  arena
	// keyRanges: the concatenation encoded last has a range or prefix.
	keyRanges bool
	grow      int // elements expected
	// keyOnly: elements to delete or find, which need no data.
	keyOnly bool
}

// dataValue is the data of one map element; to is set for intervals. row is
// the element's place in elems, -1 for the catch-all element.
type dataValue struct {
	from, to []byte
	verdict  *expr.Verdict
	row      int32
}

// arena hands out byte slices from large blocks.
type arena struct{ block []byte }

func (a *arena) take(n int) []byte {
	if len(a.block) < n {
		a.block = make([]byte, max(n, 1<<16))
	}
	b := a.block[:n:n]
	a.block = a.block[n:]
	return b
}

// reserve makes room for n bytes that will be taken, or a large part of them.
func (a *arena) reserve(n int) {
	const most = 32 << 20
	if len(a.block) < n {
		a.block = huge.Slice[byte](min(n, most))
	}
}

// anonymousSet starts an anonymous set with keys of a type.
func (r *rule) anonymousSet(key vtype, at diag.Span) *setBuild {
	r.lastSetID++
	return &setBuild{
		compiler: r.compiler, rule: r, at: at, field: key,
		info: &setInfo{name: "__set%d", id: r.lastSetID, flags: ruleset.SetAnonymous | ruleset.SetConstant, key: key},
	}
}

// addConstant adds a single value.
func (b *setBuild) addConstant(n num) {
	b.keys = append(b.keys, interval{from: n, to: n, elem: -1, at: b.at})
}

// literal adds the elements of a set literal.
func (b *setBuild) literal(lit *syntax.SetLiteral) bool {
	if n := lit.Len(); n > b.grow {
		b.grow = n
		switch {
		case b.info.key.isConcat() && b.elems == nil:
			b.elems = huge.Slice[ruleset.Element](n)[:0]
			b.arena.reserve(2 * n * b.info.key.bytes())
		case !b.info.key.isConcat() && b.keys == nil:
			b.keys = huge.Slice[interval](n)[:0]
		}
	}
	ok := true
	for x := range lit.All() {
		ok = b.item(x) && ok
	}
	return ok
}

// item adds what one entry of a set literal stands for: an element, or the
// elements of a nested set or variable.
func (b *setBuild) item(x syntax.Expr) bool {
	el, ok := x.(*syntax.Element)
	if !ok {
		switch x := b.expand(x).(type) {
		case nil:
			return false
		case *syntax.SetLiteral:
			return b.literal(x)
		case *syntax.Element:
			return b.item(x)
		case *syntax.List:
			return b.list(x)
		default:
			return b.element(&syntax.Element{At: syntax.At{Span: x.Place()}, Key: x})
		}
	}
	switch key := el.Key.(type) {
	case *syntax.Variable:
		switch x := b.expand(key).(type) {
		case nil:
			return false
		case *syntax.SetLiteral:
			return b.members(x.All(), el)
		case *syntax.List:
			if !b.fieldType().isBitmask() {
				return b.members(slices.Values(x.Items), el)
			}
		}
	case *syntax.SetLiteral:
		return b.members(key.All(), el)
	}
	return b.element(el)
}

// members adds the members of a nested set, each with the data and attributes
// that stand beside the set.
func (b *setBuild) members(list iter.Seq[syntax.Expr], outer *syntax.Element) bool {
	ok := true
	for x := range list {
		inner, isElement := x.(*syntax.Element)
		if !isElement {
			inner = &syntax.Element{At: syntax.At{Span: x.Place()}, Key: x}
		}
		el := *inner
		if el.Data == nil {
			el.Data = outer.Data
		}
		if len(el.Statements) == 0 {
			el.Statements = outer.Statements
		}
		if el.Timeout == nil && !el.Never {
			el.Timeout, el.Never = outer.Timeout, outer.Never
		}
		if el.Expires == nil {
			el.Expires = outer.Expires
		}
		if !el.Comment.Given() {
			el.Comment = outer.Comment
		}
		ok = b.item(&el) && ok
	}
	return ok
}

func (t vtype) isBitmask() bool { return t.typ != nil && t.typ.Bitmask }

func (b *setBuild) list(l *syntax.List) bool {
	ok := true
	for _, x := range l.Items {
		ok = b.item(x) && ok
	}
	return ok
}

func (b *setBuild) fieldType() vtype {
	if b.field.typ != nil || b.field.isConcat() {
		return b.field
	}
	return b.info.key
}

// element adds one element.
func (b *setBuild) element(el *syntax.Element) bool {
	_, wild := el.Key.(*syntax.Wildcard)
	concat := b.info.key.isConcat()
	row := int32(-1)
	switch {
	case wild && b.all != nil:
		b.diags.Errorf(el.Span, "compile/duplicate", "the catch-all element is given twice")
		return false
	case wild:
		b.all = &ruleset.Element{Flags: ruleset.ElemCatchAll, Place: el.Key.Place()}
	case concat || b.carries(el):
		row = int32(len(b.elems))
		b.elems = append(b.elems, ruleset.Element{Place: el.Key.Place()})
	}
	if (row >= 0 || wild) && !b.attributes(el, b.row(row)) {
		return false
	}
	if !b.elementData(el, row) {
		return false
	}
	switch {
	case wild:
		return true
	case concat:
		return b.concatKey(el.Key, &b.elems[row])
	}
	k, ok := b.key(el.Key, b.fieldType())
	if !ok {
		return false
	}
	if k.from.cmp(k.to) > 0 {
		b.diags.Errorf(el.Key.Place(), "compile/range", "Range negative size")
		return false
	}
	b.ranges = b.ranges || k.interval
	iv := interval{from: k.from, to: k.to, at: el.Key.Place(), elem: row}
	if b.shift != 0 {
		iv.from, iv.to = iv.from.shl(b.shift), iv.to.shl(b.shift)
	}
	iv.from, iv.to = iv.from.xor(b.flip), iv.to.xor(b.flip)
	b.keys = append(b.keys, iv)
	return true
}

// carries reports whether an element is more than its key.
func (b *setBuild) carries(el *syntax.Element) bool {
	return b.info.isMap() || el.Data != nil || el.Timeout != nil || el.Never || el.Expires != nil ||
		el.Comment.Given() || len(el.Statements) > 0
}

// row is an element in the making; -1 is the catch-all element.
func (b *setBuild) row(i int32) *ruleset.Element {
	if i < 0 {
		return b.all
	}
	return &b.elems[i]
}

// attributes evaluates what stands beside key and data.
func (b *setBuild) attributes(el *syntax.Element, out *ruleset.Element) bool {
	out.Comment = el.Comment.Text
	if len(out.Comment) > 128 {
		b.diags.Errorf(el.Comment.Span, "compile/comment", "comment too long, 128 characters maximum allowed")
		return false
	}
	if el.Never {
		out.HasTimeout, out.Timeout = true, ruleset.TimeoutNever
	} else if el.Timeout != nil {
		ms, ok := b.duration(el.Timeout)
		if !ok {
			return false
		}
		out.HasTimeout, out.Timeout = true, ms
	}
	if el.Expires != nil {
		ms, ok := b.duration(el.Expires)
		if !ok {
			return false
		}
		out.Expires = ms
	}
	for _, s := range el.Statements {
		e := b.stateful(s)
		if e == nil {
			return false
		}
		out.Exprs = append(out.Exprs, e)
	}
	return true
}

// elementData evaluates the data of a map element.
func (b *setBuild) elementData(el *syntax.Element, row int32) bool {
	s := b.info
	switch {
	case el.Data == nil && s.isMap() && !b.keyOnly:
		b.diags.Errorf(el.Span, "compile/map", "map element needs data").Hint = "write KEY : DATA"
		return false
	case el.Data == nil:
		return true
	case !s.isMap():
		b.diags.Errorf(el.Data.Place(), "compile/map", "mapping outside of map context")
		return false
	case s.object != 0:
		l, ok := b.expand(el.Data).(*syntax.Literal)
		if !ok {
			b.diags.Errorf(el.Data.Place(), "compile/map", "the name of an object is needed here")
			return false
		}
		b.row(row).Object = l.Text
		return true
	}
	var d dataValue
	ok := false
	if s.verdicts() {
		v, isVerdict := b.expand(el.Data).(*syntax.VerdictExpr)
		if !isVerdict {
			b.notVerdict(el.Data)
			return false
		}
		d.verdict = b.verdictData(v)
		ok = d.verdict != nil
	} else {
		d, ok = b.constantData(el.Data)
	}
	d.row = row
	b.data = append(b.data, d)
	return ok
}

// verdictNames are what a verdict can be, for suggestions.
var verdictNames = []string{"accept", "drop", "continue", "break", "jump", "goto", "return", "queue"}

func (b *setBuild) notVerdict(e syntax.Expr) {
	d := b.diags.Errorf(e.Place(), "compile/map", "Could not parse netfilter verdict")
	if l, ok := b.peek(e).(*syntax.Literal); ok {
		if near := diag.Misspelled(l.Text, verdictNames); near != "" {
			d.Message += "; did you mean `" + near + "'?"
		}
	}
}

// verdictData evaluates a verdict in a map.
func (b *setBuild) verdictData(v *syntax.VerdictExpr) *expr.Verdict {
	if b.rule != nil {
		o, ok := b.rule.verdictOperand(v).(*verdict)
		if !ok {
			return nil
		}
		return &o.v
	}
	out := &expr.Verdict{Kind: v.Kind}
	if v.Chain != nil {
		name, ok := b.name(v.Chain)
		if !ok {
			return nil
		}
		out.Chain = name
	}
	if v.Block != nil {
		b.diags.Errorf(v.Span, "compile/chain", "an anonymous chain can only stand in a rule")
		return nil
	}
	return out
}

// constantData evaluates data that are values.
func (b *setBuild) constantData(e syntax.Expr) (d dataValue, ok bool) {
	t := b.info.data
	e = b.expand(e)
	if e == nil {
		return d, false
	}
	if !t.isConcat() {
		k, ok := b.key(e, t)
		if !ok {
			return d, false
		}
		if k.partial {
			b.diags.Errorf(e.Place(), "compile/map", "wildcard strings cannot be map data")
			return d, false
		}
		if k.isPrefix && !t.typ.Prefix {
			b.diags.Errorf(e.Place(), "compile/map", "a prefix cannot be map data of type %s", t.describe()).Hint = "write a range"
			return d, false
		}
		d.from = b.arena.take(t.bytes())
		k.from.put(d.from, t.host())
		if k.isRange || k.isPrefix {
			d.to = b.arena.take(t.bytes())
			k.to.put(d.to, t.host())
		}
		return d, true
	}
	c, isConcat := e.(*syntax.Concat)
	if !isConcat || len(c.Parts) != len(t.parts) {
		b.diags.Errorf(e.Place(), "compile/type", "invalid data type, expected %s", t.describe())
		return d, false
	}
	d.from, d.to, ok = b.concatBytes(c, t, false)
	return d, ok
}

// concatKey encodes the key of a concatenation.
func (b *setBuild) concatKey(e syntax.Expr, out *ruleset.Element) bool {
	t := b.info.key
	c, ok := e.(*syntax.Concat)
	if !ok {
		x := b.expand(e)
		if c, ok = x.(*syntax.Concat); !ok {
			if x != nil {
				b.diags.Errorf(e.Place(), "compile/type", "invalid data type, expected %s", t.describe())
			}
			return false
		}
	}
	if len(c.Parts) != len(t.parts) {
		b.diags.Errorf(c.Span, "compile/type", "invalid data type, expected %s", t.describe())
		return false
	}
	b.keyRanges = false
	from, to, ok := b.concatBytes(c, t, b.info.interval())
	b.ranges = b.ranges || b.keyRanges
	out.Key, out.KeyEnd = from, to
	return ok
}

// concatBytes encodes the parts of a concatenation; to is nil where all are
// single values. Intervals need every part in network order.
func (b *setBuild) concatBytes(c *syntax.Concat, t vtype, network bool) (from, to []byte, ok bool) {
	size := t.bytes()
	from = b.arena.take(size)
	at := 0
	for i, p := range c.Parts {
		f := &t.parts[i]
		k, ok := b.key(p, *f)
		if !ok {
			return nil, nil, false
		}
		if k.from.cmp(k.to) > 0 {
			b.diags.Errorf(p.Place(), "compile/range", "Range negative size")
			return nil, nil, false
		}
		host := f.host() && !network
		n := f.bytes()
		k.from.put(from[at:at+n], host)
		if k.interval {
			b.keyRanges = true
		}
		if !k.whole() && to == nil {
			to = b.arena.take(size)
			copy(to, from[:at])
		}
		if to != nil {
			k.to.put(to[at:at+n], host)
		}
		at += 4 * words(f.bits)
	}
	return from, to, true
}

func (c *compiler) duration(d *syntax.Duration) (ms uint64, ok bool) {
	if d.Variable == nil {
		return d.Milliseconds, true
	}
	l, isLiteral := c.expand(d.Variable).(*syntax.Literal)
	if !isLiteral {
		c.diags.Errorf(d.Span, "compile/duration", "a time is needed here")
		return 0, false
	}
	w, ok := c.literal(l, vtype{typ: catalog.Time, bits: 64, order: catalog.OrderHost})
	return w.n.lo, ok
}
