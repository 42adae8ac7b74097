package ruleset

import "maps"

// list is a table's list of chains, sets or objects while a transaction works
// on it. It shares items and index with the snapshot until it changes them.
// Deleted items leave a hole until seal.
type list[K comparable, T any, P keyed[K, T]] struct {
	items  []*T
	lazy   *lazyIndex[K, T, P]
	idx    index[K]
	shared bool // items belong to the snapshot
	names  bool // idx is our own copy
	holes  int
}

func (l *list[K, T, P]) init(items []*T, lazy *lazyIndex[K, T, P]) {
	l.items, l.lazy, l.shared = items, lazy, true
}

func (l *list[K, T, P]) index() index[K] {
	if l.idx == nil {
		if l.lazy != nil {
			l.idx = l.lazy.get(l.items).idx
		} else {
			l.idx, l.names = newIndex[K, T, P](l.items), true
		}
	}
	return l.idx
}

// find gives the place of the item with a key, or -1.
func (l *list[K, T, P]) find(key K) int {
	if i, ok := l.index()[key]; ok {
		return int(i)
	}
	return -1
}

// search gives the place of the first item that matches, or -1.
func (l *list[K, T, P]) search(match func(*T) bool) int {
	for i, it := range l.items {
		if it != nil && match(it) {
			return i
		}
	}
	return -1
}

func (l *list[K, T, P]) own() {
	if l.shared {
		l.items = append(make([]*T, 0, len(l.items)+len(l.items)/4+4), l.items...)
		l.shared = false
	}
}

func (l *list[K, T, P]) ownNames() {
	l.index()
	if !l.names {
		l.idx, l.names = maps.Clone(l.idx), true
	}
}

func (l *list[K, T, P]) add(it *T) int {
	l.own()
	l.ownNames()
	l.items = append(l.items, it)
	l.idx[P(it).key()] = int32(len(l.items) - 1)
	return len(l.items) - 1
}

// put replaces the item at a place by another with the same key.
func (l *list[K, T, P]) put(i int, it *T) {
	l.own()
	l.items[i] = it
}

func (l *list[K, T, P]) remove(i int) {
	l.own()
	l.ownNames()
	delete(l.idx, P(l.items[i]).key())
	l.items[i] = nil
	l.holes++
}

// rename moves the item at a place to another key.
func (l *list[K, T, P]) rename(i int, from, to K) {
	l.ownNames()
	delete(l.idx, from)
	l.idx[to] = int32(i)
}

// seal gives the finished list and its index.
func (l *list[K, T, P]) seal() ([]*T, *lazyIndex[K, T, P]) {
	if l.holes > 0 {
		kept := make([]*T, 0, len(l.items)-l.holes)
		for _, it := range l.items {
			if it != nil {
				kept = append(kept, it)
			}
		}
		return kept, builtIndex[K, T, P](nil)
	}
	if !l.names && l.lazy != nil {
		return l.items, l.lazy
	}
	return l.items, builtIndex[K, T, P](l.idx)
}
