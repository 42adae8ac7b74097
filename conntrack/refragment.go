package conntrack

import (
	"encoding/binary"

	"verdict/packet"
)

// minMTU6 is what every IPv6 link carries. Ref: RFC 8200 §5.
const minMTU6 = 1280

// Leaves says how a reassembled datagram leaves the host.
type Leaves uint8

const (
	// LeavesWhole: it fits, and nothing says that it must be cut.
	LeavesWhole Leaves = iota
	// LeavesCut: in pieces.
	LeavesCut
	// LeavesNot: it is dropped, and its sender told the MTU.
	LeavesNot
)

// Split cuts a reassembled datagram again, as the host does when it sends it by
// a device with an MTU. Pieces are whole frames: the link header of the view is
// repeated. They are as they came if each still fits, else of equal size. IPv6
// gives the datagram a new identification, id. A datagram that was not captured
// whole is returned in one piece.
// Ref: ip_output.c, ip_do_fragment; ip6_output.c, ip6_fragment.
func (r *Reassembly) Split(v *packet.View, mtu int, id uint32) ([][]byte, Leaves) {
	if v.End > len(v.Data) {
		return [][]byte{v.Data}, LeavesWhole
	}
	if v.EtherType == packet.TypeIPv6 {
		return r.split6(v, mtu, id)
	}
	return r.split4(v, mtu)
}

func (r *Reassembly) split4(v *packet.View, mtu int) ([][]byte, Leaves) {
	if r.DF && r.MaxSize > mtu {
		return nil, LeavesNot
	}
	headerLen := v.ThOff - v.NetOff
	room := min(mtu, r.MaxSize) - headerLen
	sizes, same := r.pieces(v.End-v.ThOff, room, v.L4Proto)
	if sizes == nil {
		return nil, LeavesNot
	}
	var frames [][]byte
	at := v.ThOff
	for i, size := range sizes {
		frame := make([]byte, 0, v.ThOff+size)
		frame = append(append(frame, v.Data[:v.ThOff]...), v.Data[at:at+size]...)
		h := frame[v.NetOff:]
		field := uint16(at-v.ThOff) / 8
		if i < len(sizes)-1 {
			field |= 0x2000
		}
		if r.DF && !same {
			field |= 0x4000
		}
		binary.BigEndian.PutUint16(h[2:], uint16(headerLen+size))
		binary.BigEndian.PutUint16(h[6:], field)
		if i > 0 {
			skipOptions(h[20:headerLen])
		}
		binary.BigEndian.PutUint16(h[10:], packet.IPv4HeaderChecksum(h[:headerLen]))
		frames = append(frames, frame)
		at += size
	}
	return frames, LeavesCut
}

// skipOptions overwrites the options that only the first fragment carries.
// Ref: ip_options.c, ip_options_fragment; RFC 791 §3.1.
func skipOptions(options []byte) {
	for len(options) > 0 {
		switch options[0] {
		case 0:
			return
		case 1:
			options = options[1:]
			continue
		}
		if len(options) < 2 || options[1] < 2 || int(options[1]) > len(options) {
			return
		}
		option := options[:options[1]]
		options = options[options[1]:]
		if option[0]&0x80 == 0 {
			for i := range option {
				option[i] = 1
			}
		}
	}
}

// pieces chooses the sizes of the pieces of a payload: as they came if all fit
// and add up, else as much as fits. same tells the former; nil is no room. A TCP
// header that came in several pieces was joined by the host's look for a socket,
// with which the boundaries are lost.
// Ref: ip_input.c, ip_rcv_finish_core; tcp_ipv4.c, tcp_v4_early_demux.
func (r *Reassembly) pieces(payload, room int, protocol uint8) (sizes []int, same bool) {
	const tcpHeader = 20
	same = len(r.Sizes) > 0 && (protocol != packet.ProtoTCP || r.Sizes[0] >= tcpHeader)
	sum := 0
	for i, size := range r.Sizes {
		sum += size
		same = same && size <= room && (size&7 == 0 || i == len(r.Sizes)-1)
	}
	if same && sum == payload {
		return r.Sizes, true
	}
	full := room &^ 7
	if full < 8 {
		return nil, false
	}
	for payload > 0 {
		size := payload
		if size > room {
			size = full
		}
		sizes = append(sizes, size)
		payload -= size
	}
	return sizes, false
}

func (r *Reassembly) split6(v *packet.View, mtu int, id uint32) ([][]byte, Leaves) {
	if v.NetLen <= mtu && v.NetLen <= r.MaxSize {
		return [][]byte{v.Data}, LeavesWhole
	}
	if r.MaxSize > mtu {
		return nil, LeavesNot
	}
	field, at := unfragmentable(v.Data, v.NetOff)
	const fragmentHeader = 8
	headerLen := at - v.NetOff
	sizes, _ := r.pieces(v.End-at, max(r.MaxSize, minMTU6)-headerLen-fragmentHeader, v.L4Proto)
	if sizes == nil {
		return nil, LeavesNot
	}
	next := v.Data[field]
	var frames [][]byte
	for i, from := 0, at; i < len(sizes); i++ {
		size := sizes[i]
		frame := make([]byte, 0, at+fragmentHeader+size)
		frame = append(frame, v.Data[:at]...)
		frame[field] = packet.ProtoFragment
		offset := uint16(from - at)
		if i < len(sizes)-1 {
			offset |= 1
		}
		frame = append(frame, next, 0)
		frame = binary.BigEndian.AppendUint16(frame, offset)
		frame = binary.BigEndian.AppendUint32(frame, id)
		frame = append(frame, v.Data[from:from+size]...)
		binary.BigEndian.PutUint16(frame[v.NetOff+4:], uint16(headerLen-40+fragmentHeader+size))
		frames = append(frames, frame)
		from += size
	}
	return frames, LeavesCut
}

// unfragmentable finds where the headers that every fragment repeats end, and
// the field that names what follows.
// Ref: ip6_output_core.c, ip6_find_1stfragopt; RFC 8200 §4.5.
func unfragmentable(data []byte, network int) (field, end int) {
	field, end = network+6, network+40
	routing := false
	for {
		switch data[field] {
		case packet.ProtoHopByHop:
		case packet.ProtoRouting:
			routing = true
		case packet.ProtoDestOpts:
			if routing {
				return field, end
			}
		default:
			return field, end
		}
		if end+2 > len(data) {
			return field, end
		}
		field, end = end, end+8+8*int(data[end+1])
	}
}
