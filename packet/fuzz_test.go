package packet

import "testing"

// FuzzDecode decodes anything as anything: no panic, and every offset that
// claims to be usable lies within the packet.
func FuzzDecode(f *testing.F) {
	four := ipv4(f, ProtoTCP, 0, "94040000", tcp(f, "020405b4"))
	six := ipv6(f, 0, bytesOf(f, "2c00 010400000000", "0600 0001 00000007", tcp(f, "")))
	for _, seed := range []struct {
		link  LinkType
		frame []byte
	}{
		{LinkEthernet, ethernet(f, "0800", four)},
		{LinkEthernet, ethernet(f, "88a8 0064 8100 0005 86dd", six)},
		{LinkEthernet, ethernet(f, "8864 1100 0001 002c 0021", four)},
		{LinkEthernet, ethernet(f, "8847 00010140", six)},
		{LinkRaw, ipv4(f, ProtoGRE, 0, "", bytesOf(f, "b000 0800 00000000 00000001 00000002"))},
		{LinkRaw, ipv4(f, ProtoSCTP, 0, "", bytesOf(f, "0fa00016 00000001 00000000 03000004 01000014"))},
		{LinkRaw, ipv4(f, ProtoDCCP, 0, "", bytesOf(f, "0fa0001605000000 00000001 00000000 20030100"))},
		{LinkNull, bytesOf(f, "02000000", four)},
		{LinkPPPHDLC, bytesOf(f, "ff030021", four)},
		{LinkLinuxSLL, bytesOf(f, "0000 0001 0006 0200000000010000 8100 0005 0800", four)},
		{LinkLinuxSLL2, bytesOf(f, "86dd 0000 00000007 0304 00 06 0000000000000000", six)},
		{LinkNFLOG, bytesOf(f, "02000000 0800010008000100 12001000 020000000002 020000000001 0800 0000 30000900", four)},
	} {
		f.Add(uint16(seed.link), seed.frame, uint16(0))
		f.Add(uint16(seed.link), seed.frame[:len(seed.frame)-9], uint16(9))
	}
	var v View
	f.Fuzz(func(t *testing.T, link uint16, frame []byte, more uint16) {
		v.Decode(LinkType(link), frame, len(frame)+int(more))
		checkBounds(t, &v)
		exercise(t, &v)
		v.AtDevice()
		checkBounds(t, &v)
		exercise(t, &v)
		v.HideMac()
		exercise(t, &v)
		v.AtIP()
		checkBounds(t, &v)
	})
}

func checkBounds(t *testing.T, v *View) {
	t.Helper()
	switch {
	case len(v.Data) > v.OrigLen:
		t.Fatalf("captured %d of %d", len(v.Data), v.OrigLen)
	case v.NetOff < 0 || v.NetOff > v.OrigLen:
		t.Fatalf("network header at %d of %d", v.NetOff, v.OrigLen)
	case v.End < v.NetOff || v.End > v.OrigLen || v.NetLen != v.End-v.NetOff:
		t.Fatalf("end %d, length %d of %d", v.End, v.NetLen, v.OrigLen)
	case len(v.packet) > v.End || len(v.packet) > len(v.Data):
		t.Fatalf("%d bytes usable, end %d", len(v.packet), v.End)
	case v.MacOff < 0 || v.MacOff > v.OrigLen || v.MacLen < 0:
		t.Fatalf("link header at %d+%d of %d", v.MacOff, v.MacLen, v.OrigLen)
	case v.L4OK && v.L4Cut:
		t.Fatal("transport both known and unknown")
	case v.L4OK && (v.ThOff < v.NetOff || v.ThOff-v.NetOff > 65535):
		t.Fatalf("transport header at %d, network header at %d", v.ThOff, v.NetOff)
	case v.L4OK && v.Validity != Valid:
		t.Fatalf("transport of a packet that is %v", v.Validity)
	case !v.L4OK && (v.L4Proto != 0 || v.FragOff != 0):
		t.Fatal("unspecified packet with a protocol")
	case v.NumVLAN > MaxVLAN:
		t.Fatal("too many tags")
	}
}

// exercise asks for everything and checks that what is found can be loaded.
func exercise(t *testing.T, v *View) {
	t.Helper()
	var dst [64]byte
	for base := BaseLink; base <= BaseInner+1; base++ {
		for _, off := range []int{0, 1, 5, 12, 14, 20, 40, 65535} {
			for _, n := range []int{1, 2, 4, 16, 64} {
				if v.Load(base, off, n, dst[:]) != v.Check(base, off, n) {
					t.Fatalf("load and check differ at %d %d+%d", base, off, n)
				}
			}
		}
	}
	present := func(what string, off int, found Found) {
		if found != Present {
			return
		}
		if off < v.NetOff || off > v.OrigLen+2048 {
			t.Fatalf("%s at %d", what, off)
		}
	}
	for kind := range 256 {
		off, found := v.FindIPv6(uint8(kind))
		present("ipv6 header", off, found)
		off, found = v.FindIPv4(uint8(kind))
		present("ipv4 option", off, found)
		off, length, found := v.FindTCPOption(uint8(kind))
		present("tcp option", off+length, found)
		off, _, found = v.FindSCTPChunk(uint8(kind))
		present("sctp chunk", off, found)
		off, found = v.FindDCCPOption(uint8(kind))
		present("dccp option", off, found)
	}
	var f Flow
	v.Flow(&f)
	v.Ports()
	v.SrcAddr()
	v.DstAddr()
	v.InnerOff()
	v.DeviceLen()
	v.TransportLen()
	v.VerifyIPv4Header()
	v.VerifyTransport()
	v.ComputeTransport()
	v.Receive(false)
	v.CookedIndex()
	v.CookedHardware()
}
