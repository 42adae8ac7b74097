package ruleset

import (
	"iter"

	"verdict/nft/expr"
	"verdict/set"
)

// Elements is the store of a set's elements in one snapshot: a view of the
// structure that package set selects, plus what the elements carry. It is safe
// for concurrent readers. Only the elements of sets that packets update (flag
// SetEval) come and go while a snapshot is in use. Timeout and expiration of
// an element belong to the element: when a later batch changes them, they
// change in older snapshots too.
//
// At packet time use Lookup, or keep View and call that. An entry leads to
// what it carries without further look-ups: Entry.Index is the number of its
// verdict or object in Targets, counting from 1, and PayloadOf gives the rest.
// The address of an entry is the identity of the element: later snapshots have
// the same entry as long as the element stays.
type Elements struct {
	back    *backing
	view    *set.View
	targets []Target
	timeout int64 // the set's default, nanoseconds
}

// backing is the structure that the snapshots of one set share. Only head, the
// newest of them, can be changed in place.
type backing struct {
	set   *set.Set
	head  *Elements
	names *targets
}

// Target is what an element of a verdict map or object map leads to.
type Target struct {
	Verdict expr.Verdict // verdict maps
	Object  string       // object maps: the name; its type is the set's
}

// Payload is what an element carries beside key, times and target.
type Payload struct {
	Data         *expr.Data  // maps of values
	Exprs        []expr.Expr // stateful expressions; their state is not here
	Comment      string
	OpenInterval bool
}

// openInterval is the payload of all elements that have no other.
var openInterval = &Payload{OpenInterval: true}

// PayloadOf gives what an element carries, nil for nothing. Cost: constant, no
// allocation.
func PayloadOf(e *set.Entry) *Payload {
	p, _ := e.Ext.(*Payload)
	return p
}

// Lookup finds the element that matches a key (register bytes, padded) at a
// time in nanoseconds: the element, else the catch-all element, else nil.
// It neither allocates nor waits.
func (e *Elements) Lookup(key []byte, now int64) *set.Entry { return e.view.Lookup(key, now) }

// Get gives the entry that the kernel reports when asked for an element: for
// ranges of single fields the start or, with ElemIntervalEnd, the end of the
// range that holds the key. Nil if there is none. It looks at the newest
// snapshot of the set.
func (e *Elements) Get(el *Element, now int64) *set.Entry { return e.back.set.Get(el.entry(), now) }

// View is the structure for look-ups, also in bursts.
func (e *Elements) View() *set.View { return e.view }

// Set is the live set behind the newest snapshot. The packet path changes
// sets with the flag SetEval through it (Update, Remove); nothing else may.
func (e *Elements) Set() *set.Set { return e.back.set }

// Targets are the verdicts or objects that elements lead to; Entry.Index is
// the place in it, counting from 1. It may hold some that no element uses.
func (e *Elements) Targets() []Target { return e.targets }

// Kind is the way the set is stored.
func (e *Elements) Kind() set.Kind { return e.back.set.Kind() }

// Len counts the elements that All visits. Ranges of single fields count
// both ends.
func (e *Elements) Len() int {
	if e == nil {
		return 0
	}
	n := e.view.Len()
	if e.view.CatchAll() != nil {
		n++
	}
	return n
}

// Count is the number of elements as the kernel reports it: without the
// catch-all element, a range being one.
func (e *Elements) Count() int {
	if e == nil {
		return 0
	}
	if e.Kind() != set.Rbtree {
		return e.view.Len()
	}
	n := 0
	e.view.Walk(func(x *set.Entry) bool {
		if !x.IsEnd() && x.Flags == 0 {
			n++
		}
		return true
	})
	return n
}

// Entries visits the elements in the kernel's order, expired ones too, the
// catch-all element last. Cost: no allocation per element.
func (e *Elements) Entries() iter.Seq[*set.Entry] {
	return func(yield func(*set.Entry) bool) {
		if e != nil {
			e.view.Walk(yield)
		}
	}
}

// All visits the elements in the kernel's order, expired ones too, as user
// space would hand them in; Expires stays 0. Each element is a new value.
func (e *Elements) All() iter.Seq[*Element] {
	return func(yield func(*Element) bool) {
		for x := range e.Entries() {
			if !yield(e.Element(x)) {
				return
			}
		}
	}
}

// Alive visits the elements that are not expired at now, in the kernel's
// order, with Expires set for those with a timeout.
func (e *Elements) Alive(now int64) iter.Seq[*Element] {
	return func(yield func(*Element) bool) {
		for x := range e.Entries() {
			if x.Expired(now) {
				continue
			}
			el := e.Element(x)
			if x.Timeout() != 0 {
				el.Expires = max(1, uint64(x.Expires()-now)/millisecond)
			}
			if !yield(el) {
				return
			}
		}
	}
}

const millisecond = 1_000_000

// Element gives an entry in the form in which user space hands it in.
func (e *Elements) Element(x *set.Entry) *Element {
	el := &Element{Flags: uint32(x.Flags)}
	if uint32(x.Flags)&ElemCatchAll == 0 {
		el.Key = []byte(x.Key())
	}
	if x.HasEnd() {
		el.KeyEnd = []byte(x.KeyEnd())
	}
	if t := x.Timeout(); t != e.timeout && !x.IsEnd() {
		el.HasTimeout, el.Timeout = true, uint64(t)/millisecond
	}
	if x.Index != 0 {
		target := e.targets[x.Index-1]
		if el.Object = target.Object; el.Object == "" {
			v := target.Verdict
			el.Data = &expr.Data{Verdict: &v}
		}
	}
	if p := PayloadOf(x); p != nil {
		el.Exprs, el.Comment, el.OpenInterval = p.Exprs, p.Comment, p.OpenInterval
		if p.Data != nil {
			el.Data = p.Data
		}
	}
	return el
}
