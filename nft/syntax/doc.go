// Package syntax reads and prints the nftables language: a lexer, a parser
// that recovers from errors, the syntax tree, and the canonical printer.
//
// The tree says what was written, not what it means: words are not looked up,
// values have no types, defines are not replaced. Package compile gives it
// meaning. Every node knows its place in the source.
//
// The same tree is built by package decompile from a loaded ruleset and by
// package nftjson from JSON; the printer turns any of them into text.
package syntax
