package conntrack

// random is a small generator for what the kernel draws at random.
// Ref: Steele, Lea, Flood: Fast splittable pseudorandom number generators.
type random struct{ state uint64 }

func newRandom(seed uint64) random { return random{seed ^ 0x5851f42d4c957f2d} }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// bits16 draws 16 bits.
func (r *random) bits16() uint16 { return uint16(r.next() >> 48) }
