// Package kernel is the oracle: Linux itself judges the rulesets and packets
// that the engine judges, and the two are compared.
//
// A Lab is a network namespace of its own that plays a router with two TAP
// devices, lan0 and wan0. Rulesets go in as our bytecode, through package
// nft/netlink, and are read back; frames are written to the TAP devices, and
// the host has processed a frame before the write returns. What it did comes
// back as trace events, counters, set contents and the frames that leave.
//
// Compare runs random rulesets (Generator) with packets on and around the
// values in their rules through both, and reports what differs. Cases depend
// on their seed alone.
//
// All of it needs Linux with nf_tables, and root; Available says whether it is
// there. Only namespaces that the package itself makes are touched.
package kernel
