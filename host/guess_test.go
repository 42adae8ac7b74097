package host

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// scene builds the frames of a situation.
type scene struct{ frames []Sighting }

func mac(last byte) MAC { return MAC{2, 0, 0, 0, 0, last} }

func ip(text string) netip.Addr {
	if text == "" {
		return netip.Addr{}
	}
	return netip.MustParseAddr(text)
}

// talk adds n frames each way between two stations.
func (s *scene) talk(n int, aMAC byte, a string, bMAC byte, b string) *scene {
	for range n {
		s.frames = append(s.frames,
			Sighting{HasMAC: true, SrcMAC: mac(aMAC), DstMAC: mac(bMAC), SrcIP: ip(a), DstIP: ip(b), WireLength: 100},
			Sighting{HasMAC: true, SrcMAC: mac(bMAC), DstMAC: mac(aMAC), SrcIP: ip(b), DstIP: ip(a), WireLength: 100})
	}
	return s
}

// broadcast adds n frames to everyone.
func (s *scene) broadcast(n int, from byte, a string) *scene {
	for range n {
		s.frames = append(s.frames, Sighting{HasMAC: true, SrcMAC: mac(from), DstMAC: MAC{255, 255, 255, 255, 255, 255},
			SrcIP: ip(a), DstIP: ip("255.255.255.255")})
	}
	return s
}

// arp adds an ARP packet in which a station claims an address.
func (s *scene) arp(from, to byte, a, b string) *scene {
	s.frames = append(s.frames, Sighting{HasMAC: true, SrcMAC: mac(from), DstMAC: mac(to), SrcIP: ip(a), DstIP: ip(b), OwnsSource: true})
	return s
}

// raw adds n packets each way without MAC addresses.
func (s *scene) raw(n int, a, b string) *scene {
	for range n {
		s.frames = append(s.frames, Sighting{SrcIP: ip(a), DstIP: ip(b)}, Sighting{SrcIP: ip(b), DstIP: ip(a)})
	}
	return s
}

// directed records n packets each way with their direction, near being the
// host's side.
func (s *scene) directed(n, index int, near, far string) *scene {
	for range n {
		s.frames = append(s.frames,
			Sighting{Interface: index, Way: WaySent, SrcIP: ip(near), DstIP: ip(far)},
			Sighting{Interface: index, Way: WayReceived, SrcIP: ip(far), DstIP: ip(near)})
	}
	return s
}

// on adds the frames of another scene, captured on interface index.
func (s *scene) on(index int, other *scene) *scene {
	for _, frame := range other.frames {
		frame.Interface = index
		s.frames = append(s.frames, frame)
	}
	return s
}

func (s *scene) foreign(n int, a, b string) *scene {
	for range n {
		s.frames = append(s.frames, Sighting{Way: WayForeign, SrcIP: ip(a), DstIP: ip(b)})
	}
	return s
}

// remote names the nth host of the internet.
func remote(n int) string { return fmt.Sprintf("198.51.100.%d", n+1) }

func identityLine(i Identity) string {
	line := fmt.Sprintf("%v %v %v", i.Confidence, i.MACs, i.Addresses)
	if i.Router {
		line += " router"
	}
	if i.Conflict {
		line += fmt.Sprintf(" conflict %v", i.Candidates)
	}
	return line
}

