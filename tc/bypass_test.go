package tc

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

const (
	hwOnly = "filter add dev eth0 ingress protocol ip pref %d flower skip_sw ip_proto udp dst_port %d action drop"
	swOnly = "filter add dev eth0 ingress protocol ip pref %d flower skip_hw ip_proto udp dst_port %d action drop"
)

// TestBypass tells for both generations when filters are not asked, with the
// flaws of the first.
func TestBypass(t *testing.T) {
	for _, c := range []struct {
		name           string
		lines          []string
		first, refined bool
	}{
		{"no filters", nil, false, true},
		{"one skip_sw", []string{fmt.Sprintf(hwOnly, 1, 1)}, true, true},
		{"two skip_sw, two priorities", []string{fmt.Sprintf(hwOnly, 1, 1), fmt.Sprintf(hwOnly, 2, 2)}, true, true},
		// The first generation counts priorities on one side and filters on
		// the other.
		{"two skip_sw, one priority", []string{fmt.Sprintf(hwOnly, 1, 1), fmt.Sprintf(hwOnly, 1, 2)}, false, true},
		{"a software filter beside, one priority", []string{fmt.Sprintf(hwOnly, 1, 1), fmt.Sprintf(swOnly, 1, 53)}, true, false},
		{"a software filter beside, two priorities", []string{fmt.Sprintf(hwOnly, 1, 1), fmt.Sprintf(swOnly, 2, 53)}, false, false},
		{"plain filter in hardware", []string{"filter add dev eth0 ingress protocol ip pref 1 flower ip_proto udp action ok"}, false, false},
		{"software filter deleted again", []string{fmt.Sprintf(hwOnly, 1, 1), fmt.Sprintf(swOnly, 2, 2), "filter del dev eth0 ingress pref 2"}, true, true},
		// The refined generation remembers until the priority is gone.
		{"software filter deleted from a mixed priority", []string{
			fmt.Sprintf(hwOnly, 1, 1), fmt.Sprintf(swOnly, 1, 2), "filter del dev eth0 ingress pref 1 protocol ip handle 2 flower",
		}, true, false},
		{"skip_sw became software", []string{
			fmt.Sprintf(hwOnly, 1, 1), "filter replace dev eth0 ingress protocol ip pref 1 handle 1 flower skip_hw ip_proto udp dst_port 1 action drop",
		}, false, false},
	} {
		for _, b := range []Bypass{BypassFirst, BypassRefined, BypassOff} {
			s := newWorld(t, Config{Bypass: b})
			do(t, s, "qdisc add dev eth0 clsact")
			do(t, s, c.lines...)
			want := map[Bypass]bool{BypassFirst: c.first, BypassRefined: c.refined, BypassOff: false}[b]
			blocks, _, _ := s.BypassReport()
			if blocks[0].Bypassed != want {
				t.Errorf("%s, %s: bypassed %t, want %t (%+v)", c.name, b, blocks[0].Bypassed, want, blocks[0])
			}
		}
	}
}

// TestFirstBypassLosesFilters shows the flaw that the refined generation
// repaired: a software filter is silently passed over.
func TestFirstBypassLosesFilters(t *testing.T) {
	for b, want := range map[Bypass]string{BypassFirst: "bypass eth0/in", BypassRefined: "drop", BypassOff: "drop"} {
		s := newWorld(t, Config{Bypass: b})
		do(t, s, "qdisc add dev eth0 clsact", fmt.Sprintf(hwOnly, 1, 1), fmt.Sprintf(swOnly, 1, 53))
		if got := send(t, s, "eth0", frame(t, udpFrame)); got != want {
			t.Errorf("%s: %s, want %s", b, got, want)
		}
	}
}

// TestBypassKeepsVerdicts walks at random through filter operations with the
// bypass off and refined, and compares what packets meet.
func TestBypassKeepsVerdicts(t *testing.T) {
	steps := 100000
	if testing.Short() {
		steps = 3000
	}
	r := rand.New(rand.NewPCG(1, 2))
	a, b := newWorld(t, Config{Bypass: BypassOff}), newWorld(t, Config{Bypass: BypassRefined})
	for _, s := range []*System{a, b} {
		do(t, s, "qdisc add dev eth0 clsact", "qdisc add dev eth1 ingress")
	}
	probes := [][]byte{frame(t, udpFrame), frame(t, strings.Replace(udpFrame, "00350035", "00350050", 1)),
		frame(t, "02000000000102aa000000018100000a080045000020000000004011000a0a0000010a00000200350035000c00000102030405")}
	for n := range steps {
		line := randomOperation(r)
		x, y := a.Line(line, Options{}), b.Line(line, Options{})
		if x.Status != y.Status || x.Stderr != y.Stderr {
			t.Fatalf("step %d: %s: %+v and %+v", n, line, x, y)
		}
		probe := probes[n%len(probes)]
		got := strings.TrimPrefix(send(t, b, "eth0", probe), "bypass")
		want := strings.TrimPrefix(send(t, a, "eth0", probe), "bypass")
		if strings.TrimPrefix(got, "pass") != strings.TrimPrefix(want, "pass") {
			t.Fatalf("step %d: after %s: %s with bypass, %s without", n, line, got, want)
		}
	}
}

func randomOperation(r *rand.Rand) string {
	pick := func(l ...string) string { return l[r.IntN(len(l))] }
	pref := 1 + r.IntN(6)
	switch r.IntN(10) {
	case 0, 1, 2, 3, 4:
		return fmt.Sprintf("filter add dev eth0 ingress %s protocol %s pref %d %s action %s", pick("", "", "chain 1"), pick("ip", "ip", "all", "802.1q"), pref,
			pick("flower skip_sw", "flower skip_sw ip_proto udp", "matchall skip_sw", "flower", "flower skip_hw ip_proto udp dst_port 80", "flower skip_sw ip_proto udp dst_port 53"),
			pick("drop", "ok", "trap", "goto chain 1"))
	case 5:
		return fmt.Sprintf("filter replace dev eth0 ingress protocol ip pref %d handle 1 flower %s ip_proto udp action drop", pref, pick("", "skip_sw", "skip_hw"))
	case 6:
		return fmt.Sprintf("filter del dev eth0 ingress pref %d", pref)
	case 7:
		return "filter del dev eth0 ingress" + pick("", " chain 1")
	case 8:
		return fmt.Sprintf("filter add dev eth1 ingress pref %d matchall action ok", pref)
	}
	return "filter del dev eth1 ingress"
}

// TestUnknownResults names what the model does not compute.
func TestUnknownResults(t *testing.T) {
	fragment := "02000000000102aa0000000108004500002000002000 4011000a0a0000010a00000200350035000c00000102030405"
	for _, c := range []struct{ filter, frame, want string }{
		{"protocol ip matchall action ok", udpFrame, ""},
		{"protocol ip bpf bytecode '1,6 0 0 1'", udpFrame, "bpf"},
		{"protocol ip handle 1 flow hash keys src,dst", udpFrame, "seed"},
		{"protocol ip flower action ct", fragment, "fragments"},
	} {
		s := newWorld(t, Config{})
		do(t, s, "qdisc add dev eth0 clsact", "filter add dev eth0 ingress "+c.filter)
		var p Packet
		if !p.Load(frame(t, c.frame), true) {
			t.Fatal("frame")
		}
		r := s.Receive(s.Device("eth0"), &p)
		if (c.want == "") != (r.Unknown == "") || !strings.Contains(r.Unknown, c.want) {
			t.Errorf("%s: %q, want %q", c.filter, r.Unknown, c.want)
		}
	}
}
