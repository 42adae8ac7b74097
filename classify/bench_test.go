//go:build linux

package classify

import (
	"fmt"
	"testing"
	"time"

	"verdict/internal/workload"
)

// fiveTupleLayout is source, destination, ports and protocol.
func fiveTupleLayout() *Layout {
	l, err := NewLayout(Field{"source", 32}, Field{"destination", 32}, Field{"sport", 16}, Field{"dport", 16}, Field{"protocol", 8})
	if err != nil {
		panic(err)
	}
	return l
}

// fiveTupleRules turns rules of a workload into rules of this package.
func fiveTupleRules(list []workload.FiveTuple) []Rule {
	rules := make([]Rule, len(list))
	for i := range list {
		q := &list[i]
		m := []Constraint{Prefix(0, be32(q.Src), int(q.SrcLen)), Prefix(1, be32(q.Dst), int(q.DstLen)),
			Between(2, be16(q.SrcPort[0]), be16(q.SrcPort[1])), Between(3, be16(q.DstPort[0]), be16(q.DstPort[1]))}
		if !q.AnyProto {
			m = append(m, Exact(4, []byte{q.Proto}))
		}
		rules[i] = Rule{Order: uint32(i), Match: m}
	}
	return rules
}

func fiveTupleKeys(l *Layout, headers []workload.Header) []uint32 {
	keys := make([]uint32, 0, len(headers)*l.Stride())
	for _, h := range headers {
		k := l.NewKey()
		for i, x := range []uint32{h.Src, h.Dst, uint32(h.SrcPort), uint32(h.DstPort), uint32(h.Proto)} {
			k[l.Lane(i, 0)] = x
		}
		keys = append(keys, k...)
	}
	return keys
}

func TestFiveTuplesAgree(t *testing.T) {
	l := fiveTupleLayout()
	for _, family := range []string{"acl", "fw", "ipc"} {
		rules := workload.FiveTuples(family, 2000, 1)
		table, err := New(l, fiveTupleRules(rules), Options{})
		if err != nil {
			t.Fatal(err)
		}
		headers := workload.Headers(rules, 3000, 2)
		keys := fiveTupleKeys(l, headers)
		found := make([]uint32, len(headers))
		table.LookupBatch(keys, found)
		for i := range headers {
			want := uint32(None)
			for j := range rules {
				if rules[j].Matches(&headers[i]) {
					want = uint32(j)
					break
				}
			}
			if got := table.Next(keys[i*l.Stride():][:l.Stride()], 0); got != want || found[i] != want {
				t.Fatalf("%s: header %d: rule %d, in a batch %d, want %d", family, i, got, found[i], want)
			}
		}
		t.Log(family, table.Stats())
	}
}

func BenchmarkFiveTuple(b *testing.B) {
	l := fiveTupleLayout()
	for _, family := range []string{"acl", "fw", "ipc"} {
		for _, n := range []int{1000, 10000, 100000} {
			list := workload.FiveTuples(family, n, 1)
			rules := fiveTupleRules(list)
			started := time.Now()
			table, err := New(l, rules, Options{})
			if err != nil {
				b.Fatal(err)
			}
			built := time.Since(started)
			keys := fiveTupleKeys(l, workload.Headers(list, 1<<17, 2))
			stride := l.Stride()
			count := len(keys) / stride
			b.Run(fmt.Sprintf("%s/%d/single", family, n), func(b *testing.B) {
				i := 0
				cpuPerKey(b, 1, func() {
					table.Next(keys[i*stride:][:stride], 0)
					if i++; i == count {
						i = 0
					}
				})
				b.ReportMetric(built.Seconds()*1000, "build-ms")
				b.ReportMetric(float64(table.Stats().Bytes)/1e6, "MB")
				b.Logf("%v", table.Stats())
			})
			b.Run(fmt.Sprintf("%s/%d/burst", family, n), func(b *testing.B) {
				found := make([]uint32, 64)
				i := 0
				cpuPerKey(b, 64, func() {
					table.LookupBatch(keys[i*stride:][:64*stride], found)
					if i += 64; i == count {
						i = 0
					}
				})
			})
		}
	}
}
