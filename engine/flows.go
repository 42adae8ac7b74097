package engine

import (
	"encoding/binary"
	"math/bits"

	"verdict/capture"
	"verdict/packet"
)

// flows deals packets out to workers, by what packets of one connection have in
// common in both directions: the addresses, or those of the packet that an ICMP
// error is about.
type flows struct {
	picks [][]uint32
	times []int64
	// odd is the first packet whose connection its addresses do not tell.
	odd  int
	view packet.View
}

// sort deals packets out to the workers.
func (x *Workers) sort(in []Input) {
	f, n := &x.flows, uint64(len(x.list))
	if f.picks == nil {
		f.picks = make([][]uint32, n)
	}
	for i := range f.picks {
		f.picks[i] = f.picks[i][:0]
	}
	f.odd = len(in)
	for i := range in {
		key, known := f.key(&in[i])
		if !known && f.odd == len(in) {
			f.odd = i
		}
		high, _ := bits.Mul64(key, n)
		f.picks[high] = append(f.picks[high], uint32(i))
	}
}

// key gives a number that the packets of one connection have in common; known is
// false where fragments or the headers between hide it.
func (f *flows) key(in *Input) (key uint64, known bool) {
	data, at, typ := in.Data, 14, 0
	if in.LinkType == packet.LinkEthernet && len(data) >= 14 {
		typ = int(data[12])<<8 | int(data[13])
	}
	if typ != packet.TypeIPv4 && typ != packet.TypeIPv6 {
		f.view.Decode(in.LinkType, data, in.OrigLen)
		at, typ = f.view.NetOff, int(f.view.EtherType)
	}
	if at > len(data) {
		return 0, true
	}
	switch typ {
	case packet.TypeIPv4:
		return key4(data[at:])
	case packet.TypeIPv6:
		return key6(data[at:])
	}
	return 0, true
}

// key4 is key for IPv4 packets.
func key4(h []byte) (key uint64, known bool) {
	if len(h) < 20 {
		return 0, true
	}
	const fragment = 0x3fff // more of them, or an offset
	if binary.BigEndian.Uint16(h[6:])&fragment != 0 {
		return 0, false
	}
	if h[9] == packet.ProtoICMP {
		size := int(h[0]&15) * 4
		if len(h) >= size+8+20 && isICMPError(h[size]) {
			h = h[size+8:]
		}
	}
	return pairKey(uint64(binary.LittleEndian.Uint32(h[12:])), uint64(binary.LittleEndian.Uint32(h[16:]))), true
}

// isICMPError tells the messages that quote a packet.
func isICMPError(typ byte) bool {
	switch typ {
	case 3, 4, 5, 11, 12:
		return true
	}
	return false
}

// key6 is key for IPv6 packets. Behind extension headers anything may hide.
func key6(h []byte) (key uint64, known bool) {
	if len(h) < 40 {
		return 0, true
	}
	switch h[6] {
	case packet.ProtoHopByHop, packet.ProtoRouting, packet.ProtoFragment, packet.ProtoDestOpts, packet.ProtoAH, packet.ProtoMobility:
		return 0, false
	case packet.ProtoICMPv6:
		const redirect, firstQuery = 137, 128
		if len(h) > 40 && h[40] == redirect {
			return 0, false
		}
		if len(h) >= 48+40 && h[40] < firstQuery {
			h = h[48:]
		}
	}
	le := binary.LittleEndian
	return pairKey(le.Uint64(h[8:])^bits.RotateLeft64(le.Uint64(h[16:]), 32), le.Uint64(h[24:])^bits.RotateLeft64(le.Uint64(h[32:]), 32)), true
}

// pairKey mixes two addresses, whichever comes first.
func pairKey(a, b uint64) uint64 {
	const k0, k1 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	high, low := bits.Mul64((a+b)^k0, (a^b)^k1)
	key := high ^ low
	return key * 0x9e3779b97f4a7c15
}

// leaves reports whether a frame is sent for sure.
func (in *Input) leaves() bool { return in.Local || in.Direction == capture.Outbound }
