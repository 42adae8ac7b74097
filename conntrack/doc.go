// Package conntrack follows connections as Linux does: tuples in both
// directions, zones, the states of the protocols, timeouts, expectations and
// helpers, and the bindings of NAT with the rewriting that follows from them.
//
// A Table is deterministic: time comes with each packet, and what the kernel
// draws at random comes from a seed.
//
// A packet's way: Defrag.Collect (priority -400) and Table.Track (-200) at
// prerouting and output, rules, the NAT steps NATUndecided, SetupNAT and
// Translate at each of the four NAT hooks, and Confirm at input and
// postrouting, last of all. When the packet's way ends, Attachment.Reset lets
// go of its connection.
//
// On a connection's first packet rules may give it a helper (AssignHelper),
// timeouts (SetTimeoutPolicy) and expectations (ExpectAnswer). ConnList counts
// connections for `ct count`. Attachment.Answer is for packets that the host
// sends back, SetClosing for a connection that was rejected, MayOffload, Offload
// and Onload for flowtables.
//
// A look-up costs about 130 ns among a million connections; an entry takes 320
// bytes, and 16 to 32 in the index of tuples.
//
// # Packets cut by the capture
//
// A capture may hold only the start of a packet. What the headers' length
// fields tell is taken from them: payload lengths, and with them TCP windows,
// are exact. Where bytes themselves are missing:
//
//   - a checksum that cannot be computed is taken as right;
//   - TCP options that are missing from a SYN make the connection's windows
//     liberal, because their scale is unknown;
//   - SCTP chunks behind the cut are not looked at;
//   - a packet without captured ports, TCP header, or ICMP header (or the inner
//     headers of an ICMP error) gets an attachment that is Unknown: it changes
//     nothing, and what rules see of its connection cannot be told.
//
// Stats counts the first three as Assumed.
package conntrack
