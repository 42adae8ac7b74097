package compile

import (
	"verdict/catalog"
	"verdict/internal/huge"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// declareSet finishes an anonymous set: it settles the flags and adds the
// changes that make the set.
func (r *rule) declareSet(b *setBuild) bool {
	s := b.info
	if b.ranges {
		s.flags |= ruleset.SetInterval
		if s.key.isConcat() {
			s.flags |= ruleset.SetConcat
		}
	}
	elems, ok := b.finish()
	if !ok || r.declare {
		return ok
	}
	def := s.definition()
	def.Size = uint32(len(elems))
	at := b.at
	r.made = append(r.made,
		ruleset.Change{Op: ruleset.OpAdd, Kind: ruleset.KindSet, Family: r.family, Table: r.table.name, Name: s.name,
			SetDef: def, SetID: s.id, Place: at, NamePlace: at, TablePlace: at},
		ruleset.Change{Op: ruleset.OpAdd, Kind: ruleset.KindElements, Family: r.family, Table: r.table.name, Name: s.name,
			SetID: s.id, Elements: elems, Place: at, NamePlace: at, TablePlace: at})
	return true
}

// definition is the set as the kernel is told of it.
func (s *setInfo) definition() *ruleset.SetDef {
	d := &ruleset.SetDef{Name: s.name, Flags: s.flags, ObjType: s.object, Exprs: s.exprs}
	if s.interval() && s.key.isConcat() {
		d.Flags |= ruleset.SetConcat
	}
	if len(s.exprs) > 1 {
		d.Flags |= ruleset.SetExpr
	}
	d.KeyType, d.KeyLen = typeNumber(s.key), uint32(s.key.bytes())
	u := &d.UserData
	for _, p := range s.key.parts {
		d.Fields = append(d.Fields, uint8(p.bytes()))
		u.FieldHost = append(u.FieldHost, p.host() && !s.interval())
	}
	u.KeyHost = s.key.host() && !s.interval()
	u.AutoMerge, u.DataInterval, u.Meter = s.autoMerge, s.dataInterval, s.meter
	if s.flags&ruleset.SetMap == 0 {
		return d
	}
	if s.verdicts() {
		d.DataType, d.DataLen = ruleset.TypeVerdict, 16
		return d
	}
	d.DataType, d.DataLen = typeNumber(s.data), uint32(s.data.bytes())
	if s.dataInterval {
		d.DataLen = uint32(s.dataWidth() * 2)
	}
	u.DataHost = s.data.host()
	for _, p := range s.data.parts {
		u.DataFields = append(u.DataFields, uint8(p.bytes()))
		u.DataFieldHost = append(u.DataFieldHost, p.host())
	}
	return d
}

// dataWidth is the size of one end of interval data: a whole number of words.
func (s *setInfo) dataWidth() int { return 4 * words(s.data.bits) }

// typeNumber is the number by which the kernel is told of a type.
func typeNumber(t vtype) uint32 {
	if !t.isConcat() {
		return t.typ.ID
	}
	parts := make([]*catalog.Type, len(t.parts))
	for i, p := range t.parts {
		parts[i] = p.typ
	}
	return catalog.ConcatID(parts)
}

// finish gives the elements as the kernel takes them.
func (b *setBuild) finish() ([]ruleset.Element, bool) {
	b.finishData()
	s := b.info
	out := b.elems
	switch {
	case s.key.isConcat():
		if s.interval() {
			for i := range b.elems {
				if e := &b.elems[i]; e.KeyEnd == nil {
					e.KeyEnd = e.Key
				}
			}
			b.toNetwork()
		}
	case s.interval():
		var ok bool
		if out, ok = b.segments(); !ok {
			return nil, false
		}
	default:
		host, n := s.key.host(), s.key.bytes()
		out = huge.Slice[ruleset.Element](len(b.keys) + 1)[:len(b.keys)]
		b.arena.reserve(len(b.keys) * n)
		for i := range b.keys {
			k := &b.keys[i]
			b.fill(&out[i], k)
			out[i].Key = b.arena.take(n)
			k.from.put(out[i].Key, host)
		}
	}
	if b.all != nil {
		out = append(out, *b.all)
	}
	return out, true
}

// fill starts an element with what its key carries.
func (b *setBuild) fill(e *ruleset.Element, k *interval) {
	if k.elem >= 0 {
		*e = b.elems[k.elem]
		return
	}
	e.Place = k.at
}

// toNetwork reverses the host-order parts of an anonymous concatenation that
// turned out to hold ranges.
func (b *setBuild) toNetwork() {
	if b.info.flags&ruleset.SetAnonymous == 0 {
		return
	}
	at := 0
	for _, p := range b.info.key.parts {
		if p.host() && p.bits > 8 {
			for i := range b.elems {
				e := &b.elems[i]
				same := &e.Key[0] == &e.KeyEnd[0]
				reverse(e.Key[at : at+p.bytes()])
				if !same {
					reverse(e.KeyEnd[at : at+p.bytes()])
				}
			}
		}
		at += 4 * words(p.bits)
	}
}

func reverse(b []byte) {
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
}

// finishData puts the data of a map into its elements.
func (b *setBuild) finishData() {
	s := b.info
	if len(b.data) == 0 {
		return
	}
	for i := range b.data {
		s.dataInterval = s.dataInterval || b.data[i].to != nil
	}
	host := s.data.host()
	values := make([]expr.Data, len(b.data))
	width := s.dataWidth()
	for i := range b.data {
		d := &b.data[i]
		out := &values[i]
		b.row(d.row).Data = out
		if d.verdict != nil {
			out.Verdict = d.verdict
			continue
		}
		if !s.dataInterval {
			out.Value = expr.Value{Bytes: d.from, Host: host}
			continue
		}
		to := d.to
		if to == nil {
			to = d.from
		}
		joined := b.arena.take(2 * width)
		copy(joined, d.from)
		copy(joined[width:], to)
		out.Value = expr.Value{Bytes: joined, Host: host}
	}
}

// segments turns the intervals of a single field into the starts and ends
// that the kernel stores.
func (b *setBuild) segments() ([]ruleset.Element, bool) {
	s := b.info
	list := b.keys
	sortIntervals(list)
	before := b.diags.Errors()
	switch {
	case !s.isMap() && (s.autoMerge || s.flags&ruleset.SetAnonymous != 0):
		list = mergeIntervals(list)
	default:
		list = b.checkIntervals(list, s.isMap())
	}
	b.keys = list
	if b.diags.Errors() > before {
		return nil, false
	}
	out := huge.Slice[ruleset.Element](2*len(list) + 2)[:0]
	n, last := s.key.bytes(), ones(s.key.bits)
	b.arena.reserve(2 * n * len(list))
	anonymous := s.flags&ruleset.SetAnonymous != 0
	bytes := func(v num) []byte {
		k := b.arena.take(n)
		v.put(k, false)
		return k
	}
	if len(list) > 0 && !s.filled && !list[0].from.isZero() {
		out = append(out, ruleset.Element{Key: bytes(num{}), Flags: ruleset.ElemIntervalEnd, Place: list[0].at})
	}
	for i := range list {
		iv := &list[i]
		out = append(out, ruleset.Element{})
		e := &out[len(out)-1]
		b.fill(e, iv)
		e.Key = bytes(iv.from)
		open := iv.to.cmp(last) == 0
		e.OpenInterval = open
		next := iv.to.plus1()
		if open || anonymous && i+1 < len(list) && list[i+1].from.cmp(next) == 0 {
			continue
		}
		out = append(out, ruleset.Element{Key: bytes(next), Flags: ruleset.ElemIntervalEnd, Place: iv.at})
	}
	return out, true
}
