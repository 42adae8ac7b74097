package host

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

// router is the host of most tests here.
const router = `{
  "interfaces": [
    {"name": "lan0", "index": 7, "mac": "02:00:00:00:01:01", "group": "inside", "addresses": ["192.168.1.1/24", "fd00:1::1/64", "fe80::1/64"]},
    {"name": "wan0", "group": 20, "addresses": [{"address": "203.0.113.7/24", "broadcast": "203.0.113.255"}]},
    {"name": "tun0", "index": 3, "type": "none", "kind": "tun", "addresses": [{"address": "10.8.0.1", "peer": "10.8.0.2"}]},
    {"name": "spare", "up": false, "addresses": ["172.16.0.1/16"]},
    {"name": "red", "kind": "vrf", "table": 100},
    {"name": "eth9", "master": "red", "addresses": ["10.9.0.1/24"]}
  ],
  "interface_groups": {"inside": 10},
  "users": {"web": 33},
  "groups": {"web": 34},
  "local": ["198.51.100.1"],
  "routes": [
    {"dst": "default", "gateway": "203.0.113.1", "dev": "wan0", "metric": 100},
    {"dst": "default", "gateway": "203.0.113.2", "dev": "wan0", "metric": 50},
    {"dst": "0.0.0.0/0", "gateway": "10.8.0.2", "dev": "tun0", "metric": 200},
    {"dst": "10.0.0.0/8", "type": "blackhole"},
    {"dst": "10.1.0.0/16", "nexthops": [{"gateway": "192.168.1.2", "dev": "lan0"}, {"gateway": "203.0.113.2", "dev": "wan0", "weight": 2}]},
    {"dst": "10.2.0.0/16", "type": "throw"},
    {"dst": "10.2.0.0/16", "table": "default", "dev": "lan0"},
    {"dst": "default", "ipv6": true, "dev": "lan0"},
    {"dst": "2001:db8:bad::/48", "type": "unreachable"}
  ],
  "neighbours": [{"dst": "192.168.1.20", "dev": "lan0", "mac": "02:00:00:00:01:14", "state": "permanent"}, {"dst": "192.168.1.21", "dev": "lan0", "state": "failed"}],
  "sysctl": {"net/ipv4/ip_forward": 1}
}`

