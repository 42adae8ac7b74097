package engine

import (
	"net/netip"
	"testing"

	"verdict/host"
)

// TestSourceAddress6 compares the choice with RFC 6724's own examples (§10.1)
// and with what interfaces add.
func TestSourceAddress6(t *testing.T) {
	tests := []struct {
		destination string
		out, other  []string // addresses of the output device and of another one
		want        string
	}{
		{"2001:db8:1::1", []string{"2001:db8:3::1/64", "fe80::1/64"}, nil, "2001:db8:3::1"},
		{"ff05::1", []string{"2001:db8:3::1/64", "fe80::1/64"}, nil, "2001:db8:3::1"},
		{"2001:db8:1::1", []string{"2001:db8:1::1/64", "2001:db8:2::1/64"}, nil, "2001:db8:1::1"},
		{"fe80::1", []string{"fe80::2/64", "2001:db8:1::1/64"}, nil, "fe80::2"},
		{"2001:db8:1::1", []string{"2001:db8:1::2/64", "2001:db8:3::2/64"}, nil, "2001:db8:1::2"},
		{"2001:db8:1::1", []string{"2001:db8:3::2/64", "2001:db8:1::2/64"}, nil, "2001:db8:1::2"},
		{"2002:c633:6401::1", []string{"2001:db8:1::5/64", "2002:c633:6401::d5e3/64"}, nil, "2002:c633:6401::d5e3"},
		{"fd00:5::1", []string{"2001:db8:1::5/64", "fd00:1::5/64"}, nil, "fd00:1::5"},
		{"2001:db8:1::1", []string{"fe80::1/64"}, []string{"2001:db8:7::7/64"}, "2001:db8:7::7"},
		{"2001:db8:1::1", []string{"fd00::1/64"}, []string{"2001:db8:1::7/64"}, "fd00::1"},
		{"fe80::9", []string{"fd00::1/64"}, []string{"fe80::7/64"}, "fd00::1"},
	}
	for _, tt := range tests {
		e, device := twoInterfaces(t, tt.out, tt.other)
		got, ok := e.sourceAddress6(device.meta, netip.MustParseAddr(tt.destination))
		if !ok || got != netip.MustParseAddr(tt.want) {
			t.Errorf("to %s from %v and %v: got %s, want %s", tt.destination, tt.out, tt.other, got, tt.want)
		}
	}
}

// TestSourceAddress4: the network of the next hop counts, else the first.
func TestSourceAddress4(t *testing.T) {
	e, device := twoInterfaces(t, []string{"192.0.2.1/24", "198.51.100.1/24"}, []string{"203.0.113.1/24"})
	for destination, want := range map[string]string{"192.0.2.9": "192.0.2.1", "198.51.100.9": "198.51.100.1", "8.8.8.8": "192.0.2.1"} {
		if got, _ := e.sourceAddress4(device.meta, netip.MustParseAddr(destination)); got != netip.MustParseAddr(want) {
			t.Errorf("to %s: got %s, want %s", destination, got, want)
		}
	}
	e, device = twoInterfaces(t, nil, []string{"203.0.113.1/24"})
	if got, _ := e.sourceAddress4(device.meta, netip.MustParseAddr("8.8.8.8")); got != netip.MustParseAddr("203.0.113.1") {
		t.Errorf("an interface without address: got %s", got)
	}
}

// TestFirstAddress: what redirect takes from the incoming interface.
func TestFirstAddress(t *testing.T) {
	e, device := twoInterfaces(t, []string{"192.0.2.1/24", "192.0.2.2/24", "2001:db8::1/64", "fe80::1/64"}, nil)
	for destination, want := range map[string]string{"192.0.2.9": "192.0.2.1", "2001:db8::9": "2001:db8::1", "fe80::9": "fe80::1"} {
		if got, _ := e.firstAddress(device.meta, netip.MustParseAddr(destination)); got != netip.MustParseAddr(want) {
			t.Errorf("to %s: got %s, want %s", destination, got, want)
		}
	}
	e, device = twoInterfaces(t, []string{"::ffff:192.0.2.1/128", "fec0::1/64", "2001:db8::1/64", "fe80::1/64"}, nil)
	for destination, want := range map[string]string{"2001:db8::9": "fec0::1", "fec0::9": "fec0::1", "ff02::9": "fe80::1", "ff05::9": "fec0::1", "ff0e::9": "fec0::1"} {
		if got, _ := e.firstAddress(device.meta, netip.MustParseAddr(destination)); got != netip.MustParseAddr(want) {
			t.Errorf("to %s: got %s, want %s", destination, got, want)
		}
	}
	e, device = twoInterfaces(t, []string{"192.0.2.1/24"}, nil)
	if _, ok := e.firstAddress(device.meta, netip.MustParseAddr("2001:db8::9")); ok {
		t.Error("want none")
	}
}

// twoInterfaces makes an engine on a host with a device and another one.
func twoInterfaces(t *testing.T, out, other []string) (*Engine, *device) {
	t.Helper()
	config := host.Config{Interfaces: []host.Interface{{Name: "out0", Index: 2, Type: 1}, {Name: "other0", Index: 3, Type: 1}}}
	for i, list := range [][]string{out, other} {
		for _, text := range list {
			config.Interfaces[i].Addresses = append(config.Interfaces[i].Addresses, host.Address{Prefix: netip.MustParsePrefix(text)})
		}
	}
	h, err := host.New(config)
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{host: h, devices: map[string]*device{}}
	return e, e.device("out0")
}
