package workload

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"verdict/capture"
	"verdict/host"
	"verdict/packet"
)

const seed = 2026

// scenes are all captures that can be made.
var scenes = map[string]func(uint64) []capture.Frame{"server": Server, "gateway": Gateway}

func TestSeeded(t *testing.T) {
	for name, scene := range scenes {
		if !reflect.DeepEqual(scene(seed), scene(seed)) {
			t.Errorf("%s: the same seed gives different frames", name)
		}
		if reflect.DeepEqual(scene(seed), scene(seed+1)) {
			t.Errorf("%s: different seeds give the same frames", name)
		}
	}
}

// Frames come in order of time, within some ten minutes, and are numbered.
func TestTimes(t *testing.T) {
	for name, scene := range scenes {
		frames := scene(seed)
		if n := len(frames); n < 2000 || n > 4000 {
			t.Errorf("%s: %d frames", name, n)
		}
		last := start.UnixNano()
		for i := range frames {
			f := &frames[i]
			if !f.HasTime || f.Time < last || f.Time > start.Add(11*time.Minute).UnixNano() || f.Index != i {
				t.Fatalf("%s: frame %d: time %d after %d, index %d", name, i, f.Time, last, f.Index)
			}
			last = f.Time
		}
	}
}

// Every frame but the deliberately odd ones is a valid packet with right
// checksums.
func TestValid(t *testing.T) {
	for name, scene := range scenes {
		odd, ip, sums := 0, 0, 0
		for i, f := range scene(seed) {
			if f.Comment != "" {
				odd++
				continue
			}
			var v packet.View
			v.Decode(packet.LinkType(f.LinkType), f.Data, f.OrigLen)
			if v.EtherType == packet.TypeARP {
				continue
			}
			if v.Validity != packet.Valid || !v.L4OK || v.End != len(f.Data) {
				t.Errorf("%s: frame %d: %v, L4 %v, ends at %d of %d", name, i, v.Validity, v.L4OK, v.End, len(f.Data))
			}
			ip++
			if v.EtherType == packet.TypeIPv4 {
				if right, _ := v.VerifyIPv4Header(); !right {
					t.Errorf("%s: frame %d: wrong header checksum", name, i)
				}
			}
			if sum, result := v.TransportSum(); result != packet.OK || sum != 0xffff {
				t.Errorf("%s: frame %d: protocol %d: checksum %04x, %v", name, i, v.L4Proto, sum, result)
			}
			sums++
		}
		if odd < 30 || ip < 1900 || sums != ip {
			t.Errorf("%s: %d odd frames, %d IP packets, %d checksums", name, odd, ip, sums)
		}
	}
}

// tuple identifies one direction of a TCP connection.
type tuple struct{ src, dst netip.AddrPort }

func tcpTuple(v *packet.View) tuple {
	address := func(off, n int) netip.Addr {
		a, _ := netip.AddrFromSlice(v.Data[off : off+n])
		return a
	}
	first, length := v.NetOff+12, 4
	if v.EtherType == packet.TypeIPv6 {
		first, length = v.NetOff+8, 16
	}
	return tuple{
		netip.AddrPortFrom(address(first, length), binary.BigEndian.Uint16(v.Data[v.ThOff:])),
		netip.AddrPortFrom(address(first+length, length), binary.BigEndian.Uint16(v.Data[v.ThOff+2:])),
	}
}

