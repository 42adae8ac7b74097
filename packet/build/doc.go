// Package build makes packets from text and text from packets.
//
// The text uses nft's own names, as a rule that matches the packet would:
//
//	ip saddr 10.0.0.1 ip daddr 10.0.0.2 tcp sport 4000 tcp dport 22 tcp flags syn
//	vlan id 5 ip6 saddr fd00::1 icmpv6 type echo-request
//	arp operation request arp daddr ip 10.0.0.1
//	iifname "eth0" meta mark 0x1 udp dport 53 payload "hello"
//
// Headers may come in any order; they are stacked as the protocols want.
// What is not said gets a sensible value: missing lower layers (tcp alone
// becomes TCP over IPv4 over Ethernet), addresses 10.0.0.1 to 10.0.0.2 or
// 2001:db8::1 to 2001:db8::2, ports 40000 to 80 (UDP: 53), hop limit 64, a
// TCP SYN, and link addresses that are zero where iifname is lo. Lengths,
// protocol fields and checksums follow from the rest. Whatever is said
// explicitly stands, so that wrong lengths and checksums can be made too.
//
// A protocol field that is given adds its header, unless a payload is given
// too: then the payload is what follows (ip protocol 17 payload 0x0011).
//
// Besides header fields the text may hold
//
//	payload "text", payload 0x0011   the data behind the last header
//	length N, payload length N       pads that data with zeros to N bytes
//	inner HEADER ...                 the rest is a packet inside this one: in a
//	                                 tunnel, or quoted by an ICMP error
//	gre ip ..., vxlan ether ...      the same, in nft's form
//	tcp option KIND [FIELD VALUE]... options, in order; likewise ip option,
//	                                 dccp option and sctp chunk
//	hbh, dst, rt, frag, mh, ah       extension headers, in order
//	iif, oif, iifname, oifname, meta mark, meta skuid, meta pkttype, ...
//	hook NAME                        where the packet should enter
//	link raw                         no Ethernet header
//	hex 0011...                      a whole frame, instead of all headers
//
// The connection state is not a property of a packet: ct is refused.
package build
