package engine

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"verdict/capture"
	"verdict/packet"
)

// dealing says which worker each packet of a batch goes to: that of its flow,
// told by what packets of one connection have in common in both directions: the
// addresses, or those of the packet that an ICMP error is about. Where the
// packets of a connection may be anywhere, to each worker its share.
type dealing struct {
	times []int64 // by packet: when it comes
	to    []uint8 // by packet
	parts []dealt // by worker
}

// dealt is what a worker found out about its share of a batch.
type dealt struct {
	odd  []oddPacket
	end  int // the first packet that may make up an interface, or the share's end
	view packet.View
}

// oddPacket is a packet that must not have others beside it, and how.
type oddPacket struct {
	at  int
	how flowKind
}

// flowKind says how well the connection of a packet can be told ahead.
type flowKind uint8

const (
	// flowKnown: the packets with the same key are all that matter.
	flowKnown flowKind = iota
	// flowAlone: so they are, but for fragments, whose order among all fragments
	// matters, too.
	flowAlone
	// flowHidden: only the whole datagram will tell.
	flowHidden
)

// deal says which packets go to which worker and when they come, for the first n
// packets: those before the first one that may make up an interface, but at
// least one. It lists the odd ones. The workers share the work.
func (x *Workers) deal(in []Input) (n int, odd []oddPacket) {
	d, k := &x.dealing, len(x.list)
	d.to = slices.Grow(d.to[:0], len(in))[:len(in)]
	d.times = slices.Grow(d.times[:0], len(in))[:len(in)]
	if d.parts == nil {
		d.parts = make([]dealt, k)
	}
	interfaces := x.engine.host.Interfaces()
	for ; x.named < len(interfaces); x.named++ {
		x.engine.device(interfaces[x.named].Name)
	}
	if len(in) < 2*k*batchSize {
		k = 1
	}
	for i := 1; i < k; i++ {
		x.busy.Go(func() { x.dealPart(i, in, i*len(in)/k, (i+1)*len(in)/k) })
	}
	x.dealPart(0, in, 0, len(in)/k)
	x.busy.Wait()
	odd = d.parts[0].odd
	for i := range k {
		p := &d.parts[i]
		if i > 0 {
			x.laterThan(d.times[n-1], d.times[n:p.end])
			odd = append(odd, p.odd...)
		}
		if n = p.end; n < (i+1)*len(in)/k {
			break
		}
	}
	d.parts[0].odd = odd
	return max(n, 1), odd
}

// laterThan makes times run on from an earlier one.
func (x *Workers) laterThan(now int64, times []int64) {
	for i := range times {
		if times[i] >= now {
			return
		}
		times[i] = now
	}
}

// dealPart deals some of the packets.
func (x *Workers) dealPart(part int, in []Input, from, to int) {
	k, p, d := uint64(len(x.list)), &x.dealing.parts[part], &x.dealing
	p.odd, p.end = p.odd[:0], to
	names, now := x.names(), x.list[0].now
	for i := from; i < to; i++ {
		now = max(now, in[i].Time)
		d.times[i] = now
		if x.anyOrder {
			d.to[i] = uint8(uint64(i) * k / uint64(len(in)))
		} else {
			key, kind := flowKey(&in[i], &p.view)
			if kind != flowKnown && x.split {
				p.odd = append(p.odd, oddPacket{i, kind})
			}
			high, _ := bits.Mul64(key, k)
			d.to[i] = uint8(high)
		}
		if !names.known(&in[i]) {
			p.end = i
			return
		}
	}
}

// knownNames tells packets whose interfaces are known: what is known of
// interfaces decides about packets, so that those which make up others are
// evaluated at their turn.
type knownNames struct {
	engine          *Engine
	fallback        bool // the interface of frames that name none is known
	lastIn, lastOut string
}

func (x *Workers) names() knownNames {
	_, fallback := x.engine.knownDevice(x.engine.options.Interface)
	return knownNames{engine: x.engine, fallback: fallback}
}

