package set

import (
	"verdict/set/bitmap"
	"verdict/set/elem"
	"verdict/set/hash"
	"verdict/set/interval"
	"verdict/set/pipapo"
)

// View is one state of a set, for any number of readers. Calls go straight to
// the kind's code, without an interface.
type View struct {
	kind     Kind
	hash     *hash.Table
	dynamic  *hash.Set // instead of hash, where packets change the set
	bitmap   *bitmap.Table
	interval *interval.Table
	pipapo   *pipapo.Table
	all      elem.View
	catchAll *Entry
}

func (s *Set) viewOf(state elem.View, catchAll *Entry) *View {
	v := &View{kind: s.kind, all: state, catchAll: catchAll}
	switch t := state.(type) {
	case *hash.Table:
		v.hash = t
	case *bitmap.Table:
		v.bitmap = t
	case *interval.Table:
		v.interval = t
	case *pipapo.Table:
		v.pipapo = t
	default:
		v.dynamic = s.hash
	}
	return v
}

// Lookup returns the element that matches key at now, else the catch-all
// element, else nil.
func (v *View) Lookup(key []byte, now int64) *Entry {
	var e *Entry
	switch {
	case v.hash != nil:
		e = v.hash.Lookup(key, now)
	case v.pipapo != nil:
		e = v.pipapo.Lookup(key, now)
	case v.interval != nil:
		e = v.interval.Lookup(key, now)
	case v.bitmap != nil:
		e = v.bitmap.Lookup(key, now)
	case v.dynamic != nil:
		e = v.dynamic.Lookup(key, now)
	}
	if e == nil {
		return live(v.catchAll, now)
	}
	return e
}

// LookupBatch looks up len(found) keys, which lie stride bytes apart in keys,
// and stores what Lookup would return. From about eight keys on it is several
// times faster than single lookups in large sets.
func (v *View) LookupBatch(keys []byte, stride int, now int64, found []*Entry) {
	v.all.LookupBatch(keys, stride, now, found)
	c := live(v.catchAll, now)
	if c == nil {
		return
	}
	for i, e := range found {
		if e == nil {
			found[i] = c
		}
	}
}

// Walk visits the elements in the kernel's order, expired ones too, and the
// catch-all element last, until visit returns false.
func (v *View) Walk(visit func(*Entry) bool) {
	done := false
	v.all.Walk(func(e *Entry) bool {
		done = !visit(e)
		return !done
	})
	if !done && v.catchAll != nil {
		visit(v.catchAll)
	}
}

// Len is the number of elements without the catch-all element, expired ones
// included. The two ends of a range in a set of kind Rbtree count each.
func (v *View) Len() int { return v.all.Len() }

// CatchAll is the catch-all element, or nil.
func (v *View) CatchAll() *Entry { return v.catchAll }
