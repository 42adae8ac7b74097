package host

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", `host: h:1:1: empty, where a JSON description is expected`},
		{"no JSON", "interfaces:\n  lan0", `host: h:1:1: not JSON: invalid character 'i' looking for beginning of value`},
		{"cut", "{\"interfaces\": [\n  {\"name\":", `host: h:2:11: not JSON: the text ends too early`},
		{"comma", "{\"interfaces\": [\n  {\"name\": \"a\",}]}", `host: h:2:16: not JSON: invalid character '}' looking for beginning of object key string`},
		{"two values", "{}\n{}", `host: h:2:1: unexpected text after the end of the description`},
		{"list", "[]", `host: h:1:1: a host must be an object, not a list`},
		{"unknown field", `{"interface": []}`, `host: h:1:2: interface: unknown field "interface" of a host; did you mean "interfaces"?`},
		{"unknown field inside", "{\"interfaces\": [\n {\"name\": \"a\",\n  \"adresses\": []}]}",
			`host: h:3:3: interfaces[0].adresses: unknown field "adresses" of an interface; did you mean "addresses"?`},
		{"field twice", `{"users": {}, "users": {}}`, `host: h:1:15: "users" is given twice`},
		{"name missing", `{"interfaces": [{}]}`, `host: h:1:17: interfaces[0].name: an interface needs a name`},
		{"name of a wrong kind", `{"interfaces": [{"name": 3}]}`, `host: h:1:26: interfaces[0].name: name must be a string, not a number`},
		{"name too long", `{"interfaces": [{"name": "sixteen-letters-x"}]}`,
			`host: h:1:26: interfaces[0].name: interface name "sixteen-letters-x" is longer than 15 bytes`},
		{"name with a slash", `{"interfaces": [{"name": "a/b"}]}`, `host: h:1:26: interfaces[0].name: "a/b" cannot be an interface name`},
		{"name twice", `{"interfaces": [{"name": "a"}, {"name": "a"}]}`, `host: h:1:41: interfaces[1].name: interface "a" is listed twice`},
		{"index twice", `{"interfaces": [{"name": "a", "index": 5}, {"name": "b", "index": 5}]}`,
			`host: h:1:67: interfaces[1].index: index 5 belongs to "a" already`},
		{"index 1", `{"interfaces": [{"name": "a", "index": 1}]}`, `host: h:1:40: interfaces[0].index: index 1 always belongs to lo`},
		{"index negative", `{"interfaces": [{"name": "a", "index": -1}]}`,
			`host: h:1:40: interfaces[0].index: index -1 is not a whole number from 0 to 2147483647`},
		{"type", `{"interfaces": [{"name": "a", "type": "ethr"}]}`,
			`host: h:1:39: interfaces[0].type: unknown interface type "ethr"; did you mean "ether"?`},
		{"group", `{"interfaces": [{"name": "a", "group": "insid"}], "interface_groups": {"inside": 3}}`,
			`host: h:1:40: interfaces[0].group: unknown interface group "insid"; did you mean "inside"?`},
		{"mac", `{"interfaces": [{"name": "a", "mac": "02:00"}]}`, `host: h:1:38: interfaces[0].mac: mac: "02:00" is not an Ethernet address`},
		{"mac with letters", `{"interfaces": [{"name": "a", "mac": "02:00:00:00:00:0g"}]}`,
			`host: h:1:38: interfaces[0].mac: mac: "02:00:00:00:00:0g" is not an Ethernet address`},
		{"up", `{"interfaces": [{"name": "a", "up": 1}]}`, `host: h:1:37: interfaces[0].up: up must be true or false`},
		{"address", `{"interfaces": [{"name": "a", "addresses": ["10.0.0.1/24", "10.0.0.300"]}]}`,
			`host: h:1:60: interfaces[0].addresses[1]: address "10.0.0.300" is not an address with a prefix length`},
		{"address missing", `{"interfaces": [{"name": "a", "addresses": [{"scope": "host"}]}]}`,
			`host: h:1:45: interfaces[0].addresses[0]: the field "address" is missing`},
		{"master", `{"interfaces": [{"name": "br0"}, {"name": "a", "master": "br1"}]}`,
			`host: h:1:58: interfaces[1].master: no interface "br1"; did you mean "br0"?`},
		{"own master", `{"interfaces": [{"name": "a", "master": "a"}]}`,
			`host: h:1:41: interfaces[0].master: an interface cannot be its own master`},
		{"lower", `{"interfaces": [{"name": "a", "lower": "b"}]}`, `host: h:1:40: interfaces[0].lower: no interface "b"`},
		{"user", `{"users": {"web": "33"}}`, `host: h:1:19: users.web: user "web" must be a number, not a string`},
		{"local", `{"local": ["10.0.0.0/8"]}`, `host: h:1:12: local[0]: local address "10.0.0.0/8" is not an IP address`},
		{"route without destination", `{"routes": [{"dev": "lo"}]}`, `host: h:1:13: routes[0]: the field "dst" is missing`},
		{"route without device", `{"routes": [{"dst": "default"}]}`, `host: h:1:13: routes[0].dev: a unicast route needs a device`},
		{"route by an unknown device", `{"interfaces": [{"name": "lan0"}], "routes": [{"dst": "default", "dev": "lan"}]}`,
			`host: h:1:73: routes[0].dev: no interface "lan"; did you mean "lan0"?`},
		{"route type", `{"routes": [{"dst": "default", "type": "blackhol"}]}`,
			`host: h:1:40: routes[0].type: unknown route type "blackhol"; did you mean "blackhole"?`},
		{"next hop", `{"routes": [{"dst": "default", "nexthops": [{"dev": "x"}]}]}`,
			`host: h:1:53: routes[0].nexthops[0].dev: no interface "x"`},
		{"neighbour", `{"neighbours": [{"dst": "10.0.0.1", "dev": "x"}]}`, `host: h:1:44: neighbours[0].dev: no interface "x"`},
		{"fdb", `{"fdb": [{"mac": "02:00:00:00:00:01", "dev": "x"}]}`, `host: h:1:46: fdb[0].dev: no interface "x"`},
		{"sysctl", `{"sysctl": {"net/ipv4/ip_forward": true}}`,
			`host: h:1:36: sysctl.net/ipv4/ip_forward: a setting must be a number or a string`},
		{"deep", strings.Repeat("[", 100), `host: h:1:66: nested more than 64 levels deep`},
	} {
		_, err := Parse("h", []byte(test.text))
		var typed *Error
		if !errors.As(err, &typed) {
			t.Errorf("%s: %v is no *Error", test.name, err)
			continue
		}
		if err.Error() != test.want {
			t.Errorf("%s:\ngot  %v\nwant %s", test.name, err, test.want)
		}
	}
}

func TestLoadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "host.json")
	if err := os.WriteFile(name, []byte(router), 0o600); err != nil {
		t.Fatal(err)
	}
	host, err := LoadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := host.ByName("lan0"); !ok {
		t.Error("lan0 is missing")
	}
	if err := os.WriteFile(name, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	var typed *Error
	if _, err := LoadFile(name); !errors.As(err, &typed) || typed.Source != name {
		t.Errorf("a damaged file: %v", err)
	}
	if _, err := LoadFile(name + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestLoad(t *testing.T) {
	if host, err := Load(strings.NewReader(router)); err != nil || len(host.Interfaces()) != 7 {
		t.Errorf("%v, %v", host, err)
	}
	if _, err := Load(iotest.ErrReader(os.ErrClosed)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a broken reader: %v", err)
	}
}

// What Write writes describes the same host.
func TestWrite(t *testing.T) {
	var first, second bytes.Buffer
	host := parse(t, router)
	if err := host.Write(&first); err != nil {
		t.Fatal(err)
	}
	again := parse(t, first.String())
	if err := again.Write(&second); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() {
		t.Errorf("written again:\n%s\nfirst:\n%s", second.String(), first.String())
	}
	sameRoutes(t, host, again)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(router))
	f.Add([]byte(`{"interfaces": [{"name": "a", "index": 2, "addresses": ["::1"]}], "routes": [{"dst": "default", "dev": "a"}]}`))
	f.Add([]byte(`[{"ifindex":2,"ifname":"a","flags":["UP"],"link_type":"ether","addr_info":[{"local":"10.0.0.1","prefixlen":24}]}]`))
	f.Add([]byte(`{"route":[{"dst":"default","dev":"lo","flags":[]}],"route6":[{"dst":"default","dev":"lo"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range []func() (*Host, error){
			func() (*Host, error) { return Parse("h", text) },
			func() (*Host, error) { return FromIPJSON(Input{"h", text}) },
		} {
			host, err := read()
			var typed *Error
			if err != nil {
				if !errors.As(err, &typed) {
					t.Fatalf("an untyped error: %v", err)
				}
				continue
			}
			var written bytes.Buffer
			if err := host.Write(&written); err != nil {
				t.Fatal(err)
			}
			if _, err := Parse("h", written.Bytes()); err != nil {
				t.Fatalf("what was written is refused: %v\n%s", err, written.Bytes())
			}
		}
	})
}
