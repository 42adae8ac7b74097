package host

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

// linear is the plain definition of a look-up: of all routes that contain the
// address the longest, then the lowest metric, then the first.
func linear(routes []Route, dst netip.Addr, index int) (best Route, found bool) {
	for _, r := range routes {
		if !r.Dst.Contains(dst) || index != 0 && r.Interface != index {
			continue
		}
		if !found || r.Dst.Bits() > best.Dst.Bits() || r.Dst.Bits() == best.Dst.Bits() && r.Metric < best.Metric {
			best, found = r, true
		}
	}
	return best, found
}

// address draws one of few addresses, so that prefixes nest and coincide.
func address(t *rapid.T, is4 bool, label string) netip.Addr {
	if is4 {
		pick := rapid.SampledFrom([]byte{0, 1, 128, 255})
		return netip.AddrFrom4([4]byte{10, pick.Draw(t, label), pick.Draw(t, label), pick.Draw(t, label)})
	}
	wide := [16]byte{0xfd}
	for _, at := range []int{1, 7, 8, 15} {
		wide[at] = rapid.SampledFrom([]byte{0, 1, 255}).Draw(t, label)
	}
	return netip.AddrFrom16(wide)
}

func TestRouteAgainstLinear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var routes []Route
		for n := range rapid.IntRange(0, 40).Draw(t, "routes") {
			is4 := rapid.Bool().Draw(t, "is4")
			a := address(t, is4, "dst")
			dev := rapid.IntRange(2, 4).Draw(t, "dev")
			routes = append(routes, Route{
				Dst:       netip.PrefixFrom(a, rapid.IntRange(0, a.BitLen()).Draw(t, "bits")).Masked(),
				Dev:       []string{"a", "b", "c"}[dev-2],
				Interface: dev, Metric: uint32(rapid.IntRange(0, 2).Draw(t, "metric")),
				Table: 7, Type: RouteUnicast, Protocol: string(rune('A' + n)),
			})
		}
		host, err := New(Config{Interfaces: []Interface{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Routes: routes})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			dst := address(t, rapid.Bool().Draw(t, "is4"), "address")
			index := rapid.SampledFrom([]int{0, 2, 3, 4, 9}).Draw(t, "index")
			want, found := linear(routes, dst, index)
			got := host.lookup(7, dst, index)
			if found != (got != nil) || found && got.Protocol != want.Protocol {
				t.Fatalf("%v by %d: %+v, want %+v, %v", dst, index, got, want, found)
			}
		}
	})
}
