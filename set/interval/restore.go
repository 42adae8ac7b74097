package interval

import (
	"fmt"

	"verdict/set/elem"
)

// Restore prepares the state that Walk gave the elements of, in its order,
// whatever changes led to that state: it does not ask whether they could be
// inserted now. The set must be empty. It stops at the first element that is
// none (elem.ErrInvalid) or out of order (elem.ErrExist), and returns how many
// it took. Cost: linear.
func (s *Set) Restore(es []*elem.Entry) (int, error) {
	for i, e := range es {
		if !s.takes(e) {
			return i, fmt.Errorf("%w: an interval set holds starts and ends of %d bytes", elem.ErrInvalid, s.klen)
		}
		if i > 0 && !below(e, es[i-1]) {
			return i, fmt.Errorf("%w: the elements of a stored set come from the highest down", elem.ErrExist)
		}
	}
	t := s.begin()
	tail := position{-1, 0}
	for i := len(es) - 1; i >= 0; i-- {
		t.insertAfter(tail, es[i], s.owner)
		last := len(t.leaves) - 1
		tail = position{last, t.leaves[last].n - 1}
	}
	s.added += len(es)
	return len(es), nil
}

// below reports whether an element comes before another one; of equal keys the
// end of a range does.
func below(a, b *elem.Entry) bool {
	if a.Key() != b.Key() {
		return a.Key() < b.Key()
	}
	return a.IsEnd() && !b.IsEnd()
}