// The server's TCP connections are consistent: no gap in the sequence
// numbers, and acknowledgements of exactly what was sent.
func TestSequenceNumbers(t *testing.T) {
	next := make(map[tuple]uint32)
	segments := 0
	for i, f := range Server(seed) {
		var v packet.View
		v.Decode(packet.LinkType(f.LinkType), f.Data, f.OrigLen)
		if f.Comment != "" || !v.L4OK || v.L4Proto != protoTCP {
			continue
		}
		segments++
		key := tcpTuple(&v)
		header := v.Data[v.ThOff:]
		seq, ack, flags := binary.BigEndian.Uint32(header[4:]), binary.BigEndian.Uint32(header[8:]), header[13]
		expected, known := next[key]
		length := uint32(len(header) - int(header[12]>>4)*4)
		if flags&(flagSYN|flagFIN) != 0 {
			length++
		}
		if known && flags&(flagSYN|flagRST) == 0 && seq != expected {
			t.Errorf("frame %d: %v: sequence %d, want %d", i, key, seq, expected)
		}
		next[key] = seq + length
		if peer, known := next[tuple{key.dst, key.src}]; flags&flagACK != 0 && known && ack != peer {
			t.Errorf("frame %d: %v: acknowledges %d, the peer has sent up to %d", i, key, ack, peer)
		}
	}
	if segments < 1500 {
		t.Errorf("only %d segments", segments)
	}
}

// sightings makes of frames what host.Guess wants.
func sightings(frames []capture.Frame) func(func(host.Sighting) bool) {
	return func(yield func(host.Sighting) bool) {
		for _, f := range frames {
			if len(f.Data) < 14 {
				continue
			}
			s := host.Sighting{Interface: f.Interface, HasMAC: true, WireLength: f.OrigLen,
				DstMAC: host.MAC(f.Data[0:6]), SrcMAC: host.MAC(f.Data[6:12])}
			switch f.Direction {
			case capture.Inbound:
				s.Way = host.WayReceived
			case capture.Outbound:
				s.Way = host.WaySent
			}
			addSightingAddresses(&s, f.Data)
			if !yield(s) {
				return
			}
		}
	}
}

func addSightingAddresses(s *host.Sighting, data []byte) {
	at := func(off, n int) netip.Addr {
		a, _ := netip.AddrFromSlice(data[off : off+n])
		return a
	}
	switch kind := binary.BigEndian.Uint16(data[12:]); {
	case kind == packet.TypeIPv4 && len(data) >= 34:
		s.SrcIP, s.DstIP = at(26, 4), at(30, 4)
	case kind == packet.TypeIPv6 && len(data) >= 54:
		s.SrcIP, s.DstIP = at(22, 16), at(38, 16)
	case kind == packet.TypeARP && len(data) >= 42:
		s.SrcIP, s.DstIP, s.OwnsSource = at(28, 4), at(38, 4), true
	}
}

// The guess of the host finds whose captures these are.
func TestGuess(t *testing.T) {
	for name, want := range map[string]string{
		"server": "likely [02:00:00:00:00:10] [192.0.2.10 2001:db8:0:2::10 fe80::ff:fe00:10] router false conflict false",
		"gateway": "confirmed [02:00:00:00:00:81 02:00:00:00:00:82] " +
			"[192.168.1.1 2001:db8:1::1 fe80::ff:fe00:81 203.0.113.7 2001:db8:0:7::7] router true conflict false",
	} {
		id := host.Guess(sightings(scenes[name](seed)))
		got := fmt.Sprintf("%v %v %v router %v conflict %v", id.Confidence, id.MACs, id.Addresses, id.Router, id.Conflict)
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
}

// Forwarded IPv4 connections can be told apart behind the gateway's address.
func TestTranslatedPortsAreUnique(t *testing.T) {
	owner := make(map[tuple]netip.Addr)
	for i, f := range Gateway(seed) {
		var v packet.View
		v.Decode(packet.LinkType(f.LinkType), f.Data, f.OrigLen)
		if f.Interface != lan || f.Direction != capture.Inbound || !v.L4OK || v.L4Proto != protoTCP || v.EtherType != packet.TypeIPv4 {
			continue
		}
		key := tcpTuple(&v)
		inside := key.src.Addr()
		key.src = netip.AddrPortFrom(gatewayWAN.ipv4, key.src.Port())
		if other, taken := owner[key]; taken && other != inside {
			t.Errorf("frame %d: %v uses what %v uses", i, inside, other)
		}
		owner[key] = inside
	}
}
