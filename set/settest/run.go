// Package settest checks set backends against a linear model: the same random
// operations on both, with the same results and, after each, the same answers.
package settest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"verdict/set/elem"
)

// Config says what is tested.
type Config struct {
	// Desc of the sets.
	Desc elem.Desc
	// New makes an empty set.
	New func(d *elem.Desc) (elem.Backend, error)
	// Anonymous marks a backend whose lookups return one entry for all.
	Anonymous bool
	// Large makes the elements so different that sets grow to thousands of
	// them.
	Large bool
}

func (c *Config) model() model {
	switch {
	case c.Desc.Flags&elem.Interval == 0:
		return newSingle()
	case len(c.Desc.Fields) > 1:
		return newBoxes(c.Desc.Fields)
	}
	return newRanges(c.Desc.Flags&elem.Anonymous != 0)
}

func (c *Config) fields() []uint8 {
	if len(c.Desc.Fields) > 1 {
		return c.Desc.Fields
	}
	return []uint8{uint8(c.Desc.KeyLen)}
}

// Run checks a backend: random operations with shrinking, a longer random run,
// and that lookups do not allocate.
func Run(t *testing.T, c Config) {
	t.Run("model", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			m := newMachine(rt, c, drawn{rt})
			for range rapid.IntRange(1, 60).Draw(rt, "operations") {
				m.step()
			}
		})
	})
	t.Run("long", func(t *testing.T) {
		n := 4000
		if testing.Short() {
			n = 500
		}
		Soak(t, c, n, 1)
	})
	t.Run("allocations", func(t *testing.T) { Allocations(t, c) })
}

// Fuzz checks one sequence of operations, which the input of a fuzz target
// chooses.
func Fuzz(t *testing.T, c Config, input []byte) {
	src := &fromBytes{input}
	m := newMachine(t, c, src)
	for len(src.left) > 0 {
		m.step()
	}
}

// fromBytes is a source that takes its numbers from bytes.
type fromBytes struct{ left []byte }

func (f *fromBytes) IntN(n int) int {
	if len(f.left) == 0 {
		return 0
	}
	x := int(f.left[0])
	f.left = f.left[1:]
	if n > 256 && len(f.left) > 0 {
		x = x<<8 | int(f.left[0])
		f.left = f.left[1:]
		x = x * (n>>16 + 1) // spread over large ranges
	}
	return x % n
}

// Soak runs n random operations.
func Soak(t testing.TB, c Config, n int, seed uint64) {
	m := newMachine(t, c, rand.New(rand.NewPCG(seed, 2)))
	for range n {
		m.step()
	}
}

// drawn is a source that shrinks.
type drawn struct{ t *rapid.T }

func (d drawn) IntN(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "n") }

// fataler is what *testing.T and *rapid.T have in common.
type fataler interface {
	Fatalf(format string, args ...any)
}

// machine applies the same operations to a backend and to its model.
type machine struct {
	t    fataler
	c    Config
	src  draw
	set  elem.Backend
	m    model
	now  int64
	gone map[*elem.Entry]bool
	// An older state of the set, and what was in it.
	old     elem.View
	oldList []*elem.Entry
}

func newMachine(t fataler, c Config, src source) *machine {
	set, err := c.New(&c.Desc)
	if err != nil {
		t.Fatalf("new: %v", err)
	}
	return &machine{t: t, c: c, src: draw{src, c.Large}, set: set, m: c.model(), now: 1 << 40, gone: map[*elem.Entry]bool{}}
}

// step does one operation and compares.
func (m *machine) step() {
	switch n := m.src.IntN(30); {
	case n < 14:
		m.insert()
	case n < 19:
		m.delete()
		if m.c.Large {
			m.insert()
		}
	case n < 20 && m.src.IntN(4) == 0:
		m.bulk()
	case n < 22:
		m.commit()
	case n < 23:
		m.set.Abort()
		m.m.state().abort()
	case n < 24 && m.src.IntN(6) == 0 && (!m.c.Large || m.src.IntN(50) == 0):
		m.set.Flush()
		m.m.state().flush()
	case n < 25:
		m.keep()
		m.retime()
	case n < 28:
		m.commit() // time stands still within a transaction
		m.now += int64(m.src.IntN(1_500_000_000))
	default:
		m.compareLists()
	}
	for range 3 {
		m.lookup()
	}
}