func (n *knownNames) known(in *Input) bool {
	if in.In != n.lastIn && in.In != "" {
		if _, ok := n.engine.knownDevice(in.In); !ok {
			return false
		}
		n.lastIn = in.In
	}
	if in.Out != n.lastOut && in.Out != "" {
		if _, ok := n.engine.knownDevice(in.Out); !ok {
			return false
		}
		n.lastOut = in.Out
	}
	return in.In != "" || n.fallback || in.Out != "" && in.leaves() && in.Hook == WholeWay && n.engine.only == WholeWay
}

// flowKey gives a number that the packets of one connection have in common.
func flowKey(in *Input, view *packet.View) (key uint64, kind flowKind) {
	data, at, typ := in.Data, 14, 0
	if in.LinkType == packet.LinkEthernet && len(data) >= 14 {
		typ = int(data[12])<<8 | int(data[13])
	}
	if typ != packet.TypeIPv4 && typ != packet.TypeIPv6 {
		view.Decode(in.LinkType, data, in.OrigLen)
		at, typ = view.NetOff, int(view.EtherType)
	}
	if at > len(data) {
		return 0, flowKnown
	}
	switch typ {
	case packet.TypeIPv4:
		return key4(data[at:])
	case packet.TypeIPv6:
		return key6(data[at:])
	}
	return 0, flowKnown
}

// key4 is flowKey for IPv4 packets.
func key4(h []byte) (key uint64, kind flowKind) {
	if len(h) < 20 {
		return 0, flowKnown
	}
	const fragment = 0x3fff // more of them, or an offset
	icmp := h[9] == packet.ProtoICMP
	if binary.BigEndian.Uint16(h[6:])&fragment != 0 {
		kind = flowAlone
		if icmp { // it may be an error
			kind = flowHidden
		}
	} else if size := int(h[0]&15) * 4; icmp && len(h) >= size+8+20 && isICMPError(h[size]) {
		h = h[size+8:]
	}
	return pairKey(uint64(binary.LittleEndian.Uint32(h[12:])), uint64(binary.LittleEndian.Uint32(h[16:]))), kind
}

// isICMPError tells the messages that quote a packet.
func isICMPError(typ byte) bool {
	switch typ {
	case 3, 4, 5, 11, 12:
		return true
	}
	return false
}

// key6 is flowKey for IPv6 packets.
func key6(h []byte) (key uint64, kind flowKind) {
	if len(h) < 40 {
		return 0, flowKnown
	}
	protocol, at, fragment := upper6(h)
	switch {
	case at < 0:
		kind = flowHidden
	case fragment && protocol == packet.ProtoICMPv6:
		kind = flowHidden // it may be an error
	case fragment:
		kind = flowAlone
	case protocol == packet.ProtoICMPv6 && at < len(h):
		const redirect, firstQuery = 137, 128
		switch typ := h[at]; {
		case typ == redirect:
			kind = flowHidden // what it quotes lies further on
		case typ < firstQuery && len(h) >= at+8+40:
			h = h[at+8:]
		}
	}
	le := binary.LittleEndian
	return pairKey(le.Uint64(h[8:])^bits.RotateLeft64(le.Uint64(h[16:]), 32), le.Uint64(h[24:])^bits.RotateLeft64(le.Uint64(h[32:]), 32)), kind
}

// upper6 finds the protocol behind the extension headers, and where it starts;
// negative where the headers lead beyond what was captured.
func upper6(h []byte) (protocol uint8, at int, fragment bool) {
	protocol, at = h[6], 40
	for {
		size := 0
		switch protocol {
		case packet.ProtoHopByHop, packet.ProtoRouting, packet.ProtoDestOpts, packet.ProtoFragment, packet.ProtoAH:
		default:
			return protocol, at, fragment
		}
		if at+8 > len(h) {
			return 0, -1, false
		}
		switch protocol {
		case packet.ProtoFragment:
			size, fragment = 8, true
		case packet.ProtoAH:
			size = 4 * (int(h[at+1]) + 2)
		default:
			size = 8 * (int(h[at+1]) + 1)
		}
		protocol, at = h[at], at+size
	}
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
