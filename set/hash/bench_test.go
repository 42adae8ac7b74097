package hash_test

import (
	"encoding/binary"
	"testing"

	"verdict/set/elem"
	"verdict/set/settest"
)

func BenchmarkAddresses(b *testing.B) {
	for _, size := range []int{4, 16} {
		b.Run(map[int]string{4: "v4", 16: "v6"}[size], func(b *testing.B) {
			batch := elem.NewBatch(size)
			for _, n := range []int{1000, 30_000, 1_000_000} {
				settest.Benchmark(b, settest.Config{Desc: elem.Desc{KeyLen: size}, New: newSet}, n, func(i int) []*elem.Entry {
					key := binary.BigEndian.AppendUint32(make([]byte, size-4), uint32(i)*2654435761)
					return []*elem.Entry{batch.New(key, nil)}
				})
			}
		})
	}
}
