package settest

import (
	"math/big"

	"verdict/set/elem"
)

// Element returns element number i of a series in the shape, of which no two
// overlap: in each field a short range, or a single value where the field has
// one byte.
func (s Shape) Element(i int) *elem.Entry {
	var low, high []byte
	for _, n := range s.Fields {
		step, width := 4, 2
		switch n {
		case 1:
			step, width = 1, 0
		case 2:
			step, width = 2, 1
		}
		first := new(big.Int).SetInt64(int64(i) * int64(step))
		first.Mod(first, new(big.Int).Lsh(big.NewInt(1), 8*uint(n)))
		field := make([]byte, elem.Padded(int(n)))
		low = append(low, first.FillBytes(field[:n])...)
		low = append(low, field[n:]...)
		last := plus(first.FillBytes(make([]byte, n)), int64(width))
		high = append(append(high, last...), make([]byte, elem.Padded(int(n))-int(n))...)
	}
	return elem.New(low, high)
}
