package build

import (
	"fmt"
	"net/netip"
	"strings"

	"verdict/packet"
)

// Summary prints a packet in one short line, like tcpdump:
//
//	IP 10.0.0.1.4000 > 10.0.0.2.22: tcp S len 0
func Summary(v *packet.View) string {
	var b strings.Builder
	for i := range v.NumVLAN {
		fmt.Fprintf(&b, "vlan %d ", v.VLANTCI[i]&0xfff)
	}
	switch {
	case v.EtherType == packet.TypeARP:
		arpSummary(&b, v)
	case v.Validity == packet.Valid:
		ipSummary(&b, v)
	case v.Validity != packet.NotIP:
		fmt.Fprintf(&b, "%s %s, len %d", ipName(v), v.Validity, v.NetLen)
	case v.EtherType != 0:
		fmt.Fprintf(&b, "ethertype 0x%04x len %d", v.EtherType, v.NetLen)
	default:
		fmt.Fprintf(&b, "%v len %d", v.Link, v.OrigLen)
	}
	return b.String()
}

func ipName(v *packet.View) string {
	if v.EtherType == packet.TypeIPv6 {
		return "IP6"
	}
	return "IP"
}

func arpSummary(b *strings.Builder, v *packet.View) {
	var h [28]byte
	if v.Load(packet.BaseNetwork, 0, len(h), h[:]) != packet.OK {
		fmt.Fprintf(b, "ARP len %d", v.NetLen)
		return
	}
	src, dst := netip.AddrFrom4([4]byte(h[14:18])), netip.AddrFrom4([4]byte(h[24:28]))
	switch operation := uint64(h[6])<<8 | uint64(h[7]); operation {
	case 1:
		fmt.Fprintf(b, "ARP who-has %v tell %v", dst, src)
	case 2:
		fmt.Fprintf(b, "ARP %v is-at %s", src, etherHeader.fields[0].format(h[8:]))
	default:
		name, ok := arpOperations.name(operation)
		if !ok {
			name = fmt.Sprint("operation ", operation)
		}
		fmt.Fprintf(b, "ARP %s %v > %v", name, src, dst)
	}
}

func ipSummary(b *strings.Builder, v *packet.View) {
	b.WriteString(ipName(v))
	src, dst, ports := v.Ports()
	if ports {
		fmt.Fprintf(b, " %v.%d > %v.%d:", v.SrcAddr(), src, v.DstAddr(), dst)
	} else {
		fmt.Fprintf(b, " %v > %v:", v.SrcAddr(), v.DstAddr())
	}
	if !v.L4OK {
		fmt.Fprintf(b, " len %d", v.NetLen)
		return
	}
	name, ok := protocols.name(uint64(v.L4Proto))
	if !ok {
		name = fmt.Sprint("proto ", v.L4Proto)
	}
	if v.L4Proto == packet.ProtoICMPv6 {
		name = "icmp6"
	}
	b.WriteString(" " + name)
	if v.FragOff == 0 {
		transportSummary(b, v)
	} else {
		fmt.Fprintf(b, " len %d", v.TransportLen())
	}
	if v.FragOff != 0 || v.MoreFragments {
		fmt.Fprintf(b, " frag %d", int(v.FragOff)*8)
		if v.MoreFragments {
			b.WriteString("+")
		}
	}
}

// transportSummary prints flags or type, and the length of the data.
func transportSummary(b *strings.Builder, v *packet.View) {
	switch v.L4Proto {
	case packet.ProtoTCP:
		n, result := v.TCPHeaderLen()
		if result == packet.Break {
			break
		}
		if f, ok := v.Load8(v.ThOff + 13); ok {
			fmt.Fprintf(b, " %s", tcpLetters(f))
		}
		fmt.Fprintf(b, " len %d", v.TransportLen()-n)
		return
	case packet.ProtoUDP, packet.ProtoUDPLite:
		fmt.Fprintf(b, " len %d", max(0, v.TransportLen()-8))
		return
	case packet.ProtoICMP:
		icmpSummary(b, v, icmpTypes)
	case packet.ProtoICMPv6:
		icmpSummary(b, v, icmpv6Types)
	}
	fmt.Fprintf(b, " len %d", v.TransportLen())
}

// tcpLetters writes the flags as tcpdump does; "none" if there is none.
func tcpLetters(f byte) string {
	out := ""
	for _, e := range []struct {
		bit    byte
		letter string
	}{{2, "S"}, {1, "F"}, {4, "R"}, {8, "P"}, {16, "."}, {32, "U"}, {64, "E"}, {128, "W"}} {
		if f&e.bit != 0 {
			out += e.letter
		}
	}
	if out == "" {
		return "none"
	}
	return out
}

func icmpSummary(b *strings.Builder, v *packet.View, types symbols) {
	var h [8]byte
	if v.Load(packet.BaseTransport, 0, 8, h[:]) != packet.OK {
		return
	}
	name, ok := types.name(uint64(h[0]))
	if !ok {
		name = fmt.Sprint("type ", h[0])
	}
	b.WriteString(" " + name)
	if h[1] != 0 {
		fmt.Fprintf(b, " code %d", h[1])
	}
	if packet.HasICMPID(v.L4Proto, h[0]) {
		fmt.Fprintf(b, " id %d seq %d", int(h[4])<<8|int(h[5]), int(h[6])<<8|int(h[7]))
	}
}
