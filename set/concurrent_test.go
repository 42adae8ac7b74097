package set

import (
	"fmt"
	"sync"
	"testing"

	"verdict/set/elem"
)

// Readers beside a writer see each transaction wholly or not at all, in every
// kind of set.
func TestConcurrentReaders(t *testing.T) {
	for _, c := range []struct {
		d     Desc
		elems func(n byte) []*Entry
		key   func(n byte) []byte
	}{
		{
			Desc{KeyLen: 4}, func(n byte) []*Entry { return []*Entry{elem.New(key4(1, 2, 3, n), nil)} },
			func(n byte) []byte { return key4(1, 2, 3, n) },
		},
		{
			Desc{KeyLen: 2}, func(n byte) []*Entry { return []*Entry{elem.New([]byte{1, n}, nil)} },
			func(n byte) []byte { return []byte{1, n} },
		},
		{
			Desc{KeyLen: 4, Flags: elem.Interval},
			func(n byte) []*Entry {
				return []*Entry{elem.New(key4(1, n, 0, 0), nil), elem.NewIntervalEnd(key4(1, n, 9, 0))}
			},
			func(n byte) []byte { return key4(1, n, 5, 5) },
		},
		{
			Desc{KeyLen: 8, Fields: []uint8{4, 2}, Flags: elem.Interval | elem.Concat},
			func(n byte) []*Entry {
				return []*Entry{elem.New([]byte{1, n, 0, 0, 0, 80, 0, 0}, []byte{1, n, 255, 255, 0, 90, 0, 0})}
			},
			func(n byte) []byte { return []byte{1, n, 7, 7, 0, 85, 0, 0} },
		},
	} {
		s := mustNew(t, c.d)
		t.Run(s.Kind().String(), func(t *testing.T) {
			for n := byte(100); n < 200; n++ {
				mustInsert(t, s, 0, c.elems(n)...)
			}
			s.Commit(0)
			stop := make(chan struct{})
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						if err := consistent(s, c.key); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			for round := range 300 {
				for _, n := range []byte{1, 2} {
					for _, e := range c.elems(n) {
						if round%2 == 0 {
							mustInsert(t, s, 0, e)
						} else if _, err := s.Delete(e, 0); err != nil {
							t.Errorf("delete: %v", err)
						}
					}
				}
				if round%10 == 9 {
					s.Abort()
					for _, n := range []byte{1, 2} {
						for _, e := range c.elems(n) {
							if _, err := s.Delete(e, 0); err != nil {
								t.Errorf("delete after an abort: %v", err)
							}
						}
					}
				}
				s.Commit(0)
			}
			close(stop)
			wg.Wait()
		})
	}
}

// consistent checks one view: what is always there, what never is, and the
// two elements that come and go together.
func consistent(s *Set, key func(n byte) []byte) error {
	if s.Lookup(key(150), 0) == nil || s.Lookup(key(50), 0) != nil {
		return fmt.Errorf("a lookup that no transaction touches went wrong")
	}
	v := s.View()
	one, two := v.Lookup(key(1), 0) != nil, v.Lookup(key(2), 0) != nil
	if one != two {
		return fmt.Errorf("half a transaction: %v, %v", one, two)
	}
	found := make([]*Entry, 2)
	k := append(append([]byte(nil), key(1)...), key(2)...)
	v.LookupBatch(k, len(k)/2, 0, found)
	if (found[0] != nil) != one || (found[1] != nil) != one {
		return fmt.Errorf("the view changed")
	}
	return nil
}

// Readers do not wait for a transaction that is open: while one goroutine has
// changed a set and not committed, another looks up all it wants.
func TestReadersBesideOpenTransaction(t *testing.T) {
	for _, d := range []Desc{
		{KeyLen: 4}, {KeyLen: 2}, {KeyLen: 4, Flags: elem.Interval},
		{KeyLen: 8, Fields: []uint8{4, 2}, Flags: elem.Interval | elem.Concat},
	} {
		s, err := New(d)
		if err != nil {
			t.Fatal(err)
		}
		first, second := make([]byte, d.KeyLen), make([]byte, d.KeyLen)
		first[0], second[0] = 1, 2
		insert := func(key []byte) {
			es := []*Entry{elem.New(key, nil)}
			if s.Kind() == Rbtree {
				es = append(es, elem.NewIntervalEnd(append([]byte{key[0]}, 0, 0, 9)))
			}
			if n, _, err := s.InsertAll(es, 0); err != nil {
				t.Fatal(n, err)
			}
		}
		insert(first)
		s.Commit(0)
		insert(second) // and no commit yet
		done := make(chan bool)
		go func() {
			ok := true
			for range 10_000 {
				ok = ok && s.Lookup(first, 0) != nil && s.Lookup(second, 0) == nil
			}
			done <- ok
		}()
		if !<-done {
			t.Errorf("%v: a reader saw the open transaction", s.Kind())
		}
		s.Abort()
	}
}
