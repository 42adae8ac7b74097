// Package hash is a set of single keys: the kernel's kinds hash, hash_fast and
// rhash, that is with a fixed size, or resizable with timeouts and changes from
// the packet path.
//
// The table is an array of small pages, each an open-addressed table of its
// own. A transaction copies the pages that it touches, so a one-element change
// to a million elements copies a page and the array of page addresses, and
// readers of the old state are never disturbed. A slot holds the whole key if
// it has at most eight bytes, else a 64-bit hash of it; so a lookup of an
// address reads one cache line beyond the page address.
package hash