func parse(t testing.TB, text string) *Host {
	t.Helper()
	host, err := Parse("host.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return host
}

func TestInterfaces(t *testing.T) {
	host := parse(t, router)
	var got []string
	for _, i := range host.Interfaces() {
		got = append(got, fmt.Sprintf("%d %s type %d group %d mtu %d master %d", i.Index, i.Name, i.Type, i.Group, i.MTU, i.MasterIndex))
		if byName, ok := host.ByName(i.Name); !ok || byName != i {
			t.Errorf("ByName(%q) = %v", i.Name, byName)
		}
		if byIndex, ok := host.ByIndex(i.Index); !ok || byIndex != i {
			t.Errorf("ByIndex(%d) = %v", i.Index, byIndex)
		}
	}
	want := `1 lo type 772 group 0 mtu 65536 master 0
2 wan0 type 1 group 20 mtu 1500 master 0
3 tun0 type 65534 group 0 mtu 1500 master 0
4 spare type 1 group 0 mtu 1500 master 0
5 red type 1 group 0 mtu 1500 master 0
6 eth9 type 1 group 0 mtu 1500 master 5
7 lan0 type 1 group 10 mtu 1500 master 0`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if _, ok := host.ByName("eth0"); ok {
		t.Error("eth0 exists")
	}
	if _, ok := host.ByIndex(0); ok {
		t.Error("index 0 exists")
	}
}

func TestNames(t *testing.T) {
	host := parse(t, router)
	for _, test := range []struct {
		what   string
		lookup func(string) (uint32, bool)
		name   string
		want   uint32
		ok     bool
	}{
		{"interface group", host.InterfaceGroup, "inside", 10, true},
		{"interface group", host.InterfaceGroup, "default", 0, true},
		{"interface group", host.InterfaceGroup, "outside", 0, false},
		{"user", host.UserID, "web", 33, true},
		{"user", host.UserID, "root", 0, true},
		{"user", host.UserID, "nobody", 0, false},
		{"group", host.GroupID, "web", 34, true},
		{"group", host.GroupID, "root", 0, true},
		{"group", host.GroupID, "nogroup", 0, false},
	} {
		if got, ok := test.lookup(test.name); got != test.want || ok != test.ok {
			t.Errorf("%s %q: %d, %v; want %d, %v", test.what, test.name, got, ok, test.want, test.ok)
		}
	}
	if value, ok := host.Sysctl("net/ipv4/ip_forward"); value != "1" || !ok {
		t.Errorf("sysctl: %q, %v", value, ok)
	}
	if mac, ok := host.Neighbour(7, netip.MustParseAddr("192.168.1.20")); mac.String() != "02:00:00:00:01:14" || !ok {
		t.Errorf("neighbour: %v, %v", mac, ok)
	}
	if _, ok := host.Neighbour(7, netip.MustParseAddr("192.168.1.21")); ok {
		t.Error("a failed neighbour has an address")
	}
}

func TestAddressKinds(t *testing.T) {
	host := parse(t, router)
	for address, want := range map[string]string{
		"192.168.1.1":        "local",
		"::ffff:192.168.1.1": "local",
		"127.4.5.6":          "local",
		"198.51.100.1":       "local",
		"172.16.0.1":         "local",
		"10.8.0.1":           "local",
		"::1":                "local",
		"fd00:1::1":          "local",
		"fe80::1%lan0":       "local",
		"192.168.1.255":      "broadcast",
		"203.0.113.255":      "broadcast",
		"127.255.255.255":    "broadcast",
		"255.255.255.255":    "broadcast",
		"172.16.255.255":     "other",
		"192.168.1.2":        "other",
		"10.8.0.2":           "other",
		"10.9.0.1":           "other",
		"fd00:1::2":          "other",
		"224.0.0.1":          "other",
	} {
		a := netip.MustParseAddr(address)
		got := "other"
		switch {
		case host.IsLocal(a):
			got = "local"
		case host.IsBroadcast(a):
			got = "broadcast"
		}
		if got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
	if host.IsLocal(netip.Addr{}) || host.IsBroadcast(netip.Addr{}) {
		t.Error("the zero address is somebody's")
	}
}

func TestAddresses(t *testing.T) {
	want := "[127.0.0.1 ::1 203.0.113.7 10.8.0.1 172.16.0.1 10.9.0.1 192.168.1.1 fd00:1::1 fe80::1 198.51.100.1]"
	if got := fmt.Sprint(parse(t, router).Addresses()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRoute(t *testing.T) {
	host := parse(t, router)
	for _, test := range []struct {
		dst   string
		index int
		want  string
	}{
		{"192.168.1.1", 0, "local lan0"},
		{"192.168.1.9", 0, "unicast lan0"},
		{"192.168.1.255", 0, "broadcast lan0"},
		{"8.8.8.8", 0, "unicast wan0 via 203.0.113.2"},
		{"8.8.8.8", 3, "unicast tun0 via 10.8.0.2"},
		{"8.8.8.8", 7, "none"},
		{"10.200.0.1", 0, "blackhole"},
		{"10.1.0.1", 0, "unicast lan0 via 192.168.1.2, 2 ways"},
		{"10.1.0.1", 2, "unicast lan0 via 192.168.1.2, 2 ways"},
		{"10.2.0.1", 0, "unicast lan0"},
		{"10.8.0.2", 0, "unicast tun0"},
		{"172.16.0.9", 0, "unicast wan0 via 203.0.113.2"},
		{"fd00:1::9", 0, "unicast lan0"},
		{"2001:db8:bad::1", 0, "unreachable"},
		{"2001:db8::1", 0, "unicast lan0"},
		{"ff02::1", 0, "multicast lan0"},
	} {
		route, ok := host.RouteVia(netip.MustParseAddr(test.dst), test.index)
		got := "none"
		if ok {
			got = strings.TrimSpace(route.Type.String() + " " + route.Dev)
			if route.Gateway.IsValid() {
				got += " via " + route.Gateway.String()
			}
			if n := len(route.Nexthops); n > 0 {
				got += fmt.Sprintf(", %d ways", n)
			}
		}
		if got != test.want {
			t.Errorf("%s by %d: %s, want %s", test.dst, test.index, got, test.want)
		}
	}
	if route, ok := host.RouteIn(100, netip.MustParseAddr("10.9.0.7")); !ok || route.Dev != "eth9" {
		t.Errorf("in the VRF's table: %v, %v", route, ok)
	}
	if _, ok := host.RouteIn(7, netip.MustParseAddr("10.9.0.7")); ok {
		t.Error("a table that does not exist has a route")
	}
}

func TestAddrType(t *testing.T) {
	host := parse(t, router)
	for _, test := range []struct {
		address string
		index   int
		want    RouteType
	}{
		{"0.1.2.3", 0, RouteUnicast},
		{"255.255.255.255", 0, RouteBroadcast},
		{"192.168.1.255", 0, RouteBroadcast},
		{"239.1.1.1", 0, RouteMulticast},
		{"192.168.1.1", 0, RouteLocal},
		{"192.168.1.1", 7, RouteLocal},
		{"192.168.1.1", 2, RouteUnicast},
		{"10.200.0.1", 0, RouteUnicast}, // IPv4 looks into table local alone
		{"10.9.0.1", 0, RouteUnicast},
		{"10.9.0.1", 6, RouteLocal},
		{"fd00:1::1", 0, RouteLocal},
		{"fd00:1::1", 7, RouteLocal},
		{"fd00:1::1", 2, RouteUnicast},
		{"fd00:1::2", 0, RouteUnicast},
		{"2001:db8:bad::1", 0, RouteUnreachable},
		{"ff02::1", 0, RouteMulticast},
		{"fe80::1", 7, RouteLocal},
	} {
		if got := host.AddrType(netip.MustParseAddr(test.address), test.index); got != test.want {
			t.Errorf("%s on %d: %v, want %v", test.address, test.index, got, test.want)
		}
	}
}

func TestAssume(t *testing.T) {
	host := parse(t, router)
	lan, err := host.Assume("lan0")
	if err != nil || lan.Index != 7 || len(host.Assumptions()) != 0 {
		t.Errorf("lan0: %v, %v, %v", lan, err, host.Assumptions())
	}
	for n, name := range []string{"eth0", "eth1", "eth0"} {
		i, err := host.Assume(name)
		if want := []int{8, 9, 8}[n]; err != nil || i.Index != want || i.Type != 1 {
			t.Errorf("%s: %+v, %v; want index %d", name, i, err, want)
		}
	}
	want := `[interface "eth0" is assumed to exist with index 8 interface "eth1" is assumed to exist with index 9]`
	if got := fmt.Sprint(host.Assumptions()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := host.Assume("much too long a name"); err == nil {
		t.Error("a name that cannot exist was assumed")
	}
	bare, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if lo, err := bare.Assume("lo"); err != nil || lo.Index != 1 || lo.Type != 772 || len(bare.Assumptions()) != 0 {
		t.Errorf("lo: %+v, %v", lo, err)
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	host := parse(t, router)
	local, remote, six := netip.MustParseAddr("192.168.1.1"), netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("fd00:1::1")
	found := 0
	allocs := testing.AllocsPerRun(100, func() {
		if _, ok := host.ByName("lan0"); ok {
			found++
		}
		if _, ok := host.ByIndex(7); ok {
			found++
		}
		if host.IsLocal(local) && !host.IsLocal(remote) && host.IsLocal(six) && !host.IsBroadcast(remote) {
			found++
		}
		if _, ok := host.Route(remote); ok {
			found++
		}
		if host.AddrType(six, 7) == RouteLocal {
			found++
		}
	})
	if allocs != 0 || found%5 != 0 {
		t.Errorf("%v allocations, %d found", allocs, found)
	}
}

func BenchmarkLookups(b *testing.B) {
	host := parse(b, router)
	local, remote := netip.MustParseAddr("192.168.1.1"), netip.MustParseAddr("8.8.8.8")
	b.Run("ByName", func(b *testing.B) {
		for b.Loop() {
			host.ByName("lan0")
		}
	})
	b.Run("IsLocal", func(b *testing.B) {
		for b.Loop() {
			host.IsLocal(local)
		}
	})
	b.Run("Route", func(b *testing.B) {
		for b.Loop() {
			host.Route(remote)
		}
	})
}
