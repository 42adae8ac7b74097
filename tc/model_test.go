package tc

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPrefiltersKeepVerdicts compares hash tables and prefilters with the plain
// model, which asks every filter, on random filters and packets.
func TestPrefiltersKeepVerdicts(t *testing.T) {
	key := rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		if rapid.Bool().Draw(t, "mac") {
			fmt.Fprintf(&b, " src_mac 02:aa:00:00:00:0%d/%d", rapid.IntRange(0, 3).Draw(t, "m"), rapid.SampledFrom([]int{48, 47, 40, 8}).Draw(t, "bits"))
		}
		if rapid.Bool().Draw(t, "dst") {
			fmt.Fprintf(&b, " dst_ip 10.0.%d.%d/%d", rapid.IntRange(0, 1).Draw(t, "a"), rapid.IntRange(0, 3).Draw(t, "b"), rapid.SampledFrom([]int{32, 31, 24, 9}).Draw(t, "bits"))
		}
		if rapid.Bool().Draw(t, "proto") {
			b.WriteString(" ip_proto udp")
			switch rapid.IntRange(0, 2).Draw(t, "port") {
			case 0:
				fmt.Fprintf(&b, " dst_port %d/0x%x", rapid.IntRange(1, 70).Draw(t, "p"), rapid.SampledFrom([]int{0xffff, 0xfff0, 0x1}).Draw(t, "pm"))
			case 1:
				p := rapid.IntRange(1, 70).Draw(t, "p")
				fmt.Fprintf(&b, " dst_port %d-%d", p, p+rapid.IntRange(1, 30).Draw(t, "width"))
			}
		}
		if rapid.Bool().Draw(t, "tos") {
			fmt.Fprintf(&b, " ip_tos %d/0x%x", rapid.IntRange(0, 7).Draw(t, "t"), rapid.SampledFrom([]int{0xff, 0x3, 0x4}).Draw(t, "tm"))
		}
		return b.String()
	})
	rapid.Check(t, func(rt *rapid.T) {
		fast, plain := newWorld(t, Config{}), newWorld(t, Config{Linear: true})
		both := func(line string) {
			a, b := fast.Line(line, Options{}), plain.Line(line, Options{})
			if a.Status != b.Status || a.Stderr != b.Stderr || a.Stdout != b.Stdout {
				rt.Fatalf("%s: %+v and %+v", line, a, b)
			}
		}
		both("qdisc add dev eth0 clsact")
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			pref := rapid.IntRange(1, 8).Draw(rt, "pref")
			switch rapid.IntRange(0, 7).Draw(rt, "what") {
			case 0:
				both(fmt.Sprintf("filter del dev eth0 ingress pref %d", pref))
			case 1:
				both(fmt.Sprintf("filter del dev eth0 ingress protocol ip pref %d handle %d flower", pref, rapid.IntRange(1, 4).Draw(rt, "h")))
			default:
				both(fmt.Sprintf("filter add dev eth0 ingress protocol ip pref %d flower%s action %s", pref, key.Draw(rt, "key"),
					rapid.SampledFrom([]string{"drop", "ok", "continue", "pedit ex munge ip dst set 10.0.1.2 continue", "reclassify"}).Draw(rt, "action")))
			}
			f := frame(t, udpFrame)
			f[11] = byte(rapid.IntRange(0, 3).Draw(rt, "src"))
			f[15] = byte(rapid.IntRange(0, 7).Draw(rt, "tos"))
			f[32], f[33] = byte(rapid.IntRange(0, 1).Draw(rt, "d1")), byte(rapid.IntRange(0, 3).Draw(rt, "d2"))
			f[37] = byte(rapid.IntRange(0, 80).Draw(rt, "port"))
			if a, b := send(t, fast, "eth0", f), send(t, plain, "eth0", f); a != b {
				rt.Fatalf("%s with prefilters, %s without", a, b)
			}
		}
		both("-s filter show dev eth0 ingress")
	})
}
