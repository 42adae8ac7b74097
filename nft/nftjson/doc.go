// Package nftjson converts between the syntax tree and the JSON of
// libnftables, schema version 1: Decode reads commands and ruleset elements
// into a tree that the compiler takes like that of a text, Append writes the
// tree of a listing as `nft -j list` prints it.
//
// The tree of a listing has to be made for JSON, which shows values by their
// type where text shows them by their notation: the options of the decompiler
// have a field for that, which also brings in handles and plain priorities.
//
// All functions are safe for concurrent use on different destinations.
//
// Ref: libnftables-json(5)
package nftjson
