package tc

import (
	"testing"
)

// FuzzCommand feeds lines to the language: nothing may panic, and what was
// accepted can be listed in every form and taken away.
func FuzzCommand(f *testing.F) {
	for _, l := range []string{
		"filter add dev eth0 ingress protocol ip flower ip_proto tcp dst_port 1-1000 ct_state +trk-new action ct commit zone 2 nat src addr 1.2.3.4",
		"filter add dev eth0 ingress protocol 802.1q flower vlan_id 5 vlan_ethtype ip action vlan pop pipe action pedit ex munge ip6 dst set ::1",
		"filter add dev eth0 egress u32 match ip src 10.0.0.0/8 match u8 6 ff at nexthdr+9 link 2: hashkey mask 0xff at 12 offset at 0 mask 0f00 shift 6 eat",
		"filter add dev eth0 ingress handle 2: u32 divisor 16",
		"filter add dev eth0 ingress basic match 'not cmp(u16 at 2 layer 2 mask 0xff trans eq 80) and (meta(fwmark shift 2 gt 7) or nbyte(\"x\" at 0 layer link))'",
		"actions add action police rate 1kbit burst 10k conform-exceed drop/goto chain 2",
		"chain add dev eth0 ingress chain 4 protocol mpls_uc flower mpls lse depth 2 label 5",
		"filter replace dev eth0 parent 1: handle 5/0xff fw classid 1:1 action sample rate 5 group 2",
		"filter add dev eth0 ingress flow map key src,dst rshift 3 divisor 7", "filter add dev eth0 ingress handle 1 bpf bytecode '1,6 0 0 1'",
		"qdisc add dev eth1 root handle 1: prio bands 4 priomap 1 2 3", "class add dev eth1 parent 1: classid 1:5 drr quantum 1k",
	} {
		f.Add(l)
	}
	f.Fuzz(func(t *testing.T, line string) {
		s := newWorld(t, Config{AssumeDevices: true})
		do(t, s, "qdisc add dev eth0 clsact")
		s.Line(line, Options{})
		for _, o := range []Options{{}, {JSON: true}, {Stats: true, JSON: true, Pretty: true}, {Pretty: true}, {OneLine: true, Old: true}, {Brief: true}} {
			for _, l := range []string{"filter show dev eth0 ingress", "filter show dev eth0 egress", "chain show dev eth0 ingress", "qdisc show", "class show dev eth0", "actions ls action police"} {
				s.Line(l, o)
			}
		}
		s.Explain()
		var p Packet
		if p.Load(frame(t, udpFrame), true) {
			s.Receive(s.Device("eth0"), &p)
		}
		do(t, s, "qdisc del dev eth0 clsact")
	})
}

// FuzzPacket feeds frames to a set of filters that use every classifier and
// action that writes.
func FuzzPacket(f *testing.F) {
	f.Add(frame(f, udpFrame), true, uint8(0))
	f.Add(frame(f, "02000000000102aa0000000188a8000a8100000b86dd60000000000c3a40fe800000000000000000000000000001ff0200000000000000000000000000013a00000000000000"), true, uint8(3))
	f.Add(frame(f, "02000000000102aa00000001884700064f408100000a"), false, uint8(7))
	actions := []string{
		"vlan pop pipe action vlan pop pipe action vlan push id 5", "vlan push id 5 pipe action vlan push id 6 protocol 802.1ad pipe action vlan modify id 7",
		"mpls push label 5 pipe action mpls dec_ttl pipe action mpls pop protocol ip", "mpls mac_push label 9 pipe action vlan push id 3",
		"vlan pop_eth pipe action vlan push_eth dst_mac 02:00:00:00:00:01 src_mac 02:00:00:00:00:02", "csum SWEETS pipe action nat egress 10.0.0.0/8 1.2.3.4",
		"pedit ex munge ip ttl add 1 munge tcp dport set 5 munge ip6 dst set ::1 munge eth src set 02:00:00:00:00:09 pipe", "ct commit nat dst addr 1.2.3.4 pipe action ct clear",
		"skbmod swap mac pipe action skbmod ecn pipe action skbedit inheritdsfield", "mirred ingress mirror dev eth1 pipe action mirred egress redirect dev eth1",
	}
	f.Fuzz(func(t *testing.T, b []byte, ingress bool, which uint8) {
		s := newWorld(t, Config{})
		a := actions[int(which)%len(actions)]
		do(t, s, "qdisc add dev eth0 clsact", "qdisc add dev eth1 clsact")
		for _, dir := range []string{"ingress", "egress"} {
			do(t, s, "filter add dev eth0 "+dir+" pref 1 u32 match u8 0 0 at 40 action continue",
				"filter add dev eth0 "+dir+" pref 2 matchall action "+a+" continue",
				"filter add dev eth0 "+dir+" pref 3 flower num_of_vlans 1 action "+a,
				"filter add dev eth1 "+dir+" protocol ip flower ip_proto tcp dst_port 1-9 action drop")
		}
		var p Packet
		if !p.Load(b, ingress) {
			return
		}
		if ingress {
			s.Receive(s.Device("eth0"), &p)
		} else {
			s.Transmit(s.Device("eth0"), &p)
		}
		if n := len(p.Frame()); n > len(b)+64 {
			t.Errorf("a frame of %d bytes grew to %d", len(b), n)
		}
	})
}
