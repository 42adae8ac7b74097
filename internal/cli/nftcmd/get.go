package nftcmd

import (
	"bytes"

	"verdict/diag"
	"verdict/nft/compile"
	"verdict/nft/decompile"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
	"verdict/set"
)

// get answers get element and reset element: the set with the elements that
// the kernel finds, each as often as it was asked for.
func (v *view) get(c *syntax.Command) {
	t := v.table(c)
	s := t.Set(c.Target.Name.Text)
	requests, wrong := compile.Elements(v.rules, c, v.names.compileOptions())
	if wrong.HasErrors() {
		for _, d := range wrong.All() {
			v.found.Add(d)
		}
		return
	}
	entries, ok := lookUp(s, requests, v.session.clock())
	if !ok {
		v.notThere(c)
		return
	}
	item, err := v.answerSet(t, s, entries)
	if err != nil {
		v.found.Errorf(c.Span, "nft/element", "%v", err)
		return
	}
	v.print([]section{{someItems, v.frame(t, []syntax.Item{item})}})
}

// answerSet makes the set with the elements that were found. Ranges of single
// fields come in the order in which they were asked for, all others as in a
// listing.
func (v *view) answerSet(t *ruleset.Table, s *ruleset.Set, entries []*set.Entry) (*syntax.Set, error) {
	parts := [][]*set.Entry{entries}
	if s.Flags&(ruleset.SetInterval|ruleset.SetConcat) == ruleset.SetInterval {
		parts = rangeByRange(entries)
	}
	var item *syntax.Set
	var all *syntax.SetLiteral
	for _, part := range parts {
		one, err := subset(t, s, part, s.Elements.Targets(), v.session.clock())
		if err != nil {
			return nil, err
		}
		x := decompile.Set(one, v.options)
		list := literalOf(x)
		if item == nil {
			item, all = x, list
		} else if all != nil && list != nil {
			all.Elements = append(all.Elements, list.Elements...)
		}
	}
	if item == nil {
		item = decompile.SetDeclaration(s, v.options)
	}
	stripDeclaration(item)
	return item, nil
}

// rangeByRange divides entries into starts with their ends.
func rangeByRange(entries []*set.Entry) [][]*set.Entry {
	var parts [][]*set.Entry
	for i := range entries {
		if last := len(parts) - 1; entries[i].IsEnd() && last >= 0 {
			parts[last] = append(parts[last], entries[i])
		} else {
			parts = append(parts, []*set.Entry{entries[i]})
		}
	}
	return parts
}

// literalOf gives the elements of a set, nil if it has none.
func literalOf(s *syntax.Set) *syntax.SetLiteral {
	for _, item := range s.Items {
		if e, ok := item.(*syntax.Elements); ok {
			l, _ := e.Value.(*syntax.SetLiteral)
			return l
		}
	}
	return nil
}

// notThere reports that the kernel does not find an element.
func (v *view) notThere(c *syntax.Command) {
	place := c.Span
	if place.IsValid() && int(place.End) < len(place.Source.Text) {
		place.End++
	}
	v.found.Add(&diag.Diagnostic{Severity: diag.Error, Code: "kernel/ENOENT", Message: "Could not process rule: " + noFile, Span: place})
}

// lookUp finds the elements that are asked for. A range of single fields is
// asked for by its two ends, and found if one range holds both.
//
// Ref: nf_tables_api.c, nft_get_set_elem; nft_set_rbtree.c, nft_rbtree_get
func lookUp(s *ruleset.Set, requests []ruleset.Element, now int64) ([]*set.Entry, bool) {
	if s.Flags&(ruleset.SetInterval|ruleset.SetConcat) != ruleset.SetInterval {
		var found []*set.Entry
		for i := range requests {
			e := s.Elements.Get(&requests[i], now)
			if e == nil {
				return nil, false
			}
			found = append(found, e)
		}
		return found, true
	}
	ranges := rangesOf(s)
	var found []*set.Entry
	for i := 0; i < len(requests); i++ {
		r := &requests[i]
		switch {
		case r.Flags&ruleset.ElemCatchAll != 0:
			e := s.Elements.View().CatchAll()
			if e == nil || e.Expired(now) {
				return nil, false
			}
			found = append(found, e)
			continue
		case r.Flags&ruleset.ElemIntervalEnd != 0:
			continue // of the request before, or the one in front of the first range
		}
		var end []byte
		if i+1 < len(requests) && requests[i+1].Flags&ruleset.ElemIntervalEnd != 0 {
			end = requests[i+1].Key
		}
		x := holding(ranges, r.Key, end, now)
		if x == nil {
			return nil, false
		}
		found = append(found, x.start)
		if x.end != nil {
			found = append(found, x.end)
		}
	}
	return found, true
}

// span is a range of a set: end is exclusive, nil for the end of the keys.
type span struct{ start, end *set.Entry }

// rangesOf pairs the ends of a set's ranges, which come from high to low.
func rangesOf(s *ruleset.Set) []span {
	var list []span
	var end *set.Entry
	for e := range s.Elements.Entries() {
		switch {
		case uint32(e.Flags)&ruleset.ElemCatchAll != 0:
		case e.IsEnd():
			end = e
		default:
			list = append(list, span{e, end})
			end = nil
		}
	}
	return list
}

// holding finds the range that holds the keys from first up to end, which is
// exclusive; nil is the end of the keys.
func holding(ranges []span, first, end []byte, now int64) *span {
	for i := range ranges {
		x := &ranges[i]
		if x.start.Expired(now) || x.start.Key() > string(first) {
			continue
		}
		switch {
		case x.end == nil:
			return x
		case string(first) >= x.end.Key():
		case end != nil && bytes.Compare(end, []byte(x.end.Key())) <= 0:
			return x
		}
	}
	return nil
}

// stripDeclaration leaves out what an answer does not show: the statements of
// the set's elements, its comment, and the number of elements.
func stripDeclaration(s *syntax.Set) {
	kept := s.Items[:0]
	for _, item := range s.Items {
		switch item := item.(type) {
		case *syntax.CommentProperty, *syntax.ElementStatement:
			continue
		case *syntax.Size:
			item.Trailing = ""
		}
		kept = append(kept, item)
	}
	s.Items = kept
}
