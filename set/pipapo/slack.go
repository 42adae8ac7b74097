package pipapo

import (
	"fmt"
	"slices"

	"verdict/set/elem"
)

// slackRule says how many spare entries a growing mapping table gets: one page
// of them, or none if exact.
type slackRule struct {
	page  int // entries of a page
	exact bool
}

func slackFor(pageSize int) slackRule {
	if pageSize == 0 {
		pageSize = 4096
	}
	return slackRule{page: pageSize / mappingBytes}
}

// slack is a table that grows and shrinks as the kernel's mapping tables do,
// and counts what that moves.
type slack[T any] struct {
	items     []T // as many as there are rules
	allocated int
	moved     int // bytes
}

// resize sets the number of entries. The table is re-allocated
//   - to grow, unless more entries than needed are allocated already,
//   - to shrink, if two pages or more are spare,
//
// and then has exactly n entries up to a page, beyond that a page more.
//
// Ref: nft_set_pipapo.c, pipapo_realloc_mt
func (t *slack[T]) resize(n int, s slackRule) error {
	switch old := len(t.items); {
	case n == 0:
		t.items, t.allocated = nil, 0
		return nil
	case s.exact && n == t.allocated,
		!s.exact && n > old && t.allocated > n,
		!s.exact && n <= old && t.allocated-n < 2*s.page:
		t.extend(n)
		return nil
	}
	want := n
	if !s.exact && n > s.page {
		want = n + s.page
	}
	if want > tableMax/mappingBytes {
		return fmt.Errorf("%w: mapping table of %d entries", elem.ErrNoMemory, want)
	}
	grown := make([]T, min(n, len(t.items)), want)
	t.moved += copy(grown, t.items) * mappingBytes
	t.items, t.allocated = grown, want
	t.extend(n)
	return nil
}

// extend sets the length within what is allocated; new entries are zero.
func (t *slack[T]) extend(n int) {
	old := len(t.items)
	if n < old {
		clear(t.items[n:])
	}
	t.items = t.items[:n]
	if n > old {
		clear(t.items[old:])
	}
}

// cut removes n entries at first.
func (t *slack[T]) cut(first, n int) {
	t.items = slices.Delete(t.items, first, first+n)
}

// clone copies the entries and keeps the capacity.
func (t *slack[T]) clone() slack[T] {
	c := *t
	if t.allocated > 0 {
		c.items = append(make([]T, 0, t.allocated), t.items...)
	}
	return c
}
