package capture

import (
	"math"
	"math/bits"
)

// interfaceClock turns an interface's timestamps into nanoseconds.
type interfaceClock struct {
	// factor is the nanoseconds per unit when that is a whole number, else 0.
	factor uint64
	// binary says whether the unit is 2^-exponent seconds, else 10^-exponent.
	binary   bool
	exponent uint8
	offset   int64 // seconds to add (if_tsoffset)
	fcsLen   int   // bytes of frame check sequence at each frame's end
}

// newInterfaceClock counts microseconds, the default without if_tsresol.
func newInterfaceClock() interfaceClock {
	return interfaceClock{factor: 1000, exponent: 6}
}

// setResolution takes the value of if_tsresol.
func (c *interfaceClock) setResolution(value byte) {
	c.binary, c.exponent = value&0x80 != 0, value&0x7f
	c.factor = 0
	switch {
	case c.binary && c.exponent == 0:
		c.factor = 1e9
	case !c.binary && c.exponent <= 9:
		c.factor = powerOfTen(9 - c.exponent)
	}
}

// nanoseconds converts a timestamp to nanoseconds since 1970. It is false for
// the all-zero stamp, which writers without a clock use, and for times that do
// not fit.
func (c *interfaceClock) nanoseconds(stamp uint64) (int64, bool) {
	if stamp == 0 {
		return 0, false
	}
	var high, low uint64
	if c.factor != 0 {
		high, low = bits.Mul64(stamp, c.factor)
	} else {
		low = c.finer(stamp)
	}
	if high != 0 || low > math.MaxInt64 {
		return 0, false
	}
	if c.offset == 0 {
		return int64(low), true
	}
	return addSeconds(int64(low), c.offset)
}

// finer converts stamps of units that are not whole nanoseconds.
func (c *interfaceClock) finer(stamp uint64) uint64 {
	if !c.binary {
		if c.exponent-9 > 19 {
			return 0
		}
		return stamp / powerOfTen(c.exponent-9)
	}
	high, low := bits.Mul64(stamp, 1e9)
	if c.exponent >= 64 {
		return high >> (c.exponent - 64)
	}
	if high>>c.exponent != 0 {
		return math.MaxUint64
	}
	return high<<(64-c.exponent) | low>>c.exponent
}

// second is a second in nanoseconds.
const second = 1_000_000_000

func addSeconds(nanoseconds, seconds int64) (int64, bool) {
	if seconds > math.MaxInt64/second || seconds < math.MinInt64/second {
		return 0, false
	}
	sum := nanoseconds + seconds*second
	if (seconds > 0) != (sum > nanoseconds) {
		return 0, false
	}
	return sum, true
}

// powerOfTen returns 10^n for n up to 19.
func powerOfTen(n uint8) uint64 {
	power := uint64(1)
	for range n {
		power *= 10
	}
	return power
}
