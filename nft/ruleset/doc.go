// Package ruleset is what the kernel would hold: tables, chains, rules as
// bytecode, sets with their elements, stateful objects, flowtables; and the
// transactions that change it, with the kernel's checks and errnos.
//
// A Ruleset is an immutable snapshot. Apply takes a snapshot and a batch of
// changes and gives the next snapshot, or the errors and nothing else: all or
// nothing. Snapshots share what did not change and are safe for concurrent
// readers.
package ruleset
