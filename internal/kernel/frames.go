package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"verdict/engine"
	"verdict/packet"
)

// groupsTold are the Ethernet addresses of reports about the groups a host is
// in, and of its search for routers: what it sends of itself, at its own time.
// They are never forwarded.
var groupsTold = [][]byte{
	{0x33, 0x33, 0, 0, 0, 0x16}, {0x33, 0x33, 0, 0, 0, 2}, {1, 0, 0x5e, 0, 0, 0x16},
}

// chatter reports whether a frame is nobody's answer.
func chatter(frame []byte) bool {
	return len(frame) >= 6 && slices.ContainsFunc(groupsTold, func(mac []byte) bool { return bytes.Equal(frame[:6], mac) })
}

// leaving compares the frames that left, byte for byte besides what a host
// chooses freely. Each interface has an order of its own.
func (r *Result) leaving(o *engine.Outcome, frames []Frame, n int) {
	for _, name := range interfaceNames {
		var kernel, own []string
		for i := range frames {
			if f := &frames[i]; f.Interface == name && !chatter(f.Data) {
				kernel = append(kernel, frameLine(masked(f.Data)))
			}
		}
		for i := range o.Sent {
			if s := &o.Sent[i]; s.Device == name {
				own = append(own, frameLine(masked(s.Data)))
			}
		}
		if !slices.Equal(kernel, own) {
			r.differ(n, "frames that leave "+name, strings.Join(kernel, "\n    "), strings.Join(own, "\n    "))
		}
	}
}

// wipeStamps clears what timestamp options recorded.
func wipeStamps(options []byte) {
	const end, nop, stamps = 0, 1, 68
	for at := 0; at+1 < len(options) && options[at] != end; {
		if options[at] == nop {
			at++
			continue
		}
		n := int(options[at+1])
		if n < 2 || at+n > len(options) {
			return
		}
		if options[at] == stamps && n > 4 {
			clear(options[at+4 : at+n])
		}
		at += n
	}
}

// chosen compares what a packet left behind for which a port or id was drawn at
// random: the same but for that, and the kernel's lies within the bounds.
func (r *Result) chosen(o *engine.Outcome, frames []Frame, p *Injection, rules string, n int) {
	for _, name := range interfaceNames {
		var kernel, own [][]byte
		for i := range frames {
			if frames[i].Interface == name {
				kernel = append(kernel, masked(frames[i].Data))
			}
		}
		for i := range o.Sent {
			if o.Sent[i].Device == name {
				own = append(own, masked(o.Sent[i].Data))
			}
		}
		for i := range min(len(kernel), len(own)) {
			a, icmp := portOf(kernel[i])
			b, _ := portOf(own[i])
			before, _ := portOf(p.Data)
			if a != b && !icmp && !admitted(a, b, before, rules) {
				r.differ(n, "port drawn at random", fmt.Sprint(a), fmt.Sprintf("%d of %d", b, before))
			}
		}
	}
}

// portOf is the source port or the ICMP id, of which none is out of bounds, -1
// where there is none.
func portOf(frame []byte) (port int, icmp bool) {
	var v packet.View
	v.Decode(packet.LinkEthernet, frame, len(frame))
	at := v.ThOff
	switch v.L4Proto {
	case packet.ProtoICMP, packet.ProtoICMPv6:
		at, icmp = at+4, true
	case packet.ProtoTCP, packet.ProtoUDP, packet.ProtoSCTP:
	default:
		return -1, icmp
	}
	if at+2 > len(frame) {
		return -1, icmp
	}
	return int(binary.BigEndian.Uint16(frame[at:])), icmp
}

var portRange = regexp.MustCompile(`:(\d+)-(\d+)`)

// admitted reports whether a port may stand for another one that was drawn: a
// range of the rules holds both, or both are of the class of the port before.
// Ref: nf_nat_core.c, nf_nat_l4proto_unique_tuple.
func admitted(port, drawn, before int, rules string) bool {
	for _, m := range portRange.FindAllStringSubmatch(rules, -1) {
		low, _ := strconv.Atoi(m[1])
		high, _ := strconv.Atoi(m[2])
		if low <= port && port <= high && low <= drawn && drawn <= high {
			return true
		}
	}
	class := func(p int) int {
		switch {
		case p < 512:
			return 0
		case p < 1024:
			return 1
		}
		return 2
	}
	return class(port) == class(drawn) && (class(port) == class(before) || before < 0) && port > 0
}

func frameLine(data []byte) string { return fmt.Sprintf("%s hex %x", frameText(data), data) }

// masked is a copy of a frame without what a host chooses freely: the
// identification of IPv4 packets that it makes, of IPv6 fragments, and the time
// in timestamp replies and options, with the checksums over them.
func masked(frame []byte) []byte {
	var v packet.View
	v.Decode(packet.LinkEthernet, frame, len(frame))
	b := bytes.Clone(frame)
	wipe := func(from, to int) {
		if to <= len(b) {
			clear(b[from:to])
		}
	}
	const timestampReply = 14
	switch {
	case v.EtherType == packet.TypeIPv4:
		wipe(v.NetOff+4, v.NetOff+6)
		wipe(v.NetOff+10, v.NetOff+12)
		wipeStamps(b[min(v.NetOff+20, len(b)):max(min(v.NetOff+20, len(b)), min(v.ThOff, len(b)))])
		if v.L4Proto == packet.ProtoICMP && v.ThOff+20 <= len(b) && b[v.ThOff] == timestampReply {
			wipe(v.ThOff+2, v.ThOff+4)
			wipe(v.ThOff+12, v.ThOff+20)
		}
	case v.EtherType == packet.TypeIPv6 && v.NetOff+48 <= len(b) && b[v.NetOff+6] == packet.ProtoFragment:
		wipe(v.NetOff+44, v.NetOff+48)
	}
	return b
}
