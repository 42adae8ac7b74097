package capture

import (
	"math"
	exact "math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestInterfaceClock(t *testing.T) {
	for _, test := range []struct {
		name       string
		resolution byte
		offset     int64
		stamp      uint64
		want       int64
		fits       bool
	}{
		{"microseconds", 6, 0, 1_000_001, 1_000_001_000, true},
		{"nanoseconds", 9, 0, 1_000_000_001, 1_000_000_001, true},
		{"seconds", 0, 0, 3, 3_000_000_000, true},
		{"picoseconds", 12, 0, 1_234_567, 1234, true},
		{"10^-28", 28, 0, math.MaxUint64, 1, true},
		{"10^-127", 127, 0, math.MaxUint64, 0, true},
		{"seconds as 2^0", 0x80, 0, 3, 3_000_000_000, true},
		{"2^-1", 0x81, 0, 3, 1_500_000_000, true},
		{"2^-32", 0xa0, 0, 1 << 31, 500_000_000, true},
		{"2^-64", 0xc0, 0, 1 << 63, 500_000_000, true},
		{"2^-127", 0xff, 0, math.MaxUint64, 0, true},
		{"offset", 9, 10, 1, 10_000_000_001, true},
		{"offset back", 9, -10, 1, -9_999_999_999, true},
		{"offset beyond", 9, math.MaxInt64, 1, 0, false},
		{"offset to beyond", 9, 9_223_372_036, math.MaxInt64, 0, false},
		{"last microsecond that fits", 6, 0, math.MaxInt64 / 1000, 9_223_372_036_854_775_000, true},
		{"first that does not", 6, 0, math.MaxInt64/1000 + 1, 0, false},
		{"far future", 6, 0, math.MaxUint64, 0, false},
		{"far future, binary", 0x81, 0, math.MaxUint64, 0, false},
		{"zero is no time", 6, 0, 0, 0, false},
	} {
		clock := newInterfaceClock()
		clock.setResolution(test.resolution)
		clock.offset = test.offset
		if got, fits := clock.nanoseconds(test.stamp); got != test.want || fits != test.fits {
			t.Errorf("%s: %d, %v; want %d, %v", test.name, got, fits, test.want, test.fits)
		}
	}
}

// The conversion equals exact arithmetic, rounded down.
func TestInterfaceClockExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		resolution := rapid.Byte().Draw(t, "resolution")
		stamp := rapid.Uint64Min(1).Draw(t, "stamp")
		clock := newInterfaceClock()
		clock.setResolution(resolution)

		base := int64(10)
		if resolution&0x80 != 0 {
			base = 2
		}
		unit := new(exact.Int).Exp(exact.NewInt(base), exact.NewInt(int64(resolution&0x7f)), nil)
		value := new(exact.Int).Mul(new(exact.Int).SetUint64(stamp), exact.NewInt(1e9))
		value.Div(value, unit)

		got, fits := clock.nanoseconds(stamp)
		if fits != value.IsInt64() || fits && got != value.Int64() {
			t.Fatalf("%d, %v; exactly %v", got, fits, value)
		}
	})
}
