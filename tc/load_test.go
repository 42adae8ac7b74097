package tc

import (
	"fmt"
	"testing"
)

// TestLoad compares lines that were read in advance with the same batch.
func TestLoad(t *testing.T) {
	lines := append([]string{"qdisc add dev eth0 clsact"}, manyFilters(2000)...)
	lines = append(lines, "# a comment", "filter add dev eth0 ingress protocol ip pref 1 flower dst_ip 10.0.0.1 action drop",
		"filter add dev eth0 ingress protocol ip pref 1 flower dst_port 5", "filter add dev eth7 ingress protocol ip flower action mirred egress mirror dev eth8",
		"chain add dev eth0 ingress chain 2 protocol ip flower ip_proto tcp", "filter add dev eth0 ingress chain 2 protocol ip flower ip_proto tcp action goto chain 5",
		"filter add dev eth0 ingress chain 2 protocol ip flower ct_state +new", "filter del dev eth0 ingress protocol ip pref 1 handle 5 flower",
		"filter add dev eth0 ingress protocol ip pref 1 flower dst_ip 10.9.9.9 ip_proto udp skip_sw action ok")
	for n, o := range []Options{{}, {Force: true}, {}, {Force: true}, {Force: true}} {
		workers := []int{1, 1, 2, 3, 16}[n]
		text := ""
		for _, l := range lines {
			text += l + "\n"
		}
		a, b := newWorld(t, Config{AssumeDevices: true}), newWorld(t, Config{AssumeDevices: true})
		x, y := a.Load("lines", lines, o, workers), b.Batch("lines", stringReader(text), o)
		if x != y {
			t.Fatalf("%+v\n%+v", x, y)
		}
		for _, show := range []string{"filter show dev eth0 ingress", "chain show dev eth0 ingress", "actions ls action gact"} {
			if p, q := a.Line(show, Options{}).Stdout, b.Line(show, Options{}).Stdout; p != q {
				t.Errorf("%s differs: %s", show, firstDifference(p, q))
			}
		}
		if fmt.Sprint(a.Assumed) != fmt.Sprint(b.Assumed) {
			t.Errorf("devices %v and %v", a.Assumed, b.Assumed)
		}
	}
}