func TestGuess(t *testing.T) {
	const gateway, own = 1, 2
	server := func() *scene {
		s := new(scene)
		for n := range 20 {
			s.talk(3, gateway, remote(n), own, "192.0.2.10")
		}
		return s
	}
	lanSide := func() *scene {
		s := new(scene)
		for client := range 4 {
			for n := range 10 {
				s.talk(2, byte(10+client), fmt.Sprintf("192.168.1.%d", 20+client), gateway, remote(n))
			}
		}
		return s
	}
	for _, test := range []struct {
		name   string
		frames *scene
		want   string
		reason string
	}{
		{"nothing", new(scene), "none [] []", "no frames"},
		{"server behind one gateway", server(),
			"unsure [02:00:00:00:00:02] [192.0.2.10]", "02:00:00:00:00:02 has 1 address, its peer 02:00:00:00:00:01 has 20"},
		{"server with peers on its link", server().talk(30, 7, "192.0.2.20", own, "192.0.2.10"),
			"likely [02:00:00:00:00:02] [192.0.2.10]", "takes part in 100 % of the frames"},
		{"server with IPv6", server().talk(30, 7, "2001:db8::7", own, "2001:db8::10"),
			"likely [02:00:00:00:00:02] [192.0.2.10 2001:db8::10]", ""},
		{"broadcasts of others do not count", server().broadcast(500, 9, "192.0.2.99"),
			"unsure [02:00:00:00:00:02] [192.0.2.10]", ""},
		{"client of few servers, frames not padded yet", func() *scene {
			s := new(scene).talk(5, own, "192.168.1.50", gateway, "9.9.9.9")
			for i := range s.frames {
				s.frames[i].WireLength = 60
				if s.frames[i].SrcMAC == mac(own) {
					s.frames[i].WireLength = 54
				}
			}
			return s
		}(), "unsure [02:00:00:00:00:02] [192.168.1.50]", "before they were padded"},
		{"client of one server: either end", new(scene).talk(5, own, "192.168.1.50", gateway, "9.9.9.9"),
			"none [] [] conflict [02:00:00:00:00:01 02:00:00:00:00:02]", "take part in the same frames"},
		{"router seen on its inner interface", lanSide(),
			"unsure [02:00:00:00:00:01] [] router", "none of its own addresses is seen"},
		{"router that answers for its address", lanSide().arp(gateway, 10, "192.168.1.1", "192.168.1.20"),
			"unsure [02:00:00:00:00:01] [192.168.1.1] router", "forwards"},
		{"router that serves names itself", lanSide().talk(10, 10, "192.168.1.20", gateway, "192.168.1.1"),
			"unsure [02:00:00:00:00:01] [192.168.1.1] router", "forwards"},
		{"span port between two pairs", new(scene).talk(10, 1, "10.0.0.1", 2, "10.0.0.2").talk(10, 3, "10.0.0.3", 4, "10.0.0.4"),
			"none [] [] conflict [02:00:00:00:00:01 02:00:00:00:00:02 02:00:00:00:00:03]", "no MAC address takes part in nearly all frames"},
		{"only broadcasts", new(scene).broadcast(5, 9, "10.0.0.9"), "none [] []", "addressed to groups"},
		{"raw packets of one host", new(scene).raw(5, "10.0.0.1", remote(1)).raw(5, "10.0.0.1", remote(2)),
			"likely [] [10.0.0.1]", "100 % of the IPv4 packets"},
		{"raw packets of two hosts", new(scene).raw(5, "10.0.0.1", remote(1)),
			"none [] [] conflict [10.0.0.1 198.51.100.2]", "same packets"},
		{"raw packets of many", new(scene).raw(5, "10.0.0.1", remote(1)).raw(5, "10.0.0.3", remote(2)), "none [] []", "no IPv4 address"},
		{"raw packets of both families", new(scene).raw(5, "10.0.0.1", remote(1)).raw(5, "10.0.0.1", remote(2)).
			raw(1, "2001:db8::1", "2001:db8::2").raw(1, "2001:db8::1", "2001:db8::3"),
			"likely [] [10.0.0.1 2001:db8::1]", "IPv6 packets"},
		{"cooked capture", new(scene).directed(5, 0, "10.0.0.1", remote(1)).directed(5, 0, "10.0.0.1", remote(2)).foreign(40, "10.0.0.8", "10.0.0.9"),
			"confirmed [] [10.0.0.1]", "records which frames were sent and received"},
		{"conversation with directions", new(scene).directed(5, 0, "10.0.0.1", remote(1)), "confirmed [] [10.0.0.1]", ""},
		{"two interfaces of a gateway with directions", func() *scene {
			s := new(scene)
			for n := range 10 {
				s.directed(3, 1, "203.0.113.7", remote(n)).directed(3, 0, remote(n), "192.168.1.20")
			}
			s.directed(20, 0, "192.168.1.1", "192.168.1.20")
			return s
		}(), "confirmed [] [203.0.113.7 192.168.1.1] router", "forwards"},
		{"router with few remote hosts", new(scene).talk(5, 10, "192.168.1.20", gateway, "9.9.9.9").
			talk(5, 11, "192.168.1.21", gateway, "9.9.9.9").talk(5, 12, "192.168.1.22", gateway, "8.8.8.8"),
			"unsure [02:00:00:00:00:01] [] router", "none of its own addresses"},
		{"host with two addresses among its peers", new(scene).talk(5, 10, "192.168.1.20", own, "192.168.1.5").
			talk(5, 11, "192.168.1.21", own, "192.168.1.6").talk(5, 12, "192.168.1.22", own, "192.168.1.5").talk(5, 13, "198.51.100.1", own, "192.168.1.6").
			talk(5, 13, "198.51.100.2", own, "192.168.1.6"),
			"likely [02:00:00:00:00:02] [192.168.1.6 192.168.1.5]", "100 %"},
		{"link-local addresses are never forwarded", lanSide().talk(2, 10, "fe80::20", gateway, "fe80::1"),
			"unsure [02:00:00:00:00:01] [fe80::1] router", "forwards"},
		{"a second interface tells nothing", server().on(1, new(scene).broadcast(5, 9, "10.0.0.9")),
			"unsure [02:00:00:00:00:02] [192.0.2.10]", "has 1 address"},
		{"the first interface tells nothing", new(scene).broadcast(5, 9, "10.0.0.9").on(1, server()),
			"unsure [02:00:00:00:00:02] [192.0.2.10]", "has 1 address"},
		{"neither interface tells", new(scene).broadcast(5, 9, "10.0.0.9").on(1, new(scene).talk(5, own, "10.0.0.1", gateway, "9.9.9.9")),
			"none [] [] conflict [02:00:00:00:00:01 02:00:00:00:00:02]", "every station hears; the MAC addresses"},
		{"two interfaces without directions", func() *scene {
			inside, outside := new(scene), new(scene)
			for n := range 20 {
				for client := range 3 {
					inside.talk(1, byte(10+client), fmt.Sprintf("192.168.1.%d", 20+client), 3, remote(n))
				}
				outside.talk(1, 4, remote(n), 2, "203.0.113.7")
			}
			return inside.on(1, outside)
		}(), "unsure [02:00:00:00:00:03 02:00:00:00:00:02] [203.0.113.7] router", "forwards"},
		{"directions with MAC addresses", func() *scene {
			s := server().talk(1, gateway, remote(1), 5, "192.0.2.99")
			for i := range s.frames {
				s.frames[i].Way = WayReceived
				if s.frames[i].SrcMAC == mac(own) {
					s.frames[i].Way = WaySent
				}
			}
			return s
		}(), "confirmed [02:00:00:00:00:02] [192.0.2.10]", "records"},
		{"nothing but foreign frames", new(scene).foreign(3, "10.0.0.1", "10.0.0.2"), "none [] []", ""},
		{"frames without addresses", &scene{[]Sighting{{}, {}}}, "none [] []", "no frame shows"},
	} {
		id := Guess(slices.Values(test.frames.frames))
		if got := identityLine(id); got != test.want {
			t.Errorf("%s: %s (%s), want %s", test.name, got, id.Reason, test.want)
		}
		if !strings.Contains(id.Reason, test.reason) {
			t.Errorf("%s: reason %q does not say %q", test.name, id.Reason, test.reason)
		}
	}
}

// A capture with ever new addresses does not take ever more memory.
func TestGuessBounded(t *testing.T) {
	tally := newTally()
	for n := range 3 * maxSeen {
		a := netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
		tally.add(&Sighting{HasMAC: true, SrcMAC: MAC{2, 0, 0, byte(n >> 16), byte(n >> 8), byte(n)}, DstMAC: mac(1), SrcIP: a, DstIP: ip("9.9.9.9")})
	}
	if len(tally.stations) > maxSeen || len(tally.parties) > maxSeen {
		t.Errorf("%d stations, %d addresses", len(tally.stations), len(tally.parties))
	}
}
