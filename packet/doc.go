// Package packet decodes one captured frame into header offsets, without
// copying and without allocating, and answers the questions that the Linux
// packet filter asks of a packet: loads relative to a header, extension
// headers and options, checksums, the flow.
//
// # Positions
//
// What a rule sees depends on where in the receiving host it runs. A View
// models two positions, and Decode leaves it at the first:
//
//   - AtIP: the hooks of the ip, ip6, inet and arp families. Every VLAN tag,
//     PPPoE header, PPP header and MPLS label stack is gone, as it is when the
//     VLAN, PPP or MPLS device has handed the packet to the IP stack. The
//     packet ends where the IP header says, link-layer padding does not exist.
//     The link header of a tagged frame reads as an untagged one; below PPPoE
//     and MPLS there is none.
//   - AtDevice: the hooks of the netdev and bridge families and the ingress
//     hook of inet, on the interface that received the frame. The first
//     802.1Q or 802.1ad tag is taken off as the kernel does before any hook,
//     but the link header still shows it. What lies below a second tag, a
//     PPPoE header or a label stack is not looked into: such a packet is
//     unspecified. Padding counts.
//
// For an untagged or once tagged frame the two differ only in padding and in
// what the link header shows. NetOff, EtherType, L4OK, L4Proto, FragOff,
// ThOff, NetLen, End and MacLen speak of the current position; OuterType,
// NumVLAN and the VLAN arrays always speak of the frame.
//
// # Lengths
//
// A capture may hold less than the packet had. len(Data) is what was
// captured, OrigLen what there was. A load beyond the packet's real end
// breaks the rule, as in the kernel; a load beyond the captured bytes but
// within the packet gives Cut: nobody can know what the kernel saw.
//
// # Byte order
//
// Fields of View are Go integers with the value that the protocol gives
// them (EtherType 0x0800 is IPv4). Load copies bytes as they lie in the
// packet.
package packet
