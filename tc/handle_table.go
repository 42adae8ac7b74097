package tc

// handleTable finds things by their numbers: those that are dense, as numbers
// are that the kernel gives, in a slice, others in a map.
type handleTable[T any] struct {
	dense  []*T
	sparse map[uint32]*T
	count  int
}

// denseSlack is how far beyond twice the things that are there a number may
// lie to count as dense.
const denseSlack = 64

func (t *handleTable[T]) get(n uint32) *T {
	if uint64(n) < uint64(len(t.dense)) {
		return t.dense[n]
	}
	return t.sparse[n]
}

// set enters a thing, or puts it in another's place.
func (t *handleTable[T]) set(n uint32, v *T) {
	if t.get(n) == nil {
		t.count++
	}
	if uint64(n) >= uint64(len(t.dense)) && uint64(n) < uint64(2*t.count+denseSlack) {
		t.grow(int(n) + 1)
	}
	if uint64(n) < uint64(len(t.dense)) {
		t.dense[n] = v
		return
	}
	if t.sparse == nil {
		t.sparse = map[uint32]*T{}
	}
	t.sparse[n] = v
}

// grow makes the slice hold at least n numbers, with those that the map had.
func (t *handleTable[T]) grow(n int) {
	dense := make([]*T, max(n, 2*len(t.dense)))
	copy(dense, t.dense)
	t.dense = dense
	for k, v := range t.sparse {
		if uint64(k) < uint64(len(dense)) {
			dense[k] = v
			delete(t.sparse, k)
		}
	}
}

func (t *handleTable[T]) drop(n uint32) {
	if t.get(n) == nil {
		return
	}
	t.count--
	if uint64(n) < uint64(len(t.dense)) {
		t.dense[n] = nil
		return
	}
	delete(t.sparse, n)
}

// all lists what is there, in no order.
func (t *handleTable[T]) all() []*T {
	list := make([]*T, 0, t.count)
	for _, v := range t.dense {
		if v != nil {
			list = append(list, v)
		}
	}
	for _, v := range t.sparse {
		list = append(list, v)
	}
	return list
}
