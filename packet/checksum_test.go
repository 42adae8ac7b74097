package packet

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

// slowSum is the definition: 16-bit words, carries added back.
func slowSum(data []byte) uint16 {
	sum := uint32(0)
	for i := 0; i < len(data); i += 2 {
		word := uint32(data[i]) << 8
		if i+1 < len(data) {
			word |= uint32(data[i+1])
		}
		if sum += word; sum > 0xffff {
			sum -= 0xffff
		}
	}
	return uint16(sum)
}

func TestSum(t *testing.T) {
	// The example of RFC 1071 §3.
	if got := Fold(Sum(0, bytesOf(t, "0001 f203 f4f5 f6f7"))); got != 0xddf2 {
		t.Errorf("got %04x, want ddf2", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 70).Draw(t, "data")
		got, want := Fold(Sum(0, data)), slowSum(data)
		// 0 and ffff are the same number; the slow form may give either.
		if got%0xffff != want%0xffff {
			t.Fatalf("got %04x, want %04x", got, want)
		}
	})
}

func TestUpdateChecksum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 8, 40).Draw(t, "data")
		before := ^Fold(Sum(0, data))
		at := rapid.IntRange(0, len(data)-4).Draw(t, "at")
		n := rapid.IntRange(1, len(data)-at).Draw(t, "n")
		old := append([]byte(nil), data...)
		copy(data[at:at+n], rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "new"))
		same := func(got uint16) bool {
			return Fold(uint32(got)+Sum(0, data))%0xffff == 0
		}
		if got := UpdateChecksum(before, old[at:at+n], data[at:at+n], at%2 == 1); !same(got) {
			t.Fatalf("bytes: %04x does not fit % x", got, data)
		}
		if n == 2 && at%2 == 0 {
			got := UpdateChecksum16(before, binary.BigEndian.Uint16(old[at:]), binary.BigEndian.Uint16(data[at:]))
			if !same(got) {
				t.Fatalf("16 bit: %04x does not fit % x", got, data)
			}
		}
		if at%2 == 0 {
			got := UpdateChecksum32(before, binary.BigEndian.Uint32(old[at:]), binary.BigEndian.Uint32(data[at:]))
			copy(old[at:], data[at:at+4])
			if Fold(uint32(got)+Sum(0, old))%0xffff != 0 {
				t.Fatalf("32 bit: %04x does not fit % x", got, old)
			}
		}
	})
}

func TestVerifyTransport(t *testing.T) {
	fill := func(v *View) {
		t.Helper()
		sum, result := v.ComputeTransport()
		if result != OK {
			t.Fatal(result)
		}
		off, _, _ := ChecksumOffset(v.L4Proto)
		binary.BigEndian.PutUint16(v.Data[v.ThOff+off:], sum)
	}
	packets := map[string][]byte{
		"tcp":      ipv4(t, ProtoTCP, 0, "", append(tcp(t, ""), 1, 2, 3)),
		"udp":      ipv4(t, ProtoUDP, 0, "", udp(t, "010203")),
		"icmp":     ipv4(t, ProtoICMP, 0, "", bytesOf(t, "0800 0000 0001 0002 ff")),
		"tcp6":     ipv6(t, ProtoTCP, tcp(t, "020405b4")),
		"udp6":     ipv6(t, ProtoUDP, udp(t, "01")),
		"icmp6":    ipv6(t, ProtoICMPv6, bytesOf(t, "8000 0000 0001 0002")),
		"udplite":  ipv4(t, ProtoUDPLite, 0, "", bytesOf(t, "0fa0 0035 0008 0000 ffff")),
		"mobility": ipv6(t, ProtoMobility, bytesOf(t, "3b00 0500 0000 0000")),
		"dccp":     ipv4(t, ProtoDCCP, 0, "", bytesOf(t, "0fa0 0016 04 01 0000 00 00 0001 00000000 ffff")),
	}
	for name, packet := range packets {
		t.Run(name, func(t *testing.T) {
			v := decoded(LinkRaw, packet)
			v.Data[v.ThOff+1] ^= 0x55 // whatever stands in the packet
			off, _, _ := ChecksumOffset(v.L4Proto)
			binary.BigEndian.PutUint16(v.Data[v.ThOff+off:], 0x1234)
			if ok, result := v.VerifyTransport(); ok || result != OK {
				t.Errorf("wrong checksum: %v %v", ok, result)
			}
			fill(v)
			if ok, result := v.VerifyTransport(); !ok || result != OK {
				t.Errorf("right checksum: %v %v", ok, result)
			}
			last := len(packet) - 1
			v.Data[last] ^= 1
			ok, _ := v.VerifyTransport()
			if covered := name != "udplite" && name != "dccp"; ok == covered {
				t.Errorf("after a change in the last byte: %v", ok)
			}
		})
	}
	t.Run("sctp", func(t *testing.T) {
		p := ipv4(t, ProtoSCTP, 0, "", bytesOf(t, "0fa00016 00000001 00000000 03000004"))
		if ok, result := decoded(LinkRaw, p).VerifyTransport(); ok || result != OK {
			t.Errorf("wrong checksum: %v %v", ok, result)
		}
		binary.LittleEndian.PutUint32(p[28:], SCTPChecksum(p[20:]))
		if ok, result := decoded(LinkRaw, p).VerifyTransport(); !ok || result != OK {
			t.Errorf("right checksum: %v %v", ok, result)
		}
	})
	t.Run("no udp checksum", func(t *testing.T) {
		if ok, result := decoded(LinkRaw, ipv4(t, ProtoUDP, 0, "", udp(t, "01"))).VerifyTransport(); !ok || result != OK {
			t.Errorf("%v %v", ok, result)
		}
	})
	t.Run("udp length beyond packet", func(t *testing.T) {
		p := ipv6(t, ProtoUDP, udp(t, "01"))
		p[45] = 99
		if ok, result := decoded(LinkRaw, p).VerifyTransport(); ok || result != Break {
			t.Errorf("%v %v", ok, result)
		}
	})
	t.Run("fragment", func(t *testing.T) {
		if _, result := decoded(LinkRaw, ipv4(t, ProtoTCP, 0x2000, "", tcp(t, ""))).VerifyTransport(); result != Break {
			t.Error(result)
		}
	})
	t.Run("cut", func(t *testing.T) {
		p := ipv4(t, ProtoTCP, 0, "", tcp(t, ""))
		var v View
		v.Decode(LinkRaw, p[:39], len(p))
		if _, result := v.VerifyTransport(); result != Cut {
			t.Error(result)
		}
	})
}

// TestSCTPChecksum uses the check value of CRC32c (RFC 3720 appendix B.4: 32
// bytes of zeros give 8a9136aa).
func TestSCTPChecksum(t *testing.T) {
	zeros := make([]byte, 32)
	zeros[9] = 0xff // in the field, which does not count
	if got := SCTPChecksum(zeros); got != 0x8a9136aa {
		t.Errorf("got %08x, want 8a9136aa", got)
	}
	if got := SCTPChecksum(zeros[:11]); got != 0 {
		t.Errorf("short: %08x", got)
	}
}
