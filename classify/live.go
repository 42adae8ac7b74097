package classify

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
)

// Live is a set of rules that changes while others look packets up in it.
// Changes are made by one goroutine at a time, in any number of them; lookups
// go to a View, or to the state of the moment, and never wait.
//
// A change costs some microseconds, however many rules there are: added rules
// are kept beside the large table, deleted ones are skipped in it. Once there
// are many of them the table is built anew in the background.
type Live struct {
	layout  *Layout
	options Options
	mutex   sync.Mutex
	state   atomic.Pointer[View]
	build   *rebuild // in progress, else nil
	err     error    // of the last build
}

// View is one state of a Live, safe for concurrent use. It never changes.
type View struct {
	base    *Table
	rules   []Rule // of base, ascending
	added   *Table // nil for none
	news    []Rule // of added, ascending
	deleted []uint32
	changes uint64 // made so far
}

// Changes counts the rules added and deleted so far: views with equal counts
// of one Live give equal answers.
func (v *View) Changes() uint64 { return v.changes }

// rebuild is a build in the background and what happened since it began.
type rebuild struct {
	added   []Rule
	deleted []uint32
	done    chan struct{}
}

// ErrNoRule is returned where there is no rule of an order, ErrOrderTaken
// where there is one already.
var (
	ErrNoRule     = errors.New("classify: no rule has this order")
	ErrOrderTaken = errors.New("classify: there is a rule of this order")
)

// pendingLimit is the number of changes after which the table is built anew.
const pendingLimit = 192

// NewLive makes a Live with rules, whose errors are those of New. Rules of the
// same order are alternatives of one rule.
func NewLive(l *Layout, rules []Rule, options Options) (*Live, error) {
	rules = slices.Clone(rules)
	slices.SortStableFunc(rules, byOrder)
	base, err := New(l, rules, options)
	if err != nil {
		return nil, err
	}
	live := &Live{layout: l, options: options}
	live.state.Store(&View{base: base, rules: rules})
	return live, nil
}

func byOrder(a, b Rule) int { return cmp.Compare(a.Order, b.Order) }

// has reports whether there is a rule of an order.
func has(rules []Rule, order uint32) bool {
	_, found := slices.BinarySearchFunc(rules, order, func(r Rule, o uint32) int { return cmp.Compare(r.Order, o) })
	return found
}

// View is the present state.
func (l *Live) View() *View { return l.state.Load() }

// Add adds a rule, given as one or several alternatives of the same order.
func (l *Live) Add(alternatives ...Rule) error {
	if len(alternatives) == 0 {
		return nil
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	v, order := l.state.Load(), alternatives[0].Order
	if v.has(order) {
		return ErrOrderTaken
	}
	news := append(slices.Clone(v.news), alternatives...)
	slices.SortStableFunc(news, byOrder)
	added, err := l.small(news)
	if err != nil {
		return err
	}
	next := *v
	next.added, next.news = added, news
	if l.build != nil {
		l.build.added = append(l.build.added, alternatives...)
	}
	l.publish(&next)
	return nil
}

// small builds the table of the added rules, which is always a scan.
func (l *Live) small(news []Rule) (*Table, error) {
	options := l.options
	options.scanOnly = true
	return New(l.layout, news, options)
}

// Delete removes the rule of an order.
func (l *Live) Delete(order uint32) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	v := l.state.Load()
	if !v.has(order) {
		return ErrNoRule
	}
	next := *v
	if has(v.news, order) {
		next.news = slices.DeleteFunc(slices.Clone(v.news), func(r Rule) bool { return r.Order == order })
		next.added = nil
		if len(next.news) > 0 {
			added, err := l.small(next.news)
			if err != nil {
				return err
			}
			next.added = added
		}
	} else {
		at, _ := slices.BinarySearch(v.deleted, order)
		next.deleted = slices.Insert(slices.Clone(v.deleted), at, order)
	}
	if l.build != nil {
		l.build.deleted = append(l.build.deleted, order)
		l.build.added = slices.DeleteFunc(l.build.added, func(r Rule) bool { return r.Order == order })
	}
	l.publish(&next)
	return nil
}

