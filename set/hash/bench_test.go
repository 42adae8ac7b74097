package hash_test

import (
	"encoding/binary"
	"testing"

	"verdict/set/elem"
	"verdict/set/settest"
)

func BenchmarkAddresses(b *testing.B) {
	batch := elem.NewBatch(4)
	for _, n := range []int{1000, 30_000, 1_000_000} {
		settest.Benchmark(b, settest.Config{Desc: elem.Desc{KeyLen: 4}, New: newSet}, n, func(i int) []*elem.Entry {
			return []*elem.Entry{batch.New(binary.BigEndian.AppendUint32(nil, uint32(i)*2654435761), nil)}
		})
	}
}
