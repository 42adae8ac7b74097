package conntrack

import (
	"testing"

	"verdict/catalog"

	"pgregory.net/rapid"
)

// TestIndexAgainstMap runs random operations on the index and on a plain map.
// Few hash values make long runs of slots.
func TestIndexAgainstMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var x index
		x.init(rapid.Uint64().Draw(rt, "seed"))
		model := map[uint32]uint32{}
		// Homes around the ring's ends; minSlots of them share 32 bits.
		hash := rapid.Custom(func(t *rapid.T) uint32 {
			home := rapid.IntRange(-4, 3).Draw(t, "home")
			return uint32((home+minSlots)%minSlots)<<22 + rapid.Uint32Range(0, 3).Draw(t, "low")
		})
		next := uint32(1)
		for range rapid.IntRange(1, 300).Draw(rt, "n") {
			if rapid.IntRange(0, 2).Draw(rt, "op") > 0 || len(model) == 0 {
				h := hash.Draw(rt, "hash")
				x.insert(h, next)
				model[next] = h
				next++
				continue
			}
			ref := rapid.Uint32Range(1, next-1).Draw(rt, "ref")
			h, known := model[ref]
			if !known {
				h = hash.Draw(rt, "other")
			}
			if x.remove(h, ref) != known {
				rt.Fatalf("remove %d: want %v", ref, known)
			}
			delete(model, ref)
		}
		if x.used != len(model) {
			rt.Fatalf("%d entries, want %d", x.used, len(model))
		}
		for ref, h := range model {
			if !reachable(&x, h, ref) {
				rt.Fatalf("entry %d is not found", ref)
			}
		}
	})
}

func reachable(x *index, hash, ref uint32) bool {
	for i := x.home(hash); x.slots[i].ref != 0; i = x.next(i) {
		if x.slots[i].ref == ref {
			return true
		}
	}
	return false
}

// TestTableAgainstModel sends random packets of few flows, with time passing,
// and compares what is found with a plain list of connections.
func TestTableAgainstModel(t *testing.T) {
	type flow struct{ src, dst byte }
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, Config{})
		expiry := map[flow]int64{} // original direction to expiry
		replied := map[flow]bool{}
		for range rapid.IntRange(1, 100).Draw(rt, "n") {
			w.now += rapid.Int64Range(0, 12).Draw(rt, "wait") * second
			f := flow{rapid.ByteRange(1, 5).Draw(rt, "src"), rapid.ByteRange(1, 5).Draw(rt, "dst")}
			segment := make([]byte, 8)
			segment[1], segment[3], segment[5] = f.src, f.dst, 8
			frame := ipv4([4]byte{10, 0, 0, f.src}, [4]byte{10, 0, 0, f.dst}, 50, segment)
			back := flow{f.dst, f.src}
			want := InfoNew
			switch {
			case f == back && w.now < expiry[f]: // both directions are the same, and the reply's is found first
				want = InfoEstablishedReply
				replied[f] = true
			case w.now < expiry[f] && replied[f]:
				want = InfoEstablished
			case w.now < expiry[f]:
			case w.now < expiry[back]:
				want = InfoEstablishedReply
				replied[back] = true
				f = back
			default:
				replied[f] = false
			}
			expiry[f] = w.now + 600*second
			if w.send(frame); w.at.Info != want {
				rt.Fatalf("%v: got %d, want %d", f, w.at.Info, want)
			}
			if rapid.IntRange(0, 30).Draw(rt, "jump") == 0 {
				w.now += 600 * second
			}
		}
	})
}

// TestHashIsPortable fixes hash values: they must not depend on the machine.
func TestHashIsPortable(t *testing.T) {
	var x index
	x.init(1)
	tuple := Tuple{Src: [16]byte{10, 0, 0, 1}, Dst: [16]byte{192, 0, 2, 1}, SrcPort: 40000, DstPort: 80, Family: catalog.FamilyIP, Protocol: 6}
	for zone, want := range map[uint16]uint32{0: 0x9c5ee0d4, 7: 0x1d994f41} {
		if got := x.hash(&tuple, zone); got != want {
			t.Errorf("zone %d: %#x, want %#x", zone, got, want)
		}
	}
}

// TestSourceIndex: growing keeps every chain in order, and removal its links.
func TestSourceIndex(t *testing.T) {
	w := newWorld(t, Config{})
	rules := natRules{snat: to("203.0.113.1", "", 0, 0, 0)}
	const n = 3000
	for i := range n {
		if _, r := w.forward(rules, flowFrame(uint32(i))); r != Accept {
			t.Fatal("dropped")
		}
	}
	if w.table.sources.used != n {
		t.Fatalf("%d sources, want %d", w.table.sources.used, n)
	}
	i := 0
	for c := range w.table.confirmed() {
		if i++; i%3 != 0 {
			w.table.Delete(c)
		}
	}
	w.at.Reset()
	seen := 0
	for _, head := range w.table.sources.heads {
		for place, prev := head, uint32(0); place != 0; {
			c := w.table.slabs.at(place - 1)
			if c.sourcePrev != prev {
				t.Fatal("a chain's links disagree")
			}
			seen++
			place, prev = c.sourceNext, place
		}
	}
	if seen != w.table.Len() || seen != w.table.sources.used {
		t.Errorf("%d in chains, %d counted, %d connections", seen, w.table.sources.used, w.table.Len())
	}
}
