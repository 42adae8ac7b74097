package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"verdict/internal/testdata"
)

// routeLines prints the routes of the three standard tables, sorted.
func routeLines(h *Host) []string {
	var lines []string
	for _, table := range []uint32{TableLocal, TableMain, TableDefault} {
		for _, r := range h.Routes(table) {
			lines = append(lines, fmt.Sprintf("table %d %v %v dev %s via %v src %v metric %d scope %v hops %v",
				table, r.Type, r.Dst, r.Dev, r.Gateway, r.PrefSrc, r.Metric, r.Scope, r.Nexthops))
		}
	}
	slices.Sort(lines)
	return lines
}

func sameRoutes(t *testing.T, a, b *Host) {
	t.Helper()
	for _, line := range difference(routeLines(a), routeLines(b)) {
		t.Errorf("only before: %s", line)
	}
	for _, line := range difference(routeLines(b), routeLines(a)) {
		t.Errorf("only after: %s", line)
	}
}

func difference(a, b []string) []string {
	var only []string
	for _, line := range a {
		if !slices.Contains(b, line) {
			only = append(only, line)
		}
	}
	return only
}

var recordedHosts = []string{"oracle/host-router.json", "oracle/host-bridge.json"}

// The hosts on which the oracle recorded are read, survive a host file, and
// the routes which we make for their addresses are those of their kernel.
func TestRecordedHosts(t *testing.T) {
	for _, name := range recordedHosts {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(testdata.Path(t, name))
			if err != nil {
				t.Fatal(err)
			}
			host, err := FromIPJSON(Input{name, text})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"lo", "lan0", "wan0"} {
				if _, ok := host.ByName(want); !ok {
					t.Errorf("no interface %s", want)
				}
			}
			if lan, _ := host.ByName("lan0"); lan.Group != 10 || lan.MAC.String() != "02:00:00:00:01:01" || lan.Index != 2 {
				t.Errorf("lan0: %+v", lan)
			}
			if !host.IsLocal(netip.MustParseAddr("10.0.0.1")) || !host.IsBroadcast(netip.MustParseAddr("10.0.0.255")) {
				t.Error("10.0.0.1 is not local, or 10.0.0.255 no broadcast address")
			}
			if len(host.Neighbours()) == 0 {
				t.Error("no neighbours")
			}
			var file bytes.Buffer
			if err := host.Write(&file); err != nil {
				t.Fatal(err)
			}
			again, err := Parse("written", file.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			sameRoutes(t, host, again)
			checkKernelRoutes(t, host, text)
		})
	}
}

// checkKernelRoutes compares the recorded routes of protocol kernel with
// those made from addresses alone.
func checkKernelRoutes(t *testing.T, host *Host, text []byte) {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		t.Fatal(err)
	}
	for name := range parts {
		if name != "addr" && name != "sysctl" {
			delete(parts, name)
		}
	}
	addresses, err := json.Marshal(parts)
	if err != nil {
		t.Fatal(err)
	}
	made, err := FromIPJSON(Input{"addresses", addresses})
	if err != nil {
		t.Fatal(err)
	}
	var recorded []string
	isKernels := func(r Route) bool { return r.Protocol == "kernel" }
	for _, table := range []uint32{TableLocal, TableMain} {
		for _, r := range host.Routes(table) {
			if isKernels(r) {
				recorded = append(recorded, fmt.Sprintf("table %d %v %v dev %s src %v metric %d", table, r.Type, r.Dst, r.Dev, r.PrefSrc, r.Metric))
			}
		}
	}
	var ours []string
	for _, table := range []uint32{TableLocal, TableMain} {
		for _, r := range made.Routes(table) {
			ours = append(ours, fmt.Sprintf("table %d %v %v dev %s src %v metric %d", table, r.Type, r.Dst, r.Dev, r.PrefSrc, r.Metric))
		}
	}
	if len(recorded) == 0 {
		t.Error("no recorded routes of the kernel")
	}
	for _, line := range difference(recorded, ours) {
		t.Errorf("the kernel has: %s", line)
	}
	for _, line := range difference(ours, recorded) {
		t.Errorf("we alone have: %s", line)
	}
}

