package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// kernelConnections reads the namespace's connection table, sorted, each entry
// as conntrack.Conn.AppendText gives it. The listing in /proc is not read: it
// walks the table of the whole machine without locks, and may not end.
// Ref: nf_conntrack_netlink.c, ctnetlink_dump_table.
func (s *socket) kernelConnections() ([]string, error) {
	const getConnections = 1<<8 | 1
	s.seq++
	b := binary.LittleEndian.AppendUint32(nil, 20)
	b = binary.LittleEndian.AppendUint16(b, getConnections)
	b = binary.LittleEndian.AppendUint16(b, 0x301) // request, dump
	b = binary.LittleEndian.AppendUint32(b, s.seq)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	if err := s.send(b); err != nil {
		return nil, err
	}
	var list []string
	for {
		frames, err := s.receive(0)
		if err != nil {
			return nil, fmt.Errorf("dump connections: %w", err)
		}
		for _, f := range frames {
			switch {
			case f.seq != s.seq:
			case f.typ == netlinkDone:
				slices.Sort(list)
				return list, nil
			case f.typ == netlinkError:
				errno, err := refusal(f)
				return nil, errors.Join(err, errno)
			case len(f.body) >= 4:
				list = append(list, connectionText(f.body[0], attributes(f.body[4:])))
			}
		}
	}
}

// attributes cuts netlink attributes; those nested are cut when they are read.
func attributes(b []byte) map[uint16][]byte {
	list := map[uint16][]byte{}
	for len(b) >= 4 {
		size := int(binary.LittleEndian.Uint16(b))
		if size < 4 || size > len(b) {
			break
		}
		list[binary.LittleEndian.Uint16(b[2:])&0x3fff] = b[4:size]
		b = b[min((size+3)&^3, len(b)):]
	}
	return list
}

// bigEndian reads a number of any width, 0 where there is none.
func bigEndian(b []byte) (v uint64) {
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v
}

// Attributes of connections.
// Ref: include/uapi/linux/netfilter/nfnetlink_conntrack.h.
const (
	ctTupleOrig, ctTupleReply       = 1, 2
	ctStatus, ctProtoInfo, ctMark   = 3, 4, 8
	ctCountersOrig, ctCountersReply = 9, 10
	ctZone                          = 18
	ctTupleIP, ctTupleProto         = 1, 2
	ctTupleZone                     = 3
)

// protocols with a tracker of their own, and the names of their states.
var trackers = map[uint64]struct {
	name   string
	info   uint16 // attribute of their state
	states []string
}{
	1: {name: "icmp"}, 17: {name: "udp"}, 47: {name: "gre"}, 58: {name: "icmpv6"}, 136: {name: "udplite"},
	6:   {"tcp", 1, []string{"NONE", "SYN_SENT", "SYN_RECV", "ESTABLISHED", "FIN_WAIT", "CLOSE_WAIT", "LAST_ACK", "TIME_WAIT", "CLOSE", "SYN_SENT2"}},
	132: {"sctp", 3, []string{"NONE", "CLOSED", "COOKIE_WAIT", "COOKIE_ECHOED", "ESTABLISHED", "SHUTDOWN_SENT", "SHUTDOWN_RECD", "SHUTDOWN_ACK_SENT", "HEARTBEAT_SENT", "HEARTBEAT_ACKED"}},
}

// connectionText is an entry as listings show it.
func connectionText(family byte, a map[uint16][]byte) string {
	const seenReply, assured = 1 << 1, 1 << 2
	orig, reply := attributes(a[ctTupleOrig]), attributes(a[ctTupleReply])
	protocol := bigEndian(attributes(orig[ctTupleProto])[1])
	tracker, known := trackers[protocol]
	if !known {
		tracker.name = "unknown"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %s %d ", map[byte]string{2: "ipv4", 10: "ipv6"}[family], family, tracker.name, protocol)
	if state := attributes(attributes(a[ctProtoInfo])[tracker.info])[1]; len(tracker.states) > 0 && len(state) == 1 && int(state[0]) < len(tracker.states) {
		b.WriteString(tracker.states[state[0]] + " ")
	}
	if tracker.name == "gre" {
		b.WriteString("timeout=30, stream_timeout=180 ")
	}
	status := bigEndian(a[ctStatus])
	b.WriteString(directionText(orig, a[ctCountersOrig], protocol, "orig"))
	if status&seenReply == 0 {
		b.WriteString("[UNREPLIED] ")
	}
	b.WriteString(directionText(reply, a[ctCountersReply], protocol, "reply"))
	if status&assured != 0 {
		b.WriteString("[ASSURED] ")
	}
	fmt.Fprintf(&b, "mark=%d", bigEndian(a[ctMark]))
	if orig[ctTupleZone] == nil && reply[ctTupleZone] == nil {
		fmt.Fprintf(&b, " zone=%d", bigEndian(a[ctZone]))
	}
	return b.String()
}

// directionText is one direction's tuple with its zone and counters.
func directionText(tuple map[uint16][]byte, counters []byte, protocol uint64, direction string) string {
	ip, proto, count := attributes(tuple[ctTupleIP]), attributes(tuple[ctTupleProto]), attributes(counters)
	address := func(v4, v6 uint16) string {
		if a, ok := netip.AddrFromSlice(ip[v4]); ok {
			return a.String()
		}
		a, _ := netip.AddrFromSlice(ip[v6])
		return a.StringExpanded()
	}
	text := fmt.Sprintf("src=%s dst=%s", address(1, 3), address(2, 4))
	switch protocol {
	case 6, 17, 132, 136:
		text += fmt.Sprintf(" sport=%d dport=%d", bigEndian(proto[2]), bigEndian(proto[3]))
	case 47:
		text += fmt.Sprintf(" srckey=0x%x dstkey=0x%x", bigEndian(proto[2]), bigEndian(proto[3]))
	case 1:
		text += fmt.Sprintf(" type=%d code=%d id=%d", bigEndian(proto[5]), bigEndian(proto[6]), bigEndian(proto[4]))
	case 58:
		text += fmt.Sprintf(" type=%d code=%d id=%d", bigEndian(proto[8]), bigEndian(proto[9]), bigEndian(proto[7]))
	}
	if zone := tuple[ctTupleZone]; zone != nil {
		text += fmt.Sprintf(" zone-%s=%d", direction, bigEndian(zone))
	}
	return text + fmt.Sprintf(" packets=%d bytes=%d ", bigEndian(count[1]), bigEndian(count[2]))
}
