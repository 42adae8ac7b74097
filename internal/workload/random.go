package workload

import "time"

// random is a small generator of random numbers whose sequence never
// changes: splitmix64.
//
// Ref: Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// between returns a number from low to high.
func (r *random) between(low, high int) int { return low + r.below(high-low+1) }

// delay returns a time from low to high.
func (r *random) delay(low, high time.Duration) time.Duration {
	return low + time.Duration(r.next()%uint64(high-low+1))
}

// bytes returns n bytes as encrypted data looks.
func (r *random) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.next() >> 56)
	}
	return b
}

// pick returns one of a list.
func pick[T any](r *random, list []T) T { return list[r.below(len(list))] }
