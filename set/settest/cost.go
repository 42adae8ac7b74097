package settest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"verdict/set/elem"
)

func byKey(list []*elem.Entry) []*elem.Entry {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *elem.Entry) int { return strings.Compare(a.Key(), b.Key()) })
	return list
}

// Allocations fails if lookups, single or in bursts, allocate.
func Allocations(t *testing.T, c Config) {
	m := newMachine(t, c, rand.New(rand.NewPCG(7, 7)))
	for range 300 {
		m.insert()
	}
	m.commit()
	const n = 16
	var keys []byte
	for range n {
		keys = append(keys, m.key()...)
	}
	stride := len(keys) / n
	found := make([]*elem.Entry, n)
	view := m.set.Live()
	got := testing.AllocsPerRun(200, func() {
		for i := range n {
			found[i] = m.set.Lookup(keys[i*stride:(i+1)*stride], m.now)
		}
		view.LookupBatch(keys, stride, m.now, found)
	})
	if got != 0 {
		t.Errorf("%v allocations in %d lookups", got, 2*n)
	}
}
