package set

import (
	"testing"

	"verdict/set/elem"
)

// Small sets, as rules have them, through a view.
func BenchmarkSmall(b *testing.B) {
	ranges := func(size int) []*Entry {
		var es []*Entry
		for i := range 5 {
			start, end := make([]byte, size), make([]byte, size)
			start[0], end[0] = byte(10*i+5), byte(10*i+8)
			es = append(es, elem.New(start, nil), elem.NewIntervalEnd(end))
		}
		return es
	}
	singles := func(size int) []*Entry {
		var es []*Entry
		for i := range 5 {
			k := make([]byte, size)
			k[0] = byte(10*i + 5)
			es = append(es, elem.New(k, nil))
		}
		return es
	}
	for _, c := range []struct {
		name string
		d    Desc
		es   []*Entry
	}{
		{"ports", Desc{KeyLen: 2}, singles(2)},
		{"addresses", Desc{KeyLen: 4, Size: 5}, singles(4)},
		{"addresses6", Desc{KeyLen: 16, Size: 5}, singles(16)},
		{"port map", Desc{KeyLen: 2, Size: 5, Flags: elem.Map}, singles(2)},
		{"port ranges", Desc{KeyLen: 2, Flags: elem.Interval}, ranges(2)},
		{"networks", Desc{KeyLen: 4, Flags: elem.Interval}, ranges(4)},
		{"networks6", Desc{KeyLen: 16, Flags: elem.Interval}, ranges(16)},
		{"networks and ports", Desc{KeyLen: 8, Fields: []uint8{4, 2}, Flags: elem.Interval | elem.Concat}, singles(8)},
	} {
		s, err := New(c.d)
		if err != nil {
			b.Fatal(err)
		}
		if n, _, err := s.InsertAll(c.es, 0); err != nil {
			b.Fatal(n, err)
		}
		s.Commit(0)
		v := s.View()
		hit, miss := []byte(c.es[2].Key()), []byte(c.es[2].Key())
		miss[0]--
		b.Run(c.name+"/hit", func(b *testing.B) {
			for b.Loop() {
				v.Lookup(hit, 0)
			}
		})
		b.Run(c.name+"/miss", func(b *testing.B) {
			for b.Loop() {
				v.Lookup(miss, 0)
			}
		})
	}
}
