package pipapo

import (
	"testing"

	"verdict/set/elem"
)

// A bucket compares two words of a key; a third field that differs must not
// go unnoticed.
func TestThirdFieldOfOneWordCounts(t *testing.T) {
	s, err := New(&elem.Desc{Flags: elem.Interval | elem.Concat, KeyLen: 12, Fields: []uint8{2, 2, 1}})
	if err != nil {
		t.Fatal(err)
	}
	key := func(a, b uint16, c byte) []byte {
		return []byte{byte(a >> 8), byte(a), 0, 0, byte(b >> 8), byte(b), 0, 0, c, 0, 0, 0}
	}
	for _, e := range []*elem.Entry{
		elem.New(key(25, 22, 6), key(4789, 80, 6)),
		elem.New(key(505, 80, 17), key(720, 124, 17)),
	} {
		if _, err := s.Insert(e, 0); err != nil {
			t.Fatal(err)
		}
	}
	s.Commit(0)
	for _, c := range []struct {
		key  []byte
		want bool
	}{{key(600, 80, 6), true}, {key(600, 80, 17), true}, {key(600, 80, 132), false}} {
		if got := s.Lookup(c.key, 0) != nil; got != c.want {
			t.Errorf("%x: found %v, want %v", c.key, got, c.want)
		}
	}
}
