// Package set holds the elements that rules look packets up in: nf_tables'
// sets and maps, as data structures that are usable alone.
//
// New chooses a kind for a description exactly as the kernel does. A Set is
// changed by transactions (Insert, Delete, Flush, then Commit or Abort) and
// read through Lookup, or through a View, which is one committed state. One
// goroutine may write; any number may read, and none of them ever waits.
//
// The sub-packages are the kinds; package elem has the types they share.
package set

import "verdict/set/elem"

// The types that all kinds share, see package elem.
type (
	// Desc describes a set.
	Desc = elem.Desc
	// Entry is one element.
	Entry = elem.Entry
	// Error is an error with the kernel's number.
	Error = elem.Error
	// Stats say how a set is stored.
	Stats = elem.Stats
)
