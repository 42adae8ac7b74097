package syntax

// slab hands out nodes of one type from larger pieces, which saves an
// allocation for each. A piece lives as long as any node of it.
type slab[T any] struct {
	free []T
	next int // size of the next piece
}

func (s *slab[T]) new() *T {
	if len(s.free) == 0 {
		s.next = min(max(2*s.next, 8), 1024)
		s.free = make([]T, s.next)
	}
	n := &s.free[0]
	s.free = s.free[1:]
	return n
}

// carve returns a slice holding the given values, cut out of a larger piece.
func (s *slab[T]) carve(values []T) []T {
	n := len(values)
	if n > 64 {
		return append([]T(nil), values...)
	}
	if len(s.free) < n {
		s.next = min(max(2*s.next, 64), 4096)
		s.free = make([]T, s.next)
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	copy(out, values)
	return out
}

// slabs are the allocators of the nodes that sources hold many of.
type slabs struct {
	literals   slab[Literal]
	elements   slab[Element]
	concats    slab[Concat]
	ranges     slab[Range]
	prefixes   slab[Prefix]
	rules      slab[Rule]
	matches    slab[Match]
	headers    slab[HeaderField]
	metas      slab[Meta]
	verdicts   slab[VerdictExpr]
	verdictSts slab[VerdictStatement]
	counters   slab[Counter]
	exprs      slab[Expr]
	statements slab[Statement]

	// scratch collects lists of unknown length before they are carved.
	scratchExprs      []Expr
	scratchStatements []Statement
}
