package hash

import (
	"encoding/binary"
	"fmt"
	"sync"
	"testing"

	"verdict/set/elem"
)

func num(i int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) }

func entry(key []byte) *elem.Entry { return elem.New(key, nil) }

func newSet(t testing.TB, d elem.Desc) *Set {
	t.Helper()
	s, err := New(&d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Facts 7.2, 49 and 50: growth loses and doubles nothing, and lookups hash as
// insertions do, for keys of every length.
func TestBug49And50Growth(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 6, 8, 12, 16, 20, 64} {
		t.Run(fmt.Sprint(n, " bytes"), func(t *testing.T) {
			s := newSet(t, elem.Desc{KeyLen: n})
			key := func(i int) []byte {
				k := make([]byte, n)
				for b := 0; b < n && b < 3; b++ {
					k[n-1-b] = byte(i >> (8 * b))
				}
				return k
			}
			many := 20000
			if n == 1 {
				many = 256
			}
			for i := range many {
				if _, err := s.Insert(entry(key(i)), 0); err != nil {
					t.Fatal(i, err)
				}
			}
			s.Commit(0)
			if s.Live().Len() != many {
				t.Fatalf("%d elements", s.Live().Len())
			}
			for i := range many {
				if e := s.Lookup(key(i), 0); e == nil || e.Key() != string(key(i)) {
					t.Fatalf("%x: %v", key(i), e)
				}
			}
			seen := map[string]bool{}
			s.Live().Walk(func(e *elem.Entry) bool {
				if seen[e.Key()] {
					t.Fatalf("%x is there twice", e.Key())
				}
				seen[e.Key()] = true
				return true
			})
			if len(seen) != many {
				t.Fatalf("walk visits %d", len(seen))
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	s := newSet(t, elem.Desc{KeyLen: 4, Size: 3, Timeout: 100, Flags: elem.Timeout | elem.Eval})
	first, fresh := s.Update(Add, num(1), 0, 0, entry)
	if !fresh || first.Expires() != 100 {
		t.Fatal(first, fresh)
	}
	// Facts 7.2, 52: only update refreshes.
	if e, fresh := s.Update(Add, num(1), 50, 0, entry); e != first || fresh || e.Expires() != 100 {
		t.Error("add refreshes", e.Expires())
	}
	if e, _ := s.Update(Update, num(1), 60, 0, entry); e != first || e.Expires() != 160 {
		t.Error("update does not refresh", e.Expires())
	}
	if e, _ := s.Update(Update, num(1), 60, 500, entry); e.Expires() != 560 || e.Timeout() != 100 {
		t.Error("the rule's timeout", e.Expires(), e.Timeout())
	}
	s.Update(Add, num(2), 60, 10, entry)
	s.Update(Add, num(3), 60, 10, entry)
	if e, _ := s.Update(Add, num(4), 60, 0, entry); e != nil {
		t.Error("added to a full set")
	}
	if e, _ := s.Update(Update, num(1), 61, 0, entry); e != first {
		t.Error("a full set does not update")
	}
	// Expired elements count until they are collected.
	if e, _ := s.Update(Add, num(4), 80, 0, entry); e != nil {
		t.Error("expired elements made room at once")
	}
	late := int64(elem.DefaultGCInterval) + 60
	e, fresh := s.Update(Add, num(4), late, 0, entry)
	if e == nil || !fresh {
		t.Error("no room after the collection")
	}
	if !s.Remove(num(4), late) || s.Remove(num(4), late) || s.Lookup(num(4), late) != nil {
		t.Error("remove")
	}
}

// Packets and a transaction change the set at the same time: nothing is lost.
func TestUpdateDuringTransaction(t *testing.T) {
	s := newSet(t, elem.Desc{KeyLen: 4, Flags: elem.Eval})
	if _, err := s.Insert(entry(num(1)), 0); err != nil {
		t.Fatal(err)
	}
	s.Update(Add, num(2), 0, 0, entry)
	for i := 100; i < 1000; i++ {
		if _, err := s.Insert(entry(num(i)), 0); err != nil {
			t.Fatal(err)
		}
	}
	s.Update(Add, num(3), 0, 0, entry)
	if s.Lookup(num(1), 0) != nil || s.Lookup(num(3), 0) == nil {
		t.Error("before the commit")
	}
	s.Commit(0)
	for _, i := range []int{1, 2, 3, 100, 999} {
		if s.Lookup(num(i), 0) == nil {
			t.Errorf("%d is lost", i)
		}
	}
	if _, err := s.Insert(entry(num(5000)), 0); err != nil {
		t.Fatal(err)
	}
	s.Update(Add, num(4), 0, 0, entry)
	s.Abort()
	if s.Lookup(num(4), 0) == nil || s.Lookup(num(5000), 0) != nil {
		t.Error("after the abort")
	}
}

func TestUpdateAllocatesNothing(t *testing.T) {
	s := newSet(t, elem.Desc{KeyLen: 4, Timeout: 100, Flags: elem.Timeout | elem.Eval})
	k := num(7)
	s.Update(Add, k, 0, 0, entry)
	if n := testing.AllocsPerRun(100, func() { s.Update(Update, k, 10, 0, entry) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Several packet workers, readers and a transaction, for the race detector.
func TestConcurrentUpdates(t *testing.T) {
	s := newSet(t, elem.Desc{KeyLen: 4, Timeout: 1000, Flags: elem.Timeout | elem.Eval})
	var wg sync.WaitGroup
	const keys = 3000
	for w := range 3 {
		wg.Go(func() {
			for i := range keys {
				if e, _ := s.Update(Op(i%2), num(i), int64(i%7), 0, entry); e == nil {
					t.Errorf("worker %d: %d is not added", w, i)
				}
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			for i := range keys {
				if e := s.Lookup(num(i), 5); e != nil && e.Key() != string(num(i)) {
					t.Errorf("lookup of %d returns another", i)
				}
			}
		}
	})
	for i := range 50 {
		if _, err := s.Insert(entry(num(100000+i)), 0); err != nil {
			t.Fatal(err)
		}
		s.Commit(0)
	}
	wg.Wait()
	if n := s.Live().Len(); n != keys+50 {
		t.Errorf("%d elements, want %d", n, keys+50)
	}
}

func TestSoonestCollects(t *testing.T) {
	s := newSet(t, elem.Desc{KeyLen: 4, Flags: elem.Timeout})
	for i := range 1000 {
		e := entry(num(i))
		e.SetTimeout(int64(i+1)*1_000_000, int64(i+1)*1_000_000)
		if _, err := s.Insert(e, 0); err != nil {
			t.Fatal(err)
		}
	}
	s.Commit(0)
	if _, err := s.Insert(entry(num(5000)), 0); err != nil {
		t.Fatal(err)
	}
	if gone := s.Commit(1_000_000_000); len(gone) != 1000 || s.Live().Len() != 1 {
		t.Errorf("collected %d, left %d", len(gone), s.Live().Len())
	}
}

// Keys chosen to fall on the same place neither make the table grow without
// end nor get lost.
func TestCollidingKeys(t *testing.T) {
	s := newSet(t, elem.Desc{KeyLen: 4})
	var keys [][]byte
	for i := 0; len(keys) < 1500; i++ {
		if k := num(i); place(word(k, 0), 0)>>(64-14) == 5 {
			keys = append(keys, k)
		}
	}
	for i, k := range keys {
		if _, err := s.Insert(entry(k), 0); err != nil {
			t.Fatal(i, err)
		}
	}
	s.Commit(0)
	if n := s.Stats().Bytes; n > 1<<20 {
		t.Errorf("%d bytes for %d elements", n, len(keys))
	}
	view := s.Live()
	var all []byte
	for _, k := range keys {
		all = append(all, k...)
	}
	found := make([]*elem.Entry, len(keys))
	s.LookupBatch(all, 4, 0, found)
	for i, k := range keys {
		if e := s.Lookup(k, 0); e == nil || e.Key() != string(k) || found[i] != e {
			t.Fatalf("key %d: %v, in a burst %v", i, e, found[i])
		}
	}
	for i := 0; i < len(keys); i += 2 {
		if _, err := s.Delete(entry(keys[i]), 0); err != nil {
			t.Fatal(i, err)
		}
	}
	s.Commit(0)
	for i, k := range keys {
		if got := s.Lookup(k, 0) != nil; got != (i%2 == 1) {
			t.Fatalf("key %d after the deletion: %v", i, got)
		}
		if view.Lookup(k, 0) == nil {
			t.Fatalf("key %d is gone from an old view", i)
		}
	}
	if n := s.Live().Len(); n != len(keys)/2 {
		t.Errorf("%d elements", n)
	}
}
