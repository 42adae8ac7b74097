package chain

import (
	"slices"

	"verdict/catalog"
	"verdict/classify"
	"verdict/engine/vm"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// field is a field of a chain's table: a load that stands for one or several
// sources of its rules.
type field struct {
	source source
	load   vm.Load
	like   expr.Expr
	rules  int // how many rules look at it
	// mixed says that some rule loads less than the field: where the field is
	// absent, that rule's load may still succeed.
	mixed bool
	lane  int // of its first word in a key
	words int
	// word says that it is four bytes at an offset from the network header.
	word bool
	at   int
}

// maxFieldWords leaves room for columns of words under masks.
const maxFieldWords = 24

// fieldsOf decides which fields a chain's table has.
func fieldsOf(p *vm.Program, t *ruleset.Table, forms []*form) ([]field, error) {
	counts := map[source]int{}
	like := map[source]expr.Expr{}
	var order []source
	for _, f := range forms {
		for i := range f.matches {
			for _, c := range f.matches[i].any {
				for _, a := range c {
					if counts[a.source] == 0 {
						order = append(order, a.source)
					}
					counts[a.source]++
				}
			}
		}
		for _, l := range f.loads {
			if l.known {
				like[l.source] = l.like
			}
		}
	}
	list := windows(order)
	for i := range list {
		f := &list[i]
		f.like = like[f.source]
		for s, n := range counts {
			if f.holds(s) {
				f.rules += n
				f.mixed = f.mixed || s != f.source
			}
		}
		f.words = (f.source.length + 3) / 4
		load, err := p.NewLoad(t, loadFor(f.source, f.like))
		if err != nil {
			return nil, err
		}
		f.load = load
		f.at, f.word = load.Network4()
	}
	slices.SortStableFunc(list, func(a, b field) int { return b.rules - a.rules })
	kept, words := list[:0], 0
	for _, f := range list {
		if words+f.words <= maxFieldWords && len(kept) < 64 {
			kept = append(kept, f)
			words += f.words
		}
	}
	return kept, nil
}

// windows joins payload sources that overlap, so that an address and a prefix
// of it, which is loaded shorter, are one field.
func windows(sources []source) []field {
	var list []field
	var payloads []source
	for _, s := range sources {
		if s.payload && s.base != catalog.BaseLink {
			payloads = append(payloads, s)
		} else {
			list = append(list, field{source: s})
		}
	}
	slices.SortFunc(payloads, func(a, b source) int {
		if a.base != b.base {
			return int(a.base) - int(b.base)
		}
		if a.offset != b.offset {
			return a.offset - b.offset
		}
		return b.length - a.length
	})
	first := len(list)
	for _, s := range payloads {
		if n := len(list); n > first {
			w := &list[n-1].source
			end := max(w.offset+w.length, s.offset+s.length)
			if w.base == s.base && s.offset < w.offset+w.length && end-w.offset <= 16 {
				w.length = end - w.offset
				continue
			}
		}
		list = append(list, field{source: s})
	}
	return list
}

// holds reports whether a source is the field or a part of it.
func (f *field) holds(s source) bool {
	if f.source == s {
		return true
	}
	return s.payload && f.source.payload && s.base == f.source.base && s.base != catalog.BaseLink &&
		s.offset >= f.source.offset && s.offset+s.length <= f.source.offset+f.source.length
}

// layoutOf lays the fields out.
func layoutOf(fields []field) (*classify.Layout, error) {
	list := make([]classify.Field, len(fields))
	for i := range fields {
		list[i] = classify.Field{Name: fields[i].name(), Bits: 8 * fields[i].source.length}
	}
	l, err := classify.NewLayout(list...)
	if err != nil {
		return nil, err
	}
	for i := range fields {
		fields[i].lane = l.Lane(i, 0)
	}
	return l, nil
}

// name is the field in nft's words where it has some.
func (f *field) name() string {
	if !f.source.payload {
		return selectorName(f.source.text)
	}
	return payloadName(f.source)
}