// elements draws an element; for ranges over one field two, start and end.
func (m *machine) elements() []*elem.Entry {
	fields := m.c.fields()
	switch {
	case m.c.Desc.Flags&elem.Interval == 0:
		return []*elem.Entry{elem.New(point(m.src, fields), nil)}
	case len(fields) > 1:
		return []*elem.Entry{box(m.src, fields)}
	}
	low, high := span(m.src, int(fields[0]))
	if string(low) > string(high) {
		low, high = high, low
	}
	if string(plus(high, 1)) == string(high) && m.c.Desc.Flags&elem.Timeout != 0 {
		// The kernel lets a range to the end of the key space cross others;
		// what is left when one of them expires depends on the collector.
		low = high
	}
	es := []*elem.Entry{elem.New(low, nil)}
	if end := plus(high, 1); string(end) > string(high) {
		es = append(es, elem.NewIntervalEnd(end))
	}
	if m.src.IntN(10) == 0 {
		es = append(es, elem.NewIntervalEnd(make([]byte, len(low))))
	}
	return es
}

func (m *machine) insert() {
	for _, e := range m.elements() {
		if !e.IsEnd() && m.c.Desc.Flags&elem.Timeout != 0 && m.src.IntN(3) == 0 {
			life := int64(1 + m.src.IntN(2_000_000_000))
			e.SetTimeout(life, m.now+life)
		}
		want := m.m.insert(e, m.now)
		old, err := m.set.Insert(e, m.now)
		if !sameError(err, want) {
			m.t.Fatalf("insert %s: %v, want %v", show(e), err, want)
		}
		if err == elem.ErrExist && (old == nil || old.Key() != e.Key() || old.Last() != e.Last()) {
			m.t.Fatalf("insert %s: existing element is %s", show(e), show(old))
		}
		switch elem.Errno(err) {
		case 0, elem.ErrExist.Errno, elem.ErrCanceled.Errno:
		default:
			m.fail()
			return
		}
	}
}

// bulk inserts many elements at once.
func (m *machine) bulk() {
	var es []*elem.Entry
	for range m.src.IntN(120) {
		es = append(es, m.elements()...)
	}
	for len(es) > 0 {
		want, wantErr := len(es), error(nil)
		for i, e := range es {
			if err := m.m.insert(e, m.now); err != nil {
				want, wantErr = i, err
				break
			}
		}
		n, _, err := m.set.InsertAll(es, m.now)
		if n != want || !sameError(err, wantErr) {
			m.t.Fatalf("of %d elements %d inserted, %v; want %d, %v", len(es), n, err, want, wantErr)
		}
		if err == nil {
			return
		}
		if _, ok := m.m.(*ranges); ok {
			m.fail()
			return
		}
		es = es[n+1:]
	}
}

// retime changes the lifetime of an element at the end of a transaction.
func (m *machine) retime() {
	list := m.m.state().next
	if len(list) == 0 || m.c.Desc.Flags&elem.Timeout == 0 {
		return
	}
	if e := list[m.src.IntN(len(list))]; !e.IsEnd() && !e.Expired(m.now) {
		life := int64(m.src.IntN(2_000_000_000))
		m.set.Retime(e, life, m.now+life)
		m.old = nil
		m.commit()
	}
}

// fail ends a transaction after an error where half of a range may be left.
func (m *machine) fail() {
	if _, ok := m.m.(*ranges); ok {
		m.set.Abort()
		m.m.state().abort()
	}
}

func (m *machine) delete() {
	es := m.elements()
	if list := m.m.state().next; len(list) > 0 && m.src.IntN(4) > 0 {
		es = []*elem.Entry{list[m.src.IntN(len(list))]}
		if r, ok := m.m.(*ranges); ok {
			es = r.whole(es[0], m.now)
		}
	}
	for _, e := range es {
		find := m.set.Find(e, m.now)
		want, wantErr := m.m.delete(e, m.now)
		got, err := m.set.Delete(e, m.now)
		if !sameError(err, wantErr) || got != want {
			m.t.Fatalf("delete %s: %s, %v; want %s, %v", show(e), show(got), err, show(want), wantErr)
		}
		if err != nil {
			m.fail()
			return
		}
		if find != want {
			m.t.Fatalf("find %s: %s, want %s", show(e), show(find), show(want))
		}
	}
}

