package pipapo

// prefix is one rule of a field: base and how many of its leading bits count.
type prefix struct {
	base [16]byte
	len  int
}

// expand calls emit for each prefix of the minimal cover of the range from
// start to end inclusive, in ascending order, and stops at its first error.
// The two have the same length, at most 16 bytes, and start is not above end.
//
// Ref: nft_set_pipapo.c, pipapo_expand
func expand(start, end []byte, emit func(prefix) error) error {
	n := len(start)
	bits := 8 * n
	var p prefix
	copy(p.base[:], start)
	if string(start) == string(end) {
		p.len = bits
		return emit(p)
	}
	for {
		step := 0
		for step < bits && blockFits(p.base[:n], end, step+1) {
			step++
		}
		p.len = bits - step
		if err := emit(p); err != nil {
			return err
		}
		if step == bits || addBit(p.base[:n], step) || string(p.base[:n]) > string(end) {
			return nil
		}
	}
}

// blockFits tells whether base is a multiple of 2^step and the block of that
// size beginning there does not reach beyond end.
func blockFits(base, end []byte, step int) bool {
	var top [16]byte
	n := len(base)
	copy(top[:n], base)
	for i := 0; i < step; i++ {
		at, bit := n-1-i/8, byte(1)<<(i%8)
		if base[at]&bit != 0 {
			return false
		}
		top[at] |= bit
	}
	return string(top[:n]) <= string(end)
}

// addBit adds 2^step to base and tells whether it wrapped around.
func addBit(base []byte, step int) bool {
	at := len(base) - 1 - step/8
	add := uint(1) << (step % 8)
	for ; at >= 0; at-- {
		sum := uint(base[at]) + add
		base[at] = byte(sum)
		if add = sum >> 8; add == 0 {
			return false
		}
	}
	return true
}
