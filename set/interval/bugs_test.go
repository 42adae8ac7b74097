package interval

import (
	"errors"
	"net/netip"
	"testing"

	"verdict/set/elem"
)

// Each test here is a mistake that the kernel's code once made, by the number
// that docs/semantics/sets.md lists it under.

func newSet(t *testing.T, flags elem.Flags) *Set {
	t.Helper()
	s, err := New(&elem.Desc{KeyLen: 4, Flags: elem.Interval | flags})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func addr(text string) []byte { return netip.MustParseAddr(text).AsSlice() }

func after(text string) []byte { return netip.MustParseAddr(text).Next().AsSlice() }

// ends returns the two elements of a range of addresses.
func ends(first, last string) []*elem.Entry {
	return []*elem.Entry{elem.New(addr(first), nil), elem.NewIntervalEnd(after(last))}
}

// add inserts a range and returns its start and the first error.
func add(s *Set, first, last string, now int64) (*elem.Entry, error) {
	es := ends(first, last)
	var failed error
	for _, e := range es {
		if _, err := s.Insert(e, now); err != nil {
			if failed = err; !errors.Is(err, elem.ErrExist) {
				break
			}
		}
	}
	return es[0], failed
}

func must(t *testing.T, s *Set, first, last string) *elem.Entry {
	t.Helper()
	e, err := add(s, first, last, 0)
	if err != nil {
		t.Fatalf("%s-%s: %v", first, last, err)
	}
	return e
}

func refuse(t *testing.T, s *Set, first, last string, want error) {
	t.Helper()
	if _, err := add(s, first, last, 0); !errors.Is(err, want) {
		t.Errorf("%s-%s: %v, want %v", first, last, err, want)
	}
}

func remove(t *testing.T, s *Set, first, last string, now int64) error {
	t.Helper()
	for _, e := range ends(first, last) {
		if _, err := s.Delete(e, now); err != nil {
			return err
		}
	}
	return nil
}

func hit(t *testing.T, s *Set, text string, now int64, want *elem.Entry) {
	t.Helper()
	if got := s.Lookup(addr(text), now); got != want {
		t.Errorf("lookup %s: %v, want %v", text, got, want)
	}
}

func TestBug33ConsecutiveRanges(t *testing.T) {
	s := newSet(t, 0)
	a, b := must(t, s, "10.0.0.1", "10.0.0.5"), must(t, s, "10.0.0.6", "10.0.0.9")
	s.Commit(0)
	for _, c := range []struct {
		text string
		want *elem.Entry
	}{{"10.0.0.0", nil}, {"10.0.0.1", a}, {"10.0.0.5", a}, {"10.0.0.6", b}, {"10.0.0.9", b}, {"10.0.0.10", nil}} {
		hit(t, s, c.text, 0, c.want)
		if got := s.Get(elem.New(addr(c.text), nil), 0); got != c.want {
			t.Errorf("get %s: %v, want %v", c.text, got, c.want)
		}
	}
	for _, c := range []struct{ last, end string }{{"10.0.0.5", "10.0.0.5"}, {"10.0.0.9", "10.0.0.9"}, {"10.0.0.2", "10.0.0.5"}} {
		got := s.Get(elem.NewIntervalEnd(after(c.last)), 0)
		if got == nil || got.Key() != string(after(c.end)) || !got.IsEnd() {
			t.Errorf("get the end for %s: %v, want that of %s", c.last, got, c.end)
		}
	}
}

// 34, 36: a range that overlaps others partly.
func TestBug34And36PartialOverlap(t *testing.T) {
	s := newSet(t, 0)
	must(t, s, "10.0.0.1", "10.0.0.5")
	must(t, s, "10.0.0.6", "10.0.0.10")
	refuse(t, s, "10.0.0.4", "10.0.0.7", elem.ErrNotEmpty)
	s.Abort()
	must(t, s, "10.0.0.5", "10.0.0.9")
	for _, c := range [][2]string{
		{"10.0.0.1", "10.0.0.5"}, {"10.0.0.1", "10.0.0.7"}, {"10.0.0.1", "10.0.0.20"}, {"10.0.0.6", "10.0.0.7"},
		{"10.0.0.5", "10.0.0.7"}, {"10.0.0.9", "10.0.0.12"}, {"10.0.0.1", "10.0.0.9"}, {"10.0.0.5", "10.0.0.12"},
	} {
		before := s.Next().Len()
		refuse(t, s, c[0], c[1], elem.ErrNotEmpty)
		// What a failed range leaves behind, its transaction's end removes.
		s.Abort()
		must(t, s, "10.0.0.5", "10.0.0.9")
		if s.Next().Len() != before {
			t.Fatal("the abort lost something")
		}
	}
	refuse(t, s, "10.0.0.5", "10.0.0.9", elem.ErrExist)
}

// 35, 38, 39: expired ranges are not in the way of new ones.
func TestBug35And38And39ExpiredNeighbours(t *testing.T) {
	s := newSet(t, elem.Timeout)
	old := must(t, s, "10.0.0.3", "10.0.0.9")
	old.SetTimeout(50, 50)
	keep := must(t, s, "10.0.0.20", "10.0.0.30")
	s.Commit(0)
	e, err := add(s, "10.0.0.5", "10.0.0.15", 50)
	if err != nil {
		t.Fatalf("over an expired range: %v", err)
	}
	gone := s.Commit(50)
	if len(gone) != 2 || gone[0] != old {
		t.Errorf("collected %v", gone)
	}
	hit(t, s, "10.0.0.4", 50, nil)
	hit(t, s, "10.0.0.12", 50, e)
	hit(t, s, "10.0.0.25", 50, keep)
}

// 37: a range can be added again in the transaction that deleted it.
func TestBug37AddAgainAfterDelete(t *testing.T) {
	s := newSet(t, 0)
	must(t, s, "10.0.0.1", "10.0.0.5")
	must(t, s, "10.0.0.6", "10.0.0.10")
	s.Commit(0)
	if err := remove(t, s, "10.0.0.1", "10.0.0.5", 0); err != nil {
		t.Fatal(err)
	}
	e := must(t, s, "10.0.0.1", "10.0.0.5")
	s.Commit(0)
	hit(t, s, "10.0.0.5", 0, e)
}

func TestBug38DeleteThenNarrower(t *testing.T) {
	s := newSet(t, 0)
	must(t, s, "10.0.0.1", "10.0.0.2")
	must(t, s, "10.0.0.3", "10.0.0.5")
	must(t, s, "10.0.0.6", "10.0.0.9")
	s.Commit(0)
	if err := remove(t, s, "10.0.0.3", "10.0.0.5", 0); err != nil {
		t.Fatal(err)
	}
	e := must(t, s, "10.0.0.4", "10.0.0.5")
	s.Commit(0)
	hit(t, s, "10.0.0.3", 0, nil)
	hit(t, s, "10.0.0.4", 0, e)
}

func TestBug40DeleteExpired(t *testing.T) {
	s := newSet(t, elem.Timeout)
	e := must(t, s, "10.0.0.3", "10.0.0.5")
	e.SetTimeout(50, 50)
	s.Commit(0)
	if err := remove(t, s, "10.0.0.3", "10.0.0.5", 50); !errors.Is(err, elem.ErrNoEntry) {
		t.Errorf("delete of an expired range: %v", err)
	}
}

// 41: what a transaction deleted is no obstacle on the way to what is active.
func TestBug41InactiveOnTheWay(t *testing.T) {
	s := newSet(t, 0)
	must(t, s, "10.0.0.3", "10.0.0.5")
	s.Commit(0)
	if err := remove(t, s, "10.0.0.3", "10.0.0.5", 0); err != nil {
		t.Fatal(err)
	}
	wide := must(t, s, "10.0.0.0", "10.0.0.255")
	s.Commit(0)
	hit(t, s, "10.0.0.4", 0, wide)
}

func TestBug43EndOfAnotherRange(t *testing.T) {
	s := newSet(t, 0)
	must(t, s, "1.1.1.1", "2.2.2.2")
	must(t, s, "4.4.4.4", "5.5.5.5")
	s.Commit(0)
	refuse(t, s, "1.1.1.1", "5.5.5.5", elem.ErrNotEmpty)
	s.Abort()
	if err := remove(t, s, "1.1.1.1", "5.5.5.5", 0); !errors.Is(err, elem.ErrNoEntry) {
		t.Errorf("delete over two ranges: %v", err)
	}
	s.Abort()
	refuse(t, s, "1.1.1.1", "2.2.2.2", elem.ErrExist)
	anonymous := newSet(t, elem.Anonymous)
	must(t, anonymous, "10.0.0.1", "10.0.0.5")
	refuse(t, anonymous, "10.0.0.1", "10.0.0.9", elem.ErrNotEmpty)
}

// 44: the end in front of the first range may come again.
func TestBug44NullEnd(t *testing.T) {
	s := newSet(t, 0)
	null := func() error {
		_, err := s.Insert(elem.NewIntervalEnd(addr("0.0.0.0")), 0)
		return err
	}
	if err := null(); err != nil {
		t.Fatal(err)
	}
	must(t, s, "10.0.0.1", "10.0.0.5")
	s.Commit(0)
	if err := null(); !errors.Is(err, elem.ErrCanceled) {
		t.Errorf("the second time: %v, want ErrCanceled", err)
	}
	must(t, s, "10.0.0.7", "10.0.0.9")
}

// 45: ranges to the end of the key space are not checked against others.
func TestBug45OpenRange(t *testing.T) {
	s := newSet(t, 0)
	open := elem.New(addr("10.0.0.0"), nil)
	if _, err := s.Insert(open, 0); err != nil {
		t.Fatal(err)
	}
	s.Commit(0)
	hit(t, s, "255.255.255.255", 0, open)
	if _, err := add(s, "9.0.0.0", "9.255.255.255", 0); err != nil {
		t.Errorf("in front of it: %v", err)
	}
}

func TestBug47EndOfOpenRange(t *testing.T) {
	s := newSet(t, 0)
	if _, err := s.Insert(elem.New(addr("10.0.0.0"), nil), 0); err != nil {
		t.Fatal(err)
	}
	s.Commit(0)
	if got := s.Get(elem.NewIntervalEnd(addr("10.0.0.9")), 0); got != nil {
		t.Errorf("get the end: %v", got)
	}
}

// Anonymous sets may leave out the end where the next range begins.
func TestAnonymousAdjacent(t *testing.T) {
	s := newSet(t, elem.Anonymous|elem.Constant)
	a, b := elem.New(addr("10.0.0.0"), nil), elem.New(addr("10.0.0.8"), nil)
	for _, e := range []*elem.Entry{a, b, elem.NewIntervalEnd(addr("10.0.0.16"))} {
		if _, err := s.Insert(e, 0); err != nil {
			t.Fatal(err)
		}
	}
	s.Commit(0)
	hit(t, s, "10.0.0.7", 0, a)
	hit(t, s, "10.0.0.8", 0, b)
	hit(t, s, "10.0.0.16", 0, nil)
}

// The kernel's walk goes from the highest key down.
func TestWalkOrder(t *testing.T) {
	s := newSet(t, 0)
	must(t, s, "10.0.0.1", "10.0.0.5")
	must(t, s, "10.0.0.6", "10.0.0.9")
	s.Commit(0)
	var got []byte
	s.Live().Walk(func(e *elem.Entry) bool {
		got = append(got, e.Key()[3])
		return true
	})
	if string(got) != "\x0a\x06\x06\x01" {
		t.Errorf("order %v", got)
	}
}

func TestManyRanges(t *testing.T) {
	s := newSet(t, 0)
	key := func(i int) []byte { return []byte{byte(i >> 16), byte(i >> 8), byte(i), 0} }
	const n = 20000
	for i := range n {
		j := i * 7919 % n
		if _, err := s.Insert(elem.New(key(2*j+1), nil), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Insert(elem.NewIntervalEnd(key(2*j+2)), 0); err != nil {
			t.Fatal(err)
		}
	}
	s.Commit(0)
	for i := range 2 * n {
		if got := s.Lookup(key(i), 0) != nil; got != (i%2 == 1) {
			t.Fatalf("%x: %v", key(i), got)
		}
	}
	for i := 0; i < n; i += 2 {
		if _, err := s.Delete(elem.New(key(2*i+1), nil), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Delete(elem.NewIntervalEnd(key(2*i+2)), 0); err != nil {
			t.Fatal(err)
		}
	}
	s.Commit(0)
	for i := range 2 * n {
		if got := s.Lookup(key(i), 0) != nil; got != (i%4 == 3) {
			t.Fatalf("after deletion, %x: %v", key(i), got)
		}
	}
}