func (m *machine) commit() {
	for _, e := range m.set.Commit(m.now) {
		if m.gone[e] {
			m.t.Fatalf("%s collected twice", show(e))
		}
		if m.gone[e] = true; !e.IsEnd() && !e.Expired(m.now) {
			m.t.Fatalf("%s collected, but it is not expired", show(e))
		}
	}
	m.m.state().commit()
	m.compareLists()
}

// keep remembers the live state, which must not change from now on.
func (m *machine) keep() {
	m.old, m.oldList = m.set.Live(), m.m.state().live
}

// key draws a key to look up, often a corner of an element.
func (m *machine) key() []byte {
	list := m.m.state().live
	if m.src.IntN(3) == 0 {
		list = m.m.state().next
	}
	if len(list) == 0 || m.src.IntN(3) == 0 {
		return point(m.src, m.c.fields())
	}
	e := list[m.src.IntN(len(list))]
	low, high, at := e.Key(), e.Last(), 0
	key := make([]byte, 0, len(low))
	for _, n := range m.c.fields() {
		end := min(at+elem.Padded(int(n)), len(low))
		part := low[at:end]
		if m.src.IntN(2) == 0 {
			part = high[at:end]
		}
		key = append(key, part...)
		if m.src.IntN(8) == 0 {
			key[at+m.src.IntN(int(n))] ^= 1 << m.src.IntN(8)
		}
		at = end
	}
	return key
}

func (m *machine) lookup() {
	key := m.key()
	st := m.m.state()
	m.check("live", key, st.live, m.set.Lookup(key, m.now))
	m.check("next", key, st.next, m.set.Next().Lookup(key, m.now))
	if m.old != nil {
		m.check("old view", key, m.oldList, m.old.Lookup(key, m.now))
	}
	var keys []byte
	n := 1 + m.src.IntN(5)
	for range n {
		keys = append(keys, m.key()...)
		keys = append(keys, 0, 0, 0)
	}
	found := make([]*elem.Entry, n)
	stride := len(keys) / n
	m.set.Live().LookupBatch(keys, stride, m.now, found)
	for i, e := range found {
		m.check("burst", keys[i*stride:(i+1)*stride-3], st.live, e)
	}
}

func (m *machine) check(what string, key []byte, list []*elem.Entry, got *elem.Entry) {
	want := m.m.lookup(list, string(key), m.now)
	if m.c.Anonymous {
		if (got == nil) != (want == nil) {
			m.t.Fatalf("%s lookup %x: %v, want %s", what, key, got != nil, show(want))
		}
		return
	}
	if got != want {
		m.t.Fatalf("%s lookup %x: %s, want %s", what, key, show(got), show(want))
	}
}

// compareLists compares what Walk visits, leaving out what is expired.
func (m *machine) compareLists() {
	st := m.m.state()
	m.compareWalk("live", m.set.Live(), st.live)
	m.compareWalk("next", m.set.Next(), st.next)
}

func (m *machine) compareWalk(what string, v elem.View, list []*elem.Entry) {
	var got []*elem.Entry
	n := 0
	v.Walk(func(e *elem.Entry) bool {
		n++
		got = append(got, e)
		return true
	})
	if n != v.Len() {
		m.t.Fatalf("%s: Len is %d, Walk visits %d", what, v.Len(), n)
	}
	var want []*elem.Entry
	if _, ok := m.m.(*ranges); ok {
		want, got = sorted(list, m.now), sorted(got, m.now)
	} else {
		want, got = alive(list, m.now), alive(got, m.now)
	}
	if !m.m.order(want) {
		got, want = byKey(got), byKey(want)
	} else if _, ok := m.m.(*ranges); ok {
		m.m.order(got)
	}
	if len(got) != len(want) {
		m.t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			m.t.Fatalf("%s: element %d is %s, want %s", what, i, show(got[i]), show(want[i]))
		}
	}
}

func show(e *elem.Entry) string {
	switch {
	case e == nil:
		return "none"
	case e.IsEnd():
		return fmt.Sprintf("end %x", e.Key())
	case e.HasEnd():
		return fmt.Sprintf("%x-%x", e.Key(), e.Last())
	}
	return fmt.Sprintf("%x", e.Key())
}