// publish makes a state visible and has the table rebuilt if it is time. The
// change that led to the state is recorded before: a build that begins here
// has it already.
func (l *Live) publish(v *View) {
	v.changes++
	l.state.Store(v)
	if l.build == nil && len(v.news)+len(v.deleted) >= pendingLimit {
		l.build = &rebuild{done: make(chan struct{})}
		go l.rebuild(v, l.build)
	}
}

// rebuild builds the table of a state and puts it in the place of the old one,
// with the changes made meanwhile beside it.
func (l *Live) rebuild(v *View, b *rebuild) {
	rules := v.all()
	base, err := New(l.layout, rules, l.options)
	l.mutex.Lock()
	defer l.mutex.Unlock()
	defer close(b.done)
	l.build, l.err = nil, err
	if err != nil {
		return // the old state goes on serving
	}
	next := &View{base: base, rules: rules, changes: l.state.Load().changes}
	for _, order := range b.deleted {
		if has(rules, order) {
			next.deleted = append(next.deleted, order)
		}
	}
	next.news = b.added
	slices.Sort(next.deleted)
	next.deleted = slices.Compact(next.deleted)
	slices.SortStableFunc(next.news, byOrder)
	if len(next.news) > 0 {
		if next.added, l.err = l.small(next.news); l.err != nil {
			return
		}
	}
	l.state.Store(next)
}

// Wait returns when no build is in progress, with the error of the last one.
func (l *Live) Wait() error {
	for {
		l.mutex.Lock()
		b, err := l.build, l.err
		l.mutex.Unlock()
		if b == nil {
			return err
		}
		<-b.done
	}
}

// all lists the rules of a state.
func (v *View) all() []Rule {
	rules := make([]Rule, 0, len(v.rules)+len(v.news))
	for _, r := range v.rules {
		if _, gone := slices.BinarySearch(v.deleted, r.Order); !gone {
			rules = append(rules, r)
		}
	}
	rules = append(rules, v.news...)
	slices.SortStableFunc(rules, byOrder)
	return rules
}

func (v *View) has(order uint32) bool {
	if has(v.news, order) {
		return true
	}
	_, gone := slices.BinarySearch(v.deleted, order)
	return !gone && has(v.rules, order)
}

// Next returns the order of the first rule from an order on that matches, or
// None.
func (v *View) Next(k Key, from uint32) uint32 {
	first := v.base.Next(k, from)
	for first != None && len(v.deleted) > 0 {
		if _, gone := slices.BinarySearch(v.deleted, first); !gone {
			break
		}
		first = v.base.Next(k, first+1)
	}
	if v.added != nil {
		first = min(first, v.added.Next(k, from))
	}
	return first
}

// Lookup returns the order of the first rule that matches, or None.
func (v *View) Lookup(k Key) (order uint32, found bool) {
	order = v.Next(k, 0)
	return order, order != None
}

// LookupBatch is Table.LookupBatch for the view.
func (v *View) LookupBatch(keys []uint32, found []uint32) {
	v.base.LookupBatch(keys, found)
	if v.added == nil && len(v.deleted) == 0 {
		return
	}
	stride := v.base.stride
	for i, first := range found {
		k := Key(keys[i*stride:][:stride])
		if _, gone := slices.BinarySearch(v.deleted, first); gone {
			found[i] = v.Next(k, first+1)
			if v.added != nil {
				found[i] = min(found[i], v.added.Next(k, 0))
			}
		} else if v.added != nil {
			found[i] = min(first, v.added.Next(k, 0))
		}
	}
}

// Stats says how the rules of the large table are stored, and how many rules
// are beside it.
func (v *View) Stats() (large Stats, added, deleted int) {
	return v.base.Stats(), len(v.news), len(v.deleted)
}
