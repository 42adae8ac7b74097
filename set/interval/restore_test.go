package interval

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"verdict/set/elem"
)

// TestRestore takes random sets through Walk and back. Starts and ends are
// inserted and deleted each for themselves, as no front end does, so that sets
// come about which insertion would refuse.
func TestRestore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := mustNew(t)
		for range rapid.IntRange(0, 40).Draw(t, "changes") {
			key := []byte{0, 0, 0, byte(rapid.IntRange(0, 9).Draw(t, "key"))}
			e := elem.New(key, nil)
			if rapid.Bool().Draw(t, "end") {
				e = elem.NewIntervalEnd(key)
			}
			if rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
				_, _ = s.Delete(e, 0)
			} else {
				_, _ = s.Insert(e, 0)
			}
		}
		s.Commit(0)
		want := walked(s)
		again := mustNew(t)
		if n, err := again.Restore(copies(want)); err != nil || n != len(want) {
			t.Fatalf("%d of %d: %v", n, len(want), err)
		}
		again.Commit(0)
		got := walked(again)
		if len(got) != len(want) {
			t.Fatalf("%d elements, want %d", len(got), len(want))
		}
		for i := range got {
			if got[i].Key() != want[i].Key() || got[i].IsEnd() != want[i].IsEnd() {
				t.Fatalf("element %d differs", i)
			}
		}
	})
}

// TestRestoreRefuses: what Walk cannot have given.
func TestRestoreRefuses(t *testing.T) {
	start := func(b byte) *elem.Entry { return elem.New([]byte{0, 0, 0, b}, nil) }
	end := func(b byte) *elem.Entry { return elem.NewIntervalEnd([]byte{0, 0, 0, b}) }
	for _, c := range []struct {
		name string
		es   []*elem.Entry
		at   int
		want error
	}{
		{"ascending", []*elem.Entry{start(1), end(3)}, 1, elem.ErrExist},
		{"twice", []*elem.Entry{end(3), start(1), start(1)}, 2, elem.ErrExist},
		{"end above the start at its key", []*elem.Entry{end(3), start(3)}, 1, elem.ErrExist},
		{"a range of its own", []*elem.Entry{elem.New([]byte{0, 0, 0, 1}, []byte{0, 0, 0, 2})}, 0, elem.ErrInvalid},
		{"short", []*elem.Entry{end(3), elem.New([]byte{1}, nil)}, 1, elem.ErrInvalid},
	} {
		s := mustNew(t)
		if n, err := s.Restore(c.es); n != c.at || !errors.Is(err, c.want) {
			t.Errorf("%s: stopped at %d with %v, want %d and %v", c.name, n, err, c.at, c.want)
		}
	}
}

func mustNew(t interface{ Fatal(...any) }) *Set {
	s, err := New(&elem.Desc{KeyLen: 4})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func walked(s *Set) (list []*elem.Entry) {
	s.Live().Walk(func(e *elem.Entry) bool {
		list = append(list, e)
		return true
	})
	return list
}

// copies are elements like those, which belong to no set.
func copies(list []*elem.Entry) (out []*elem.Entry) {
	for _, e := range list {
		if e.IsEnd() {
			out = append(out, elem.NewIntervalEnd([]byte(e.Key())))
		} else {
			out = append(out, elem.New([]byte(e.Key()), nil))
		}
	}
	return out
}