func TestFromIPJSON(t *testing.T) {
	host, err := FromIPJSON(
		Input{"route", []byte(`[{"dst":"default","via":{"family":"inet6","host":"fe80::1"},"dev":"eth0","flags":["onlink"]},
			{"dst":"10.0.0.0/24","dev":"eth0","protocol":"kernel","scope":"link","prefsrc":"10.0.0.2","flags":[]},
			{"dst":"10.9.0.0/16","dev":"eth0","flags":["dead","linkdown"]},
			{"dst":"10.8.0.0/16","nexthops":[{"gateway":"10.0.0.3","dev":"eth0","weight":1,"flags":[]},{"gateway":"10.0.0.4","dev":"eth0","weight":1,"flags":["dead"]}]}]`)},
		Input{"addr", []byte(`[{},{"ifindex":4,"link":null,"ifname":"eth0","flags":["BROADCAST","UP"],"mtu":9000,"group":"default","link_type":"ether",
			"address":"02:00:00:00:00:02","addr_info":[{"family":"inet","local":"10.0.0.2","prefixlen":24,"broadcast":"10.0.0.255","scope":"global","secondary":false},
			{"family":"inet","local":"10.1.0.2","prefixlen":24,"scope":"global"}]},
			{"ifindex":5,"ifname":"sit0","flags":["NOARP"],"link_type":"sit","address":"0.0.0.0","addr_info":[]},
			{"ifindex":6,"ifname":"odd","flags":["UP"],"link_type":"[827]","address":"02:00:00:00:00:03:04:05","addr_info":[{"family":"inet","local":"10.2.0.1","address":"10.2.0.2","prefixlen":32}]}]`)},
		Input{"link", []byte(`[{"ifindex":4,"ifname":"eth0","flags":["UP"],"link_type":"ether","group":"7","address":"02:00:00:00:00:02","linkinfo":{"info_kind":"vlan","info_data":{"id":12}},"link":"odd"}]`)},
		Input{"vrf", []byte(`[{"ifindex":7,"ifname":"red","flags":["UP"],"link_type":"ether","linkinfo":{"info_kind":"vrf","info_data":{"table":10}}},
			{"ifindex":8,"ifname":"in-red","flags":["UP"],"link_type":"ether","master":"red","addr_info":[{"local":"10.7.0.1","prefixlen":24}]}]`)},
		Input{"neigh", []byte(`[{"dst":"10.0.0.9","dev":"eth0","state":["FAILED"]},{"dst":"10.0.0.8","dev":"eth0","lladdr":"02:00:00:00:00:08","state":["STALE"]}]`)},
		Input{"rule", []byte(`[{"priority":0,"src":"all","table":"local"},{"priority":32766,"src":"all","table":"main"},{"priority":32767,"src":"all","table":"default"}]`)},
		Input{"fdb", []byte(`[{"mac":"02:00:00:00:00:08","ifname":"eth0","flags":[],"master":"odd","state":"static"}]`)},
		Input{"empty", []byte(`[]`)},
	)
	if err != nil {
		t.Fatal(err)
	}
	eth, _ := host.ByName("eth0")
	if eth.Index != 4 || eth.Group != 7 || eth.VLAN != 12 || eth.Lower != "odd" || eth.Kind != "vlan" || len(eth.Addresses) != 2 || eth.Down {
		t.Errorf("eth0: %+v", eth)
	}
	if sit, _ := host.ByName("sit0"); sit.Type != 776 || sit.HasMAC || !sit.Down {
		t.Errorf("sit0: %+v", sit)
	}
	if odd, _ := host.ByName("odd"); odd.Type != 827 || odd.HasMAC {
		t.Errorf("odd: %+v", odd)
	}
	for dst, want := range map[string]string{
		"8.8.8.8":  "unicast eth0 fe80::1",
		"10.9.0.1": "unicast eth0 fe80::1",
		"10.8.0.1": "unicast eth0 10.0.0.3",
		"10.0.0.7": "unicast eth0 invalid IP",
		"10.1.0.7": "unicast eth0 fe80::1", // the given main table has no such network
		"10.2.0.2": "unicast eth0 fe80::1",
		"10.1.0.2": "local eth0 invalid IP",
	} {
		route, _ := host.Route(netip.MustParseAddr(dst))
		if got := fmt.Sprintf("%v %s %v", route.Type, route.Dev, route.Gateway); got != want {
			t.Errorf("%s: %s, want %s", dst, got, want)
		}
	}
	if route, ok := host.RouteIn(10, netip.MustParseAddr("10.7.0.1")); !ok || route.Type != RouteLocal {
		t.Errorf("in the VRF: %v, %v", route, ok)
	}
	if mac, ok := host.Neighbour(4, netip.MustParseAddr("10.0.0.8")); !ok || mac[5] != 8 {
		t.Errorf("neighbour: %v, %v", mac, ok)
	}
	if len(host.FDB()) != 1 || host.FDB()[0].Bridge != "odd" {
		t.Errorf("fdb: %+v", host.FDB())
	}
}

func TestFromIPJSONErrors(t *testing.T) {
	for text, want := range map[string]string{
		`3`:          `host: i:1:1: neither a list nor an object of lists, as ip -j prints them`,
		`[{"a":1}]`:  `host: i:1:1: not an output of ip -j addr, link, route, neigh, rule or bridge -j fdb`,
		`{"rout":1}`: `host: i:1:9: rout: unknown part "rout"; did you mean "route"?`,
		`[{"priority":100,"src":"10.0.0.0","srclen":8,"table":"main"}]`:     `host: i:1:2: [0]: policy routing rules are not supported, apart from the three standard ones`,
		`[{"dst":"default","dev":"lo","tos":"0x10"}]`:                       `host: i:1:36: [0].tos: routes by type of service are not supported`,
		`[{"dst":"default","dev":"lo","table":"isp1"}]`:                     `host: i:1:38: [0].table: unknown routing table "isp1" (a name of that machine's own; print numbers with ip -N)`,
		`[{"ifindex":2,"ifname":"a","link_type":"ether","group":"inside"}]`: `host: i:1:56: [0].group: unknown interface group "inside" (a name of that machine's own; print numbers with ip -N)`,
		`[{"dst":"default","dev":"eth7","flags":[]}]`:                       `host: routes[0].dev: no interface "eth7"`,
		`[{"ifindex":2,"ifname":"a","addr_info":[{"prefixlen":8}]}]`:        `host: i:1:41: [0].addr_info[0]: the field "local" is missing`,
	} {
		_, err := FromIPJSON(Input{"i", []byte(text)})
		var typed *Error
		if !errors.As(err, &typed) || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
	if _, err := FromIPJSON(); err == nil || !strings.Contains(err.Error(), "no description") {
		t.Errorf("without input: %v", err)
	}
}
