// Package interval is a set of ranges over a single field: the kernel's kind
// rbtree.
//
// A range is two elements, as user space sends them: its start, and its
// exclusive end, which carries the flag elem.IntervalEnd. A range that reaches
// the end of the key space has no end element; in anonymous sets the end may
// also be left out where the next range starts there.
//
// The elements lie in one ascending sequence, an end before a start with the
// same key, cut into small leaves. A lookup finds the last element that is not
// above the key: it is in a range if that element is a start. A transaction
// copies the leaves that it touches and the directory of leaves.
package interval
