// Package engine runs packets through a ruleset as a Linux host would: it
// walks the hooks, tracks connections, translates addresses, runs the base
// chains by priority, and says what became of the packet and why.
//
// An Engine holds one ruleset and the simulated host. A Worker evaluates
// packets, one after the other, in the order in which they arrived; all state
// (connections, counters, limits) belongs to the engine and carries over from
// packet to packet.
package engine
