package engine

import (
	"hash/maphash"

	"verdict/packet"
)

// ring remembers the packets that left the host last. A capture on all
// interfaces shows a forwarded packet twice, coming in and going out; the
// second sight must not be judged again.
type ring struct {
	seed  maphash.Seed
	keys  [ringSize]uint64
	next  int
	ready bool
}

const ringSize = 64

// add remembers a packet.
func (r *ring) add(v *packet.View) {
	if !r.ready {
		r.seed, r.ready = maphash.MakeSeed(), true
	}
	r.keys[r.next] = r.key(v)
	r.next = (r.next + 1) % ringSize
}

// has tells whether the packet left before, and forgets it.
func (r *ring) has(v *packet.View) bool {
	if !r.ready {
		return false
	}
	key := r.key(v)
	for i := range r.keys {
		if r.keys[i] == key && key != 0 {
			r.keys[i] = 0
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
		h.Write(data[v.NetOff+4 : v.NetOff+7])
		h.Write(data[v.NetOff+8 : v.NetOff+40])
	}
	if v.L4OK && v.ThOff+8 <= len(data) {
		h.Write(data[v.ThOff : v.ThOff+8])
	}
	return h.Sum64()
}
