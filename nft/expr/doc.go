// Package expr is the bytecode of nf_tables: one type per expression of the
// kernel, with its operands, the checks the kernel makes when it loads it,
// and its text as `nft --debug=netlink` prints it.
//
// Expressions are plain values. They do not evaluate themselves: package
// engine turns rules into flat programs. Once part of a ruleset they are
// never changed, so they may be shared freely between goroutines.
package expr
