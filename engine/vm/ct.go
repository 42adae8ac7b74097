package vm

import (
	"encoding/binary"

	"verdict/catalog"
	"verdict/conntrack"
)

// The conntrack keys, with the kernel's numbers.
// Ref: include/uapi/linux/netfilter/nf_tables.h, enum nft_ct_keys.
const (
	ctState = iota
	ctDirection
	ctStatus
	ctMark
	ctSecmark
	ctExpiration
	ctHelper
	ctL3proto
	ctSrc
	ctDst
	ctProtocol
	ctProtoSrc
	ctProtoDst
	ctLabels
	ctPkts
	ctBytes
	ctAvgpkt
	ctZone
	ctEventmask
	ctSrcIP
	ctDstIP
	ctSrcIP6
	ctDstIP6
	ctID
)

// noDirection stands in an instruction for a key without direction.
const noDirection = 2

// ct loads a conntrack key. Ref: nft_ct.c, nft_ct_get_eval.
func (m *Machine) ct(in *inst) outcome {
	at := m.pkt.CT
	if at.Unknown() {
		return outCut
	}
	if in.sub == ctState {
		m.put32(in.dst, at.State())
		return outNext
	}
	conn := at.Conn
	if conn == nil {
		return outBreak
	}
	direction := conntrack.Direction(in.off)
	switch in.sub {
	case ctDirection:
		m.put8(in.dst, uint8(at.Info.Direction()))
	case ctStatus:
		m.put32(in.dst, conn.Status)
	case ctMark:
		m.put32(in.dst, conn.Mark)
	case ctSecmark:
		m.put32(in.dst, conn.Secmark)
	case ctExpiration:
		m.put32(in.dst, uint32(conn.Remaining(m.Now)/1e6))
	case ctHelper:
		return m.ctHelper(in, conn)
	case ctLabels:
		copy(m.bytes(in.dst, 16), conn.Labels[:])
	case ctPkts, ctBytes, ctAvgpkt:
		m.put64(in.dst, ctCount(in.sub, conn, direction))
	case ctZone:
		id := conn.Zone.For(at.Info.Direction())
		if direction < noDirection {
			id = conn.Zone.For(direction)
		}
		m.put32(in.dst, uint32(id))
	case ctID:
		m.put32(in.dst, conn.ID)
	default:
		return m.ctTuple(in, &conn.Tuples[direction&1])
	}
	return outNext
}

// ctTuple loads parts of a connection's tuple.
func (m *Machine) ctTuple(in *inst, tuple *conntrack.Tuple) outcome {
	switch in.sub {
	case ctL3proto:
		m.put8(in.dst, uint8(tuple.Family))
	case ctProtocol:
		m.put8(in.dst, tuple.Protocol)
	case ctProtoSrc:
		m.put16net(in.dst, tuple.SrcPort)
	case ctProtoDst:
		m.put16net(in.dst, tuple.DstPort)
	case ctSrc:
		copy(m.bytes(in.dst, int(in.len)), tuple.Src[:])
	case ctDst:
		copy(m.bytes(in.dst, int(in.len)), tuple.Dst[:])
	case ctSrcIP, ctSrcIP6:
		return m.ctAddress(in, tuple, &tuple.Src, in.sub == ctSrcIP6)
	case ctDstIP, ctDstIP6:
		return m.ctAddress(in, tuple, &tuple.Dst, in.sub == ctDstIP6)
	default:
		return outBreak
	}
	return outNext
}

// ctAddress loads an address of a given family; the other family breaks.
func (m *Machine) ctAddress(in *inst, tuple *conntrack.Tuple, address *[16]byte, six bool) outcome {
	if (tuple.Family == catalog.FamilyIP6) != six {
		return outBreak
	}
	copy(m.bytes(in.dst, int(in.len)), address[:])
	return outNext
}

func (m *Machine) ctHelper(in *inst, conn *conntrack.Conn) outcome {
	if conn.Master == nil || conn.Master.Helper == "" {
		return outBreak
	}
	dst := m.bytes(in.dst, 16)
	clear(dst)
	copy(dst[:15], conn.Master.Helper)
	return outNext
}

// ctCount sums the accounting of one or both directions.
func ctCount(key uint8, conn *conntrack.Conn, direction conntrack.Direction) uint64 {
	packets, bytes := conn.Packets[0]+conn.Packets[1], conn.Bytes[0]+conn.Bytes[1]
	if direction < noDirection {
		packets, bytes = conn.Packets[direction], conn.Bytes[direction]
	}
	switch {
	case key == ctPkts:
		return packets
	case key == ctBytes:
		return bytes
	case packets == 0:
		return 0
	}
	return bytes / packets
}

// ctSet writes a conntrack key. Ref: nft_ct.c, nft_ct_set_eval.
func (m *Machine) ctSet(in *inst) outcome {
	at := m.pkt.CT
	if in.sub == ctZone {
		m.setZone(in)
		return outNext
	}
	conn := at.Conn
	if conn == nil {
		return outNext
	}
	switch in.sub {
	case ctMark:
		conn.Mark = m.get32(in.src)
	case ctSecmark:
		conn.Secmark = m.get32(in.src)
	case ctLabels:
		if !conn.HasLabels {
			return outNext
		}
		label := m.bytes(in.src, 16)
		for i := range conn.Labels {
			conn.Labels[i] |= label[i]
		}
	}
	return outNext
}

// setZone leaves a template on packets that are not tracked yet, which undoes
// notrack.
// Ref: nft_ct.c, nft_ct_set_zone_eval.
func (m *Machine) setZone(in *inst) {
	at := m.pkt.CT
	if at.Conn != nil || at.HasTemplate {
		return
	}
	at.HasTemplate, at.Info = true, conntrack.InfoNone
	at.TemplateZone = conntrack.Zone{ID: binary.LittleEndian.Uint16(m.bytes(in.src, 2))}
	if in.off < noDirection {
		at.TemplateZone.Directions = 1 << in.off
	}
}
