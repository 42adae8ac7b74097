// Package conntrack follows connections as Linux does: tuples in both
// directions, the states of the protocols, timeouts, expectations, and the
// bindings of NAT. It is deterministic: time comes from the caller.
package conntrack
