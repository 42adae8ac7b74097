// Package compile gives a syntax tree its meaning: it turns the commands of a
// file into the batch of changes that package ruleset applies, with rules as
// bytecode and sets as the elements that the kernel would be sent.
//
// The work has two stages for each rule. Evaluation types every expression,
// resolves literals by the type of what they are compared with, follows the
// protocol context from statement to statement and inserts the tests that a
// match depends on. Generation allocates registers and emits expressions.
//
// Only commands that change something are compiled; those that read (list,
// get, monitor, describe, export) are left to the caller.
//
// Ref: nft(8); the observable bytecode of nftables (main of April 2026).
package compile
