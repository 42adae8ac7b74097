package ruleset

import (
	"sync"

	"verdict/catalog"
	"verdict/nft/expr"
)

// Table finds a table, or gives nil. Cost: linear in the number of tables.
func (rs *Ruleset) Table(family catalog.Family, name string) *Table {
	if rs == nil {
		return nil
	}
	for _, t := range rs.Tables {
		if t.Family == family && t.Name == name {
			return t
		}
	}
	return nil
}

// TableByHandle finds a table by its handle, or gives nil.
func (rs *Ruleset) TableByHandle(family catalog.Family, handle uint64) *Table {
	if rs == nil {
		return nil
	}
	for _, t := range rs.Tables {
		if t.Family == family && t.Handle == handle {
			return t
		}
	}
	return nil
}

// Chain finds a chain, or gives nil. The first look-up in a snapshot indexes
// the table's chains; the others take constant time. The same holds for the
// other finders of a table.
func (t *Table) Chain(name string) *Chain {
	if t.find == nil {
		return scan(t.Chains, func(c *Chain) bool { return c.Name == name })
	}
	return t.find.chains.get(t.Chains).at(t.Chains, name)
}

// ChainByHandle finds a chain by its handle, or gives nil.
func (t *Table) ChainByHandle(handle uint64) *Chain {
	return scan(t.Chains, func(c *Chain) bool { return c.Handle == handle })
}

// Set finds a set or map, or gives nil.
func (t *Table) Set(name string) *Set {
	if t.find == nil {
		return scan(t.Sets, func(s *Set) bool { return s.Name == name })
	}
	return t.find.sets.get(t.Sets).at(t.Sets, name)
}

// SetByHandle finds a set or map by its handle, or gives nil.
func (t *Table) SetByHandle(handle uint64) *Set {
	return scan(t.Sets, func(s *Set) bool { return s.Handle == handle })
}

// Object finds a stateful object, or gives nil. Objects of different types may
// have the same name.
func (t *Table) Object(typ expr.ObjectType, name string) *Object {
	if t.find == nil {
		return scan(t.Objects, func(o *Object) bool { return o.Type == typ && o.Name == name })
	}
	return t.find.objects.get(t.Objects).at(t.Objects, objectKey{typ, name})
}

// ObjectByHandle finds a stateful object of a type by its handle, or gives nil.
func (t *Table) ObjectByHandle(typ expr.ObjectType, handle uint64) *Object {
	return scan(t.Objects, func(o *Object) bool { return o.Type == typ && o.Handle == handle })
}

// Flowtable finds a flowtable, or gives nil.
func (t *Table) Flowtable(name string) *Flowtable {
	return scan(t.Flowtables, func(f *Flowtable) bool { return f.Name == name })
}

// FlowtableByHandle finds a flowtable by its handle, or gives nil.
func (t *Table) FlowtableByHandle(handle uint64) *Flowtable {
	return scan(t.Flowtables, func(f *Flowtable) bool { return f.Handle == handle })
}

// Rule finds a rule by its handle, or gives nil. Cost: linear.
func (c *Chain) Rule(handle uint64) *Rule {
	return scan(c.Rules, func(r *Rule) bool { return r.Handle == handle })
}

func scan[T any](items []*T, match func(*T) bool) *T {
	for _, it := range items {
		if match(it) {
			return it
		}
	}
	return nil
}

// objectKey is the name of an object: names are per type.
type objectKey struct {
	typ  expr.ObjectType
	name string
}

func (c *Chain) key() string     { return c.Name }
func (s *Set) key() string       { return s.Name }
func (f *Flowtable) key() string { return f.Name }
func (o *Object) key() objectKey { return objectKey{o.Type, o.Name} }

// index maps names to places in a list.
type index[K comparable] map[K]int32

// lazyIndex is an index that is built when it is first needed.
type lazyIndex[K comparable, T any, P keyed[K, T]] struct {
	once sync.Once
	idx  index[K]
}

// keyed is what can be found by a key.
type keyed[K comparable, T any] interface {
	*T
	key() K
}

// builtIndex is a lazyIndex that is ready; idx may be nil.
func builtIndex[K comparable, T any, P keyed[K, T]](idx index[K]) *lazyIndex[K, T, P] {
	l := &lazyIndex[K, T, P]{}
	if idx != nil {
		l.once.Do(func() { l.idx = idx })
	}
	return l
}

func (l *lazyIndex[K, T, P]) get(items []*T) lookup[K, T] {
	l.once.Do(func() { l.idx = newIndex[K, T, P](items) })
	return lookup[K, T]{l.idx}
}

func newIndex[K comparable, T any, P keyed[K, T]](items []*T) index[K] {
	idx := make(index[K], len(items))
	for i, it := range items {
		idx[P(it).key()] = int32(i)
	}
	return idx
}

type lookup[K comparable, T any] struct{ idx index[K] }

func (l lookup[K, T]) at(items []*T, key K) *T {
	if i, ok := l.idx[key]; ok {
		return items[i]
	}
	return nil
}

// tableIndex holds a table's indexes. Snapshots share those of lists whose
// names did not change.
type tableIndex struct {
	chains  *lazyIndex[string, Chain, *Chain]
	sets    *lazyIndex[string, Set, *Set]
	objects *lazyIndex[objectKey, Object, *Object]
}
