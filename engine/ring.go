package engine

import (
	"cmp"
	"hash/maphash"
	"slices"

	"verdict/packet"
)

// ring remembers the packets that left the host last. A capture on all
// interfaces shows a forwarded packet twice, coming in and going out; the
// second sight must not be judged again.
type ring struct {
	seed  maphash.Seed
	keys  [ringSize]emission
	next  int
	ready bool
}

// emission is a packet that left.
type emission struct {
	key    uint64
	serial int64 // of the packet that came in
}

// ringSize is also how many packets may come between the two sights. So what
// is remembered depends on the packets' places alone, not on what became of
// those between them.
const ringSize = 128

// add remembers a packet.
func (r *ring) add(v *packet.View, serial int64) {
	r.begin()
	r.put(emission{r.key(v), serial})
}

// begin chooses what keys are made with.
func (r *ring) begin() {
	if !r.ready {
		r.seed, r.ready = maphash.MakeSeed(), true
	}
}

func (r *ring) put(e emission) {
	r.keys[r.next] = e
	r.next = (r.next + 1) % ringSize
}

// has tells whether the packet left before, and forgets it.
func (r *ring) has(v *packet.View, serial int64) bool {
	if !r.ready {
		return false
	}
	key := r.key(v)
	for i := range r.keys {
		if e := &r.keys[i]; e.key == key && key != 0 && serial-e.serial <= ringSize {
			e.key = 0
			return true
		}
	}
	return false
}

// key identifies a packet by its addresses, its transport header and its
// identification, leaving out what forwarding changes.
func (r *ring) key(v *packet.View) uint64 {
	data := v.Packet()
	if v.Validity != packet.Valid || v.NetOff+20 > len(data) {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(r.seed)
	if v.EtherType == packet.TypeIPv4 {
		h.Write(data[v.NetOff+2 : v.NetOff+8])   // length, identification, fragment
		h.Write(data[v.NetOff+12 : v.NetOff+20]) // addresses
	} else if v.NetOff+40 <= len(data) {
		h.Write(data[v.NetOff+4 : v.NetOff+6])
		h.Write(data[v.NetOff+8 : v.NetOff+40])
	}
	if v.L4OK && v.ThOff+8 <= len(data) {
		h.Write(data[v.ThOff : v.ThOff+8])
	}
	return h.Sum64()
}

// merge takes over what another ring remembers, which forgets it.
func (r *ring) merge(o *ring) {
	var list []emission
	for _, from := range []*ring{r, o} {
		for i := range from.keys {
			if from.keys[i].key != 0 {
				list = append(list, from.keys[i])
			}
		}
		from.keys, from.next = [ringSize]emission{}, 0
	}
	slices.SortFunc(list, func(a, b emission) int { return cmp.Compare(a.serial, b.serial) })
	for _, e := range list {
		r.put(e)
	}
}
