package vm

import (
	"time"

	"verdict/catalog"
	"verdict/packet"
)

// The meta keys, with the kernel's numbers.
// Ref: include/uapi/linux/netfilter/nf_tables.h, enum nft_meta_keys.
const (
	metaLen = iota
	metaProtocol
	metaPriority
	metaMark
	metaIif
	metaOif
	metaIifname
	metaOifname
	metaIiftype
	metaOiftype
	metaSkuid
	metaSkgid
	metaNftrace
	metaRtclassid
	metaSecmark
	metaNfproto
	metaL4proto
	metaBriIifname
	metaBriOifname
	metaPkttype
	metaCPU
	metaIifgroup
	metaOifgroup
	metaCgroup
	metaPrandom
	metaSecpath
	metaIifkind
	metaOifkind
	metaBriIifpvid
	metaBriIifvproto
	metaTimeNS
	metaTimeDay
	metaTimeHour
	metaSdif
	metaSdifname
	metaBriBroute
	metaInternalIiftype
	metaBriIifhwaddr
)

const secondsPerDay = 86400

// meta loads a meta key. Ref: nft_meta.c, nft_meta_get_eval.
func (m *Machine) meta(in *inst) outcome {
	meta, view := m.pkt.Meta, m.pkt.View
	switch in.sub {
	case metaLen:
		m.put32(in.dst, uint32(m.pkt.Length))
	case metaProtocol:
		m.put16net(in.dst, view.EtherType)
	case metaPriority:
		m.put32(in.dst, meta.Priority)
	case metaMark:
		m.put32(in.dst, meta.Mark)
	case metaIif:
		m.put32(in.dst, meta.IIF.Index)
	case metaOif:
		m.put32(in.dst, meta.OIF.Index)
	case metaIifname:
		m.putName(in.dst, meta.IIF.Name)
	case metaOifname:
		m.putName(in.dst, meta.OIF.Name)
	case metaNfproto:
		m.put8(in.dst, uint8(m.pkt.Family))
	case metaL4proto:
		if !view.L4OK {
			return m.noTransport()
		}
		m.put8(in.dst, view.L4Proto)
	case metaPkttype:
		return m.metaPktType(in)
	case metaCPU:
		m.put32(in.dst, m.CPU)
	case metaPrandom:
		m.put32(in.dst, m.Rand.Uint32())
	case metaSecpath:
		m.put8(in.dst, flag(meta.SecPath))
	case metaTimeNS, metaTimeDay, metaTimeHour:
		m.metaTime(in)
	case metaSdif:
		m.put32(in.dst, meta.SDIF)
	case metaSdifname:
		m.putName(in.dst, meta.SDIFName)
	case metaSecmark:
		m.put32(in.dst, meta.Secmark)
	default:
		return m.metaOptional(in)
	}
	return outNext
}

// noTransport is the outcome where the transport protocol is not known.
func (m *Machine) noTransport() outcome {
	if m.pkt.View.L4Cut {
		return outCut
	}
	return outBreak
}

// holder is the device that holds the packet: the outgoing one from
// postrouting on, of packets made on their device from output on, in bridges
// from forward or output on. Only iiftype looks at it.
// Ref: nft_meta.c, NFT_META_IIFTYPE.
func (m *Machine) holder() *packet.Device {
	p := m.pkt
	switch {
	case p.HookFamily == catalog.FamilyNetdev && p.Hook == catalog.HookNetdevEgress,
		p.HookFamily == catalog.FamilyBridge && p.Hook >= catalog.HookForward,
		p.HookFamily != catalog.FamilyNetdev && p.HookFamily != catalog.FamilyARP && (p.Hook == catalog.HookPostrouting || p.Hook == catalog.HookOutput && p.OnDevice):
		return &p.Meta.OIF
	}
	return &p.Meta.IIF
}

