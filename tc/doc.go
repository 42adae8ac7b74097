// Package tc is Linux traffic control's classification: qdiscs with filters,
// blocks, chains, classifiers and actions, the command language of iproute2's
// tc, and what packets meet there.
//
// A System is the traffic control of one host. Commands change and show it
// (System.Run, System.Batch), packets run through it (System.Receive,
// System.Transmit). Devices with an offload.Device take filters into hardware.
//
// # Packets
//
// A Packet is a frame as the kernel holds it at the tc hooks: at ingress the
// outermost VLAN tag is taken off into the packet's metadata, and offsets count
// from the network header.
//
// # Sources
//
// The behaviour is that of Linux 6.12 to 7.1, the language and the listings are
// those of iproute2 6.1 with the keys and actions of later versions added.
// Filters that load eBPF objects are refused by name; what depends on classic
// bytecode is marked as unknown.
//
// A System is not safe for concurrent use.
package tc
