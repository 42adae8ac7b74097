package set

import (
	"errors"
	"testing"

	"verdict/set/elem"
	"verdict/set/hash"
)

func key4(a, b, c, d byte) []byte { return []byte{a, b, c, d} }

func mustInsert(t *testing.T, s *Set, now int64, es ...*Entry) {
	t.Helper()
	for _, e := range es {
		if old, err := s.Insert(e, now); err != nil {
			t.Fatalf("insert %x: %v (%v)", e.Key(), err, old)
		}
	}
}

func mustNew(t *testing.T, d Desc) *Set {
	t.Helper()
	s, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSizeLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		d     Desc
		elems func(i byte) []*Entry
	}{
		{"hash", Desc{KeyLen: 4, Size: 2}, func(i byte) []*Entry { return []*Entry{elem.New(key4(1, 2, 3, i), nil)} }},
		// Facts 7.2, 46: ranges counted as two elements.
		{"46: rbtree", Desc{KeyLen: 4, Size: 2, Flags: elem.Interval}, func(i byte) []*Entry {
			return []*Entry{elem.New(key4(1, 2, 3, 4*i), nil), elem.NewIntervalEnd(key4(1, 2, 3, 4*i+2))}
		}},
		{"pipapo", Desc{KeyLen: 8, Fields: []uint8{4, 2}, Size: 2, Flags: elem.Interval | elem.Concat}, func(i byte) []*Entry {
			return []*Entry{elem.New([]byte{1, 2, 3, i, 0, 80, 0, 0}, nil)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustNew(t, c.d)
			if s.Kind() == Rbtree {
				mustInsert(t, s, 0, elem.NewIntervalEnd(key4(0, 0, 0, 0)))
			}
			mustInsert(t, s, 0, append(c.elems(1), c.elems(2)...)...)
			s.Commit(0)
			if _, err := s.Insert(c.elems(2)[0], 0); !errors.Is(err, elem.ErrExist) {
				t.Errorf("the same again in a full set: %v, want ErrExist", err)
			}
			s.Abort()
			var err error
			for _, e := range c.elems(3) {
				if _, err = s.Insert(e, 0); err != nil {
					break
				}
			}
			if !errors.Is(err, elem.ErrFull) {
				t.Errorf("one too many: %v, want ErrFull", err)
			}
			s.Abort()
			for _, e := range c.elems(1) {
				if _, err := s.Delete(e, 0); err != nil {
					t.Fatal(err)
				}
			}
			mustInsert(t, s, 0, c.elems(3)...)
		})
	}
}

func TestCatchAll(t *testing.T) {
	s := mustNew(t, Desc{KeyLen: 4, Size: 1, Flags: elem.Map})
	one, all := elem.New(key4(10, 0, 0, 1), nil), elem.NewCatchAll()
	mustInsert(t, s, 0, one, all)
	if s.Lookup(key4(10, 0, 0, 2), 0) != nil {
		t.Error("matches before the commit")
	}
	s.Commit(0)
	if got := s.Lookup(key4(10, 0, 0, 1), 0); got != one {
		t.Errorf("got %v, want the element", got)
	}
	if got := s.Lookup(key4(10, 0, 0, 2), 0); got != all {
		t.Errorf("got %v, want the catch-all", got)
	}
	found := make([]*Entry, 2)
	s.LookupBatch([]byte{10, 0, 0, 1, 10, 0, 0, 3}, 4, 0, found)
	if found[0] != one || found[1] != all {
		t.Errorf("burst: %v", found)
	}
	if _, err := s.Insert(elem.NewCatchAll(), 0); !errors.Is(err, elem.ErrExist) {
		t.Errorf("second catch-all: %v", err)
	}
	n := 0
	s.View().Walk(func(*Entry) bool { n++; return true })
	if n != 2 {
		t.Errorf("walk visits %d", n)
	}
}

// Facts 7.2, 53: an abort left catch-all elements inactive.
func TestBug53CatchAllAbort(t *testing.T) {
	s := mustNew(t, Desc{KeyLen: 4, Size: 1})
	all := elem.NewCatchAll()
	mustInsert(t, s, 0, all)
	s.Commit(0)
	if got, err := s.Delete(elem.NewCatchAll(), 0); got != all || err != nil {
		t.Fatal(got, err)
	}
	s.Abort()
	if s.Lookup(key4(1, 1, 1, 1), 0) != all || s.Find(elem.NewCatchAll(), 0) != all {
		t.Error("gone after the abort")
	}
}

// Facts 7.1, 13: expired catch-all elements are collected, and not matched.
func TestBug13CatchAllExpiry(t *testing.T) {
	s := mustNew(t, Desc{KeyLen: 4, Flags: elem.Timeout})
	all := elem.NewCatchAll()
	all.SetTimeout(100, 100)
	mustInsert(t, s, 0, all)
	s.Commit(0)
	if s.Lookup(key4(1, 1, 1, 1), 99) != all {
		t.Error("expired too early")
	}
	if s.Lookup(key4(1, 1, 1, 1), 100) != nil {
		t.Error("matches when expired")
	}
	again := elem.NewCatchAll()
	mustInsert(t, s, 100, again)
	if gone := s.Commit(100); len(gone) != 1 || gone[0] != all {
		t.Errorf("collected %v", gone)
	}
	if s.Lookup(key4(1, 1, 1, 1), 1000) != again {
		t.Error("the new one does not match")
	}
}

// Facts 7.2, 42: a packet that matches before and after a transaction matches
// at every moment. A view is one state, so flush and re-add cannot show.
func TestBug42FlushAndAddAgain(t *testing.T) {
	s := mustNew(t, Desc{KeyLen: 4, Flags: elem.Interval})
	add := func(first, end byte) {
		mustInsert(t, s, 0, elem.New(key4(10, 0, 0, first), nil), elem.NewIntervalEnd(key4(10, 0, 0, end)))
	}
	add(0, 10)
	s.Commit(0)
	stop, done := make(chan struct{}), make(chan int)
	go func() {
		misses := 0
		for {
			select {
			case <-stop:
				done <- misses
				return
			default:
				if s.Lookup(key4(10, 0, 0, 5), 0) == nil {
					misses++
				}
			}
		}
	}()
	for i := range 2000 {
		s.Flush()
		add(byte(i%5), byte(6+i%5))
		s.Commit(0)
	}
	close(stop)
	if n := <-done; n != 0 {
		t.Errorf("%d misses", n)
	}
}

func TestDynamicSet(t *testing.T) {
	s := mustNew(t, Desc{KeyLen: 4, Size: 2, Flags: elem.Eval | elem.Timeout, Timeout: 50})
	entry := func(key []byte) *Entry { return elem.New(key, nil) }
	view := s.View()
	e, fresh := s.Update(hash.Add, key4(1, 1, 1, 1), 0, 0, entry)
	if e == nil || !fresh || e.Timeout() != 50 || e.Expires() != 50 {
		t.Fatal(e, fresh)
	}
	if view.Lookup(key4(1, 1, 1, 1), 49) != e || s.Lookup(key4(1, 1, 1, 1), 49) != e {
		t.Error("not found")
	}
	plain := mustNew(t, Desc{KeyLen: 4, Size: 2})
	if e, _ := plain.Update(hash.Add, key4(1, 1, 1, 1), 0, 0, entry); e != nil {
		t.Error("hash_fast takes updates from packets")
	}
}