// metaOptional loads keys that break the rule where the fact is missing.
func (m *Machine) metaOptional(in *inst) outcome {
	meta := m.pkt.Meta
	switch in.sub {
	case metaIiftype:
		return m.deviceType(in.dst, m.holder())
	case metaInternalIiftype:
		return m.deviceType(in.dst, &meta.IIF)
	case metaOiftype:
		return m.deviceType(in.dst, &meta.OIF)
	case metaIifgroup:
		return m.optional32(in.dst, meta.IIF.Group, meta.IIF.Exists())
	case metaOifgroup:
		return m.optional32(in.dst, meta.OIF.Group, meta.OIF.Exists())
	case metaIifkind:
		return m.optionalName(in.dst, meta.IIF.Kind)
	case metaOifkind:
		return m.optionalName(in.dst, meta.OIF.Kind)
	case metaBriIifname:
		return m.optionalName(in.dst, meta.BridgeIn)
	case metaBriOifname:
		return m.optionalName(in.dst, meta.BridgeOut)
	case metaSkuid:
		return m.optional32(in.dst, meta.SKUID, meta.Has&packet.HasSKUID != 0)
	case metaSkgid:
		return m.optional32(in.dst, meta.SKGID, meta.Has&packet.HasSKGID != 0)
	case metaCgroup:
		return m.optional32(in.dst, meta.CGroup, meta.Has&packet.HasCGroup != 0)
	case metaRtclassid:
		return m.optional32(in.dst, meta.RtClassID, meta.Has&packet.HasRtClassID != 0)
	case metaBriIifpvid:
		return m.optional32(in.dst, uint32(meta.BridgePVID), meta.Has&packet.HasPVID != 0)
	case metaBriIifvproto:
		if meta.Has&packet.HasPVID == 0 {
			return outBreak
		}
		m.put16net(in.dst, meta.BridgeVLANProto)
		return outNext
	case metaBriIifhwaddr:
		if meta.BridgeIn == (packet.Name{}) {
			return outBreak
		}
		copy(m.bytes(in.dst, 6), meta.BridgeHWAddr[:])
		m.zeroTail(in.dst, 6)
		return outNext
	}
	return outBreak
}

func (m *Machine) deviceType(dst uint8, d *packet.Device) outcome {
	return m.optional32(dst, uint32(d.Type), d.Exists())
}

func (m *Machine) optional32(dst uint8, value uint32, there bool) outcome {
	if !there {
		return outBreak
	}
	m.put32(dst, value)
	return outNext
}

func (m *Machine) optionalName(dst uint8, name packet.Name) outcome {
	if name[0] == 0 {
		return outBreak
	}
	m.putName(dst, name)
	return outNext
}

func (m *Machine) putName(dst uint8, name packet.Name) {
	copy(m.bytes(dst, len(name)), name[:])
}

// metaPktType loads the packet type; that of a looped packet is derived from
// its destination. Ref: nft_meta.c, nft_meta_get_eval_pkttype_lo.
func (m *Machine) metaPktType(in *inst) outcome {
	kind := m.pkt.Meta.PktType
	if kind == packet.PktUnicast {
		kind = packet.PktHost
	}
	if kind == packet.PktLoopback {
		view := m.pkt.View
		switch view.EtherType {
		case packet.TypeIPv4:
			first, ok := view.Load8(view.NetOff + 16)
			if !ok {
				return outCut
			}
			kind = packet.PktBroadcast
			if first&0xf0 == 0xe0 {
				kind = packet.PktMulticast
			}
		case packet.TypeIPv6:
			kind = packet.PktMulticast
		default:
			return outBreak
		}
	}
	m.put8(in.dst, uint8(kind))
	return outNext
}

// metaTime loads the packet's time: since the epoch, the weekday in the
// host's zone, or the second of the UTC day.
func (m *Machine) metaTime(in *inst) {
	now := m.Now
	seconds := now / nanosecond
	switch in.sub {
	case metaTimeNS:
		m.put64(in.dst, uint64(now))
	case metaTimeDay:
		local := seconds + int64(m.ZoneOffset)
		const thursday = int64(time.Thursday) // the epoch's weekday
		days := floorDiv(local, secondsPerDay)
		m.put8(in.dst, uint8(((days+thursday)%7+7)%7))
	default:
		m.put32(in.dst, uint32(seconds-floorDiv(seconds, secondsPerDay)*secondsPerDay))
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// metaSet writes a meta key. Ref: nft_meta.c, nft_meta_set_eval.
func (m *Machine) metaSet(in *inst) outcome {
	meta := m.pkt.Meta
	value := m.get32(in.src)
	switch in.sub {
	case metaMark:
		meta.Mark = value
	case metaPriority:
		meta.Priority = value
	case metaPkttype:
		if kind := packet.PktType(value); meta.PktType != kind && settablePktType(kind) && settablePktType(meta.PktType) {
			meta.PktType = kind
		}
	case metaNftrace:
		meta.NFTrace = value&0xff != 0
	case metaSecmark:
		meta.Secmark = value
	case metaBriBroute:
		meta.BRoute = value&0xff != 0
	}
	return outNext
}

// settablePktType tells which packet types rules may set and replace.
// Ref: include/linux/skbuff.h, skb_pkt_type_ok.
func settablePktType(kind packet.PktType) bool {
	return kind <= packet.PktOtherHost || kind == packet.PktUnicast
}
