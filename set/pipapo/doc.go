// Package pipapo holds sets of concatenated ranges: each element is a box over
// 2 to 16 fields of up to 16 bytes, and a lookup finds the box that a key lies
// in. It is the kernel's kind pipapo, and usable on its own: for block lists of
// address ranges and ports, tenant policies, packet classifiers.
//
// A key is the fields one after the other, big-endian, each padded with zeros
// to a multiple of four bytes. Each field of an element is a range, a prefix or
// a single value:
//
//	d := elem.Desc{
//		KeyLen: 8, Fields: []uint8{4, 2}, // address, port
//		Flags:  elem.Interval | elem.Concat,
//	}
//	s, err := pipapo.New(&d)
//	…
//	_, err = s.Insert(elem.New(first, last), now)
//	s.Commit(now)
//	e := s.Lookup(key, now)
//
// Elements may overlap if neither corner of the later one lies in an earlier
// one; of several boxes that hold a key, the one inserted first is found.
//
// # Two forms
//
// Plain is the kernel's algorithm: bit maps of rules per group of key bits,
// intersected field by field. A lookup costs time proportional to the number of
// elements, a transaction a copy of everything. It defines the semantics.
//
// Set gives the same answers from trees of cells. A cell is a box of keys with
// a bucket of up to 16 elements that reach into it; two 32-bit words of all
// their boxes are compared at once. A tree cuts one word of the key, cells with
// too many elements are cut by another word, and elements that reach into many
// cells of a tree are in the next one. A lookup waits for about two cache lines
// beyond the nearest caches, however large the set is. LookupBatch looks up
// bursts, whose lookups wait for memory at the same time.
//
// A transaction copies the nodes that it changes, a few kilobytes for one
// element. A batch that is large beside the set (InsertAll) is built at once.
//
// Both forms use vector instructions where the processor has them, see package
// simd; VERDICT_SIMD=generic|avx2|avx512 limits them.
package pipapo
