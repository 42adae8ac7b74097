// Package decompile turns a loaded ruleset back into the nftables language.
// It sees what the kernel would return and nothing else: bytecode, sets with
// their elements, and user data such as comments and typeof. The result is a
// syntax tree whose literals are canonical, so that printing it gives the
// text of `nft list`.
//
// A rule is read from left to right. Registers remember what was loaded into
// them (register.go, operand.go); a comparison, lookup or statement takes an
// operand out of its register and names it (selector.go) with the protocols
// that the rule has tested so far (layers.go). Tests that a compiler adds by
// itself are dropped again (dependency.go).
//
// All functions only read their arguments and are safe for concurrent use.
package decompile
