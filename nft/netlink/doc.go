// Package netlink speaks nf_tables' netlink: it writes batches of changes and
// whole rulesets as the messages that nft would send, and reads the kernel's
// answers back into a Ruleset.
//
// Nothing here touches the kernel: messages are bytes, to be sent and received
// by others. Headers are little endian, as on the machines that the project
// models; attribute values are big endian, as nf_tables has them everywhere.
//
// # Nothing is lost
//
// An expression of an unknown type, or a known one with an attribute or a
// value that package expr cannot hold, becomes an *expr.Unknown that keeps the
// bytes. An unknown attribute of a table, chain, rule, set, element, object or
// flowtable is kept in Dump.Unknown. What the kernel counts for its own use
// (reference counts, padding, numbers of elements) is read over.
//
// # What the kernel does not keep
//
// Places in sources, and Value.Host of rules, exist only until a ruleset is
// loaded. Orders of fields within concatenations are not part of nft's user
// data; the decoder finds them from the types.
//
// Ref: include/uapi/linux/netfilter/nf_tables.h; nf_tables_api.c.
package netlink
