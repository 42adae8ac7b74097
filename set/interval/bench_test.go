package interval_test

import (
	"encoding/binary"
	"testing"

	"verdict/set/elem"
	"verdict/set/interval"
	"verdict/set/settest"
)

func BenchmarkRanges(b *testing.B) {
	for _, size := range []int{4, 16} {
		b.Run(map[int]string{4: "v4", 16: "v6"}[size], func(b *testing.B) {
			batch := elem.NewBatch(size)
			c := settest.Config{
				Desc: elem.Desc{KeyLen: size, Flags: elem.Interval},
				New:  func(d *elem.Desc) (elem.Backend, error) { return interval.New(d) },
			}
			key := func(i uint32) []byte {
				return append(binary.BigEndian.AppendUint32(nil, i), make([]byte, size-4)...)
			}
			for _, n := range []int{1000, 30_000, 500_000} {
				settest.Benchmark(b, c, n, func(i int) []*elem.Entry {
					start, end := batch.New(key(uint32(i)*8000), nil), batch.New(key(uint32(i)*8000+4000), nil)
					end.Flags = elem.IntervalEnd
					return []*elem.Entry{start, end}
				})
			}
		})
	}
}
