// Package classify finds, among many rules over the fields of a packet, the
// first one that matches, or all of them in order. It knows nothing of packets
// or rule languages: a Layout names fields and their widths, a Rule asks that
// some of them equal a value, share a prefix, lie in a range, match under a
// mask, or do not.
//
//	layout, err := classify.NewLayout(
//		classify.Field{Name: "source", Bits: 32},
//		classify.Field{Name: "port", Bits: 16})
//	table, err := classify.New(layout, []classify.Rule{
//		{Order: 1, Match: []classify.Constraint{classify.Prefix(0, []byte{10, 0, 0, 0}, 8)}},
//		{Order: 2, Match: []classify.Constraint{classify.Exact(1, []byte{0, 22})}},
//	}, classify.Options{})
//	key := layout.NewKey()
//	layout.Set(key, 0, []byte{10, 1, 2, 3})
//	order, found := table.Lookup(key)
//
// A Table never changes and is safe for concurrent use. A Live is a table that
// rules are added to and deleted from while others read it without waiting.
//
// How the rules are stored depends on their shape; Stats tells. Few are
// compared all at once with vector instructions. Of many, those that share the
// lengths of their prefixes go to hash tables, all of which are probed with a
// few vector instructions; what names no usable prefix, such as ranges,
// inverted prefixes and rules for everything, is kept as hierarchical bit
// vectors, one per class of values of a field. Each of them is exact alone, and
// the rule that comes first wins.
//
// Building takes time and memory that are linear in the rules, except for bit
// vectors, which Options.VectorMemory bounds.
package classify
