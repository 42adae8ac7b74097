package tc

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"verdict/offload"
)

// udpFrame is a UDP packet from 10.0.0.1 to 10.0.0.2, port 53.
const udpFrame = "02000000000102aa00000001080045000020000000004011000a0a0000010a00000200350035000c00000102030405"

func frame(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// newWorld makes a System with a device eth0 that has hardware, and one eth1
// that has none.
func newWorld(t testing.TB, c Config) *System {
	t.Helper()
	s := New(c)
	m, err := offload.ModelNamed("eswitch-nic")
	if err != nil {
		t.Fatal(err)
	}
	s.AddDevice(Device{Name: "eth0", Hardware: offload.NewDevice(m)})
	s.AddDevice(Device{Name: "eth1"})
	return s
}

// do executes commands that must succeed.
func do(t testing.TB, s *System, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if o := s.Line(l, Options{}); o.Status != 0 {
			t.Fatalf("%s: %d %s", l, o.Status, o.Stderr)
		}
	}
}

// send runs a frame in and tells fate and where it came out.
func send(t testing.TB, s *System, dev string, b []byte) string {
	t.Helper()
	var p Packet
	if !p.Load(b, true) {
		return "not received"
	}
	r := s.Receive(s.Device(dev), &p)
	out := r.Fate.String()
	for _, o := range r.Outputs {
		dir := "in"
		if o.Egress {
			dir = "out"
		}
		out += fmt.Sprintf(" %s/%s", o.Device.Name, dir)
	}
	return out
}

func stringReader(s string) *strings.Reader { return strings.NewReader(s) }
