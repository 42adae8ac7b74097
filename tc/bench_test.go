package tc

import (
	"fmt"
	"testing"
)

// BenchmarkBypass sends a packet past filters that it does not match and that
// live in hardware, each with a mask of its own, as the published measurements
// do.
func BenchmarkBypass(b *testing.B) {
	for _, mode := range []Bypass{BypassOff, BypassFirst, BypassRefined} {
		for _, n := range []int{0, 1, 5, 10, 25, 50} {
			b.Run(fmt.Sprintf("%s/filters=%d", mode, n), func(b *testing.B) {
				s := newWorld(b, Config{Bypass: mode})
				do(b, s, "qdisc add dev eth0 clsact")
				for i := range n {
					do(b, s, fmt.Sprintf("filter add dev eth0 ingress protocol ip pref %d flower skip_sw dst_ip 192.%d.0.0/%d src_mac 02:00:00:00:00:%02x/%d action drop",
						i+1, i, 10+i%20, i, 20+i/20))
				}
				run(b, s)
			})
		}
	}
}

// BenchmarkOneClassifier is the same with all masks in one priority.
func BenchmarkMasks(b *testing.B) {
	for _, n := range []int{1, 10, 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newWorld(b, Config{})
			do(b, s, "qdisc add dev eth0 clsact")
			for i := range n {
				do(b, s, fmt.Sprintf("filter add dev eth0 ingress protocol ip pref 1 flower skip_hw dst_ip 192.%d.0.0/%d src_mac 02:00:00:00:00:%02x/%d action drop",
					i, 10+i%20, i, 20+i/20))
			}
			run(b, s)
		})
	}
}

func run(b *testing.B, s *System) {
	f := frame(b, udpFrame)
	d := s.Device("eth0")
	var p Packet
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		p.Load(f, true)
		s.Receive(d, &p)
	}
}

// BenchmarkInsert adds 100,000 flower filters of one mask, in order and with
// lines read by 16 goroutines.
func BenchmarkInsert(b *testing.B) {
	lines := manyFilters(100000)
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprint("workers=", workers), func(b *testing.B) {
			for range b.N {
				s := newWorld(b, Config{})
				do(b, s, "qdisc add dev eth0 clsact")
				if workers == 1 {
					for _, l := range lines {
						s.Line(l, Options{})
					}
				} else if o := s.Load("lines", lines, Options{}, workers); o.Status != 0 {
					b.Fatal(o.Stderr)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(lines)), "ns/filter")
		})
	}
}

func manyFilters(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("filter add dev eth0 ingress protocol ip pref 1 flower skip_hw dst_ip 10.%d.%d.%d action drop", i>>16, i>>8&255, i&255)
	}
	return lines
}

// BenchmarkClassify looks a packet up among 100,000 filters.
func BenchmarkClassify(b *testing.B) {
	s := newWorld(b, Config{})
	do(b, s, "qdisc add dev eth0 clsact")
	for i := range 100000 {
		s.Line(fmt.Sprintf("filter add dev eth0 ingress protocol ip pref 1 flower skip_hw dst_ip 10.%d.%d.%d action drop", i>>16, i>>8&255, i&255), Options{})
	}
	run(b, s)
}
