package pipapo

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"verdict/set/elem"
)

// pairs is a set of ranges of an address and a port.
func pairs(t *testing.T) *Set {
	t.Helper()
	s, err := New(&elem.Desc{KeyLen: 8, Fields: []uint8{4, 2}, Flags: elem.Interval | elem.Concat})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func rangesOf(address, width uint32, port, more uint16) *elem.Entry {
	var low, high [8]byte
	binary.BigEndian.PutUint32(low[:], address)
	binary.BigEndian.PutUint32(high[:], address+width)
	binary.BigEndian.PutUint16(low[4:], port)
	binary.BigEndian.PutUint16(high[4:], port+more)
	return elem.New(low[:], high[:])
}

// TestEven: lookups rely on what a tree says of its cells, whatever was put in
// and taken out.
func TestEven(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := pairs(t)
	var in []*elem.Entry
	uneven := 0
	for round := range 60 {
		for range 300 {
			e := rangesOf(rnd.Uint32N(1<<12)<<4, rnd.Uint32N(64), uint16(rnd.Uint32N(40))*100, uint16(rnd.Uint32N(150)))
			if clash, err := s.Insert(e, 0); clash == nil && err == nil {
				in = append(in, e)
			}
		}
		for i := 0; round%3 == 2 && i < 700 && len(in) > 0; i++ {
			at := rnd.IntN(len(in))
			if _, err := s.Delete(in[at], 0); err != nil {
				t.Fatal(err)
			}
			in[at] = in[len(in)-1]
			in = in[:len(in)-1]
		}
		s.Commit(0)
		for _, tr := range s.live.Load().trees {
			if tr != nil {
				uneven += checkEven(t, tr)
			}
		}
	}
	if uneven == 0 {
		t.Error("no tree was ever uneven")
	}
}

// checkEven counts the uneven trees and fails where an even one has a cell
// with more than its bucket.
func checkEven(t *testing.T, tr *tree) (uneven int) {
	t.Helper()
	if tr.uneven {
		uneven = 1
	}
	for _, n := range tr.nodes {
		for i := range n.cells {
			b := &n.cells[i]
			if !tr.uneven && (b.sub != nil || b.more != nil) {
				t.Fatalf("an even tree has a cell with sub %p, more %p", b.sub, b.more)
			}
			if b.sub != nil {
				uneven += checkEven(t, b.sub)
			}
		}
	}
	return uneven
}

// TestJump: the table leads to the node that the search finds, also where many
// cuts fall into one slot.
func TestJump(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	close := 0
	for range 200 {
		tr := &tree{firsts: []uint32{0}}
		step := uint32(1) << rnd.IntN(20)
		for x := rnd.Uint32() >> rnd.IntN(32); len(tr.firsts) < 40+rnd.IntN(200) && x < ^uint32(0)-step; x += 1 + rnd.Uint32N(step) {
			if x > tr.firsts[len(tr.firsts)-1] {
				tr.firsts = append(tr.firsts, x)
			}
			if rnd.IntN(50) == 0 {
				x += rnd.Uint32() >> 4
			}
		}
		if rnd.IntN(4) == 0 && tr.firsts[len(tr.firsts)-1] != ^uint32(0) {
			tr.firsts = append(tr.firsts, ^uint32(0))
		}
		tr.nodes = make([]*node, len(tr.firsts))
		if tr.recut(); tr.jump != nil && tr.jump.close {
			close++
		}
		ask := []uint32{0, 1, ^uint32(0), ^uint32(0) - 1, rnd.Uint32()}
		for _, x := range tr.firsts {
			ask = append(ask, x-1, x, x+1)
		}
		for _, x := range ask {
			if got, want := tr.nodeOf(x), upper32(tr.firsts, x)-1; got != want {
				t.Fatalf("%d of %v: node %d, want %d", x, tr.firsts, got, want)
			}
		}
	}
	if close == 0 || close == 200 {
		t.Errorf("%d of 200 tables are close: both kinds should be tried", close)
	}
}
