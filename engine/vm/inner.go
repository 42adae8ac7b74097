package vm

import (
	"encoding/binary"

	"verdict/nft/expr"
	"verdict/packet"
)

// innerRef is a linked inner expression.
type innerRef struct {
	kind, header, flags uint32
	load                inst // what runs on the inner packet
	meta                bool
}

// The flags and kinds of inner expressions.
// Ref: include/uapi/linux/netfilter/nf_tables.h, enum nft_inner_type.
const (
	innerFlagHeaderSize = 1
	innerFlagLink       = 2
	innerKindVXLAN      = 1
	innerKindGeneve     = 2
)

func (l *linker) inner(x *expr.Inner) error {
	ref := &innerRef{kind: x.Type, header: x.HdrSize, flags: x.Flags}
	in := inst{op: opInner}
	switch e := x.Expr.(type) {
	case *expr.Payload:
		ref.load = inst{op: opPayload, sub: uint8(e.Base), off: e.Offset, len: uint8(e.Len), dst: reg(e.Dst)}
		in.dst = reg(e.Dst)
	case *expr.Meta:
		ref.meta = true
		ref.load = inst{op: opMeta, sub: uint8(e.Key.Number), dst: reg(e.Dst)}
	default:
		return l.unsupported("inner " + x.Expr.Kind() + " expression")
	}
	l.program.inners = append(l.program.inners, ref)
	in.ref = uint32(len(l.program.inners) - 1)
	return l.emit(in)
}

// baseTunnel is the payload base of the tunnel header itself.
const baseTunnel = 4

// inner runs a load on the packet inside a tunnel.
// Ref: nft_inner.c, nft_inner_eval.
func (m *Machine) inner(in *inst) outcome {
	ref := m.prog.inners[in.ref]
	view := m.pkt.View
	if view.L4Cut {
		return outCut
	}
	tunnel, ok := view.InnerOff()
	if !ok || ((ref.kind == innerKindVXLAN || ref.kind == innerKindGeneve) && view.L4Proto != packet.ProtoUDP) {
		return outBreak
	}
	if !ref.meta && ref.load.sub == baseTunnel {
		return m.loadAt(tunnel+int(ref.load.off), int(ref.load.len), &ref.load)
	}
	if result := m.enterTunnel(ref, tunnel); result != outNext {
		return result
	}
	return m.innerLoad(ref)
}

// enterTunnel decodes the inner packet into m.inside.
// Ref: nft_inner.c, nft_inner_parse.
func (m *Machine) enterTunnel(ref *innerRef, tunnel int) outcome {
	view := m.pkt.View
	start := tunnel
	if ref.flags&innerFlagHeaderSize != 0 {
		start += int(ref.header)
	}
	if ref.kind == innerKindGeneve {
		options, ok := view.Load8(tunnel)
		if !ok {
			return m.missing(tunnel)
		}
		start += int(options&0x3f) * 4
	}
	if start > len(view.Packet()) {
		return m.missing(start)
	}
	link := packet.LinkEthernet
	if ref.flags&innerFlagLink == 0 {
		link = packet.LinkRaw
		if !m.innerIsIP(tunnel) {
			return outBreak
		}
	}
	m.inside.Decode(link, view.Packet()[start:], view.End-start)
	return outNext
}

// innerIsIP tells whether a GRE header announces an IP packet, whose version
// then says which.
func (m *Machine) innerIsIP(tunnel int) bool {
	view := m.pkt.View
	if view.L4Proto != packet.ProtoGRE {
		return true
	}
	raw, ok := view.Load16(view.ThOff + 2)
	if !ok {
		return false
	}
	var b [2]byte
	binary.LittleEndian.PutUint16(b[:], raw)
	kind := binary.BigEndian.Uint16(b[:])
	return kind == packet.TypeIPv4 || kind == packet.TypeIPv6
}

// missing is the outcome of reading at an offset that is not there.
func (m *Machine) missing(at int) outcome {
	if at < m.pkt.View.End {
		return outCut
	}
	return outBreak
}

func (m *Machine) innerLoad(ref *innerRef) outcome {
	inside, in := &m.inside, &ref.load
	if ref.meta {
		switch in.sub {
		case metaProtocol:
			m.put16net(in.dst, inside.EtherType)
			return outNext
		case metaL4proto:
			if !inside.L4OK {
				return outBreak
			}
			m.put8(in.dst, inside.L4Proto)
			return outNext
		}
		return outBreak
	}
	n := int(in.len)
	switch inside.Load(packet.Base(in.sub), int(in.off), n, m.bytes(in.dst, n)) {
	case packet.OK:
		m.zeroTail(in.dst, n)
		return outNext
	case packet.Cut:
		return outCut
	}
	return outBreak
}
