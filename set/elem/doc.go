// Package elem holds what every kind of set shares: the elements, the
// description of a set, the errors, and the interface of a backend.
//
// # Keys
//
// A key is a byte string in the kernel's memory order: packet data in network
// order, host order values (marks, interface indices) little endian. A
// concatenation is its fields one after the other, each padded with zeros to a
// multiple of four bytes. Ranges compare keys as big-endian byte strings.
//
// # Time
//
// Times are nanoseconds on the caller's clock; no code here reads a clock.
// The control plane passes one frozen time for a whole transaction, the packet
// path the packet's time.
package elem
