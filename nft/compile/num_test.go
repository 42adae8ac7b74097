package compile

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func drawNum(t *rapid.T, name string) num {
	hi := rapid.Uint64().Draw(t, name+"hi")
	if rapid.Bool().Draw(t, name+"small") {
		hi = 0
	}
	return num{hi, rapid.Uint64().Draw(t, name+"lo")}
}

func toBig(a num) *big.Int {
	b := new(big.Int).SetUint64(a.hi)
	return b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(a.lo))
}

// TestNum checks the arithmetic against package big.
func TestNum(t *testing.T) {
	limit := new(big.Int).Lsh(big.NewInt(1), 128)
	mask := new(big.Int).Sub(limit, big.NewInt(1))
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawNum(t, "a"), drawNum(t, "b")
		n := rapid.IntRange(0, 130).Draw(t, "n")
		x, y := toBig(a), toBig(b)
		check := func(name string, got num, want *big.Int) {
			want = want.And(want, mask)
			if toBig(got).Cmp(want) != 0 {
				t.Fatalf("%s: %s, want %s", name, toBig(got), want)
			}
		}
		check("shl", a.shl(n), new(big.Int).Lsh(x, uint(n)))
		check("shr", a.shr(n), new(big.Int).Rsh(x, uint(n)))
		check("and", a.and(b), new(big.Int).And(x, y))
		check("or", a.or(b), new(big.Int).Or(x, y))
		check("xor", a.xor(b), new(big.Int).Xor(x, y))
		check("plus1", a.plus1(), new(big.Int).Add(x, big.NewInt(1)))
		check("minus1", a.minus1(), new(big.Int).Add(x, mask))
		check("ones", ones(min(n, 128)), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(min(n, 128))), big.NewInt(1)))
		if a.cmp(b) != x.Cmp(y) || a.width() != x.BitLen() || a.decimal() != x.String() {
			t.Fatalf("cmp %d, width %d, decimal %s of %s", a.cmp(b), a.width(), a.decimal(), x)
		}
		if !a.isZero() && a.lowZeros() != int(x.TrailingZeroBits()) {
			t.Fatalf("low zeros of %s: %d", x, a.lowZeros())
		}
		var big16, little16 [16]byte
		a.put(big16[:], false)
		a.put(little16[:], true)
		if numFromBytes(big16[:]) != a {
			t.Fatalf("bytes of %s: %x", x, big16)
		}
		for i := range big16 {
			if big16[i] != little16[15-i] {
				t.Fatalf("bytes of %s: %x and %x", x, big16, little16)
			}
		}
		if back, ok, fits := parseNum(x.String()); back != a || !ok || !fits {
			t.Fatalf("parse %s: %v", x, back)
		}
		if back, ok, fits := parseNum("0x" + x.Text(16)); back != a || !ok || !fits {
			t.Fatalf("parse 0x%s: %v", x.Text(16), back)
		}
	})
}

func TestParseNum(t *testing.T) {
	cases := []struct {
		text     string
		want     num
		ok, fits bool
	}{
		{"0", num{}, true, true},
		{"017", small(15), true, true},
		{"0x1f", small(31), true, true},
		{"08", num{}, false, true},
		{"", num{}, false, true},
		{"12a", num{}, false, true},
		{"340282366920938463463374607431768211455", ones(128), true, true},
		{"340282366920938463463374607431768211456", num{}, true, false},
		{"0x1000000000000000000000000000000000", num{}, true, false},
	}
	for _, c := range cases {
		got, ok, fits := parseNum(c.text)
		if ok != c.ok || fits != c.fits || fits && ok && got != c.want {
			t.Errorf("parseNum(%q) = %v, %v, %v", c.text, got, ok, fits)
		}
	}
}
