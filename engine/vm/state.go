package vm

import (
	"sync/atomic"

	"verdict/nft/expr"
)

// State is what packets change: counters, token buckets, quotas, number
// generators, last-use times. It is keyed by the identity of the expression
// or object that owns the state, so a new program made from the next snapshot
// goes on with the values of what it kept.
//
// Counters may be read at any time. A State is changed by one machine at a
// time.
type State struct {
	counters map[*expr.Counter]*Counter
	limits   map[*expr.Limit]*Limit
	quotas   map[*expr.Quota]*Quota
	conns    map[*expr.ConnLimit]*ConnLimit
	lasts    map[*expr.Last]*Last
	numgens  map[*expr.Numgen]*Numgen

	counterSlab []Counter
}

// NewState returns an empty state.
func NewState() *State {
	return &State{
		counters: map[*expr.Counter]*Counter{},
		limits:   map[*expr.Limit]*Limit{},
		quotas:   map[*expr.Quota]*Quota{},
		conns:    map[*expr.ConnLimit]*ConnLimit{},
		lasts:    map[*expr.Last]*Last{},
		numgens:  map[*expr.Numgen]*Numgen{},
	}
}

// Counter is the state of a counter.
type Counter struct {
	packets, bytes atomic.Uint64
}

// Add counts one packet.
func (c *Counter) add(bytes int) {
	c.packets.Store(c.packets.Load() + 1)
	c.bytes.Store(c.bytes.Load() + uint64(bytes))
}

// Values returns packets and bytes.
func (c *Counter) Values() (packets, bytes uint64) { return c.packets.Load(), c.bytes.Load() }

// Counter returns the state of a counter expression, making it if needed.
func (s *State) Counter(e *expr.Counter) *Counter {
	if c, ok := s.counters[e]; ok {
		return c
	}
	c := s.newCounter(e)
	s.counters[e] = c
	return c
}

func (s *State) newCounter(e *expr.Counter) *Counter {
	if len(s.counterSlab) == 0 {
		s.counterSlab = make([]Counter, 256)
	}
	c := &s.counterSlab[0]
	s.counterSlab = s.counterSlab[1:]
	c.packets.Store(e.Packets)
	c.bytes.Store(e.Bytes)
	return c
}

// Present gives a stateful expression with its present values, for listings;
// any other expression comes back as it is. now is in nanoseconds since the
// epoch.
func (s *State) Present(e expr.Expr, now int64) expr.Expr {
	switch x := e.(type) {
	case *expr.Counter:
		if c, ok := s.counters[x]; ok {
			packets, bytes := c.Values()
			return &expr.Counter{Packets: packets, Bytes: bytes}
		}
	case *expr.Quota:
		if q, ok := s.quotas[x]; ok {
			present := *x
			present.Consumed = q.Consumed()
			return &present
		}
	case *expr.Last:
		if l, ok := s.lasts[x]; ok && l.set {
			return &expr.Last{Set: true, Msecs: uint64(max(now-l.at, 0)) / 1e6}
		}
	}
	return e
}

// Limit returns the state of a limit expression.
func (s *State) Limit(e *expr.Limit) *Limit {
	l, ok := s.limits[e]
	if !ok {
		l = newLimit(e)
		s.limits[e] = l
	}
	return l
}

// Quota returns the state of a quota expression.
func (s *State) Quota(e *expr.Quota) *Quota {
	q, ok := s.quotas[e]
	if !ok {
		q = newQuota(e)
		s.quotas[e] = q
	}
	return q
}

// ConnLimit returns the state of a connection limit.
func (s *State) ConnLimit(e *expr.ConnLimit) *ConnLimit {
	c, ok := s.conns[e]
	if !ok {
		c = newConnLimit(e)
		s.conns[e] = c
	}
	return c
}

// Last returns the state of a last expression.
func (s *State) Last(e *expr.Last) *Last {
	l, ok := s.lasts[e]
	if !ok {
		l = newLast(e)
		s.lasts[e] = l
	}
	return l
}

// Numgen returns the state of a number generator.
func (s *State) Numgen(e *expr.Numgen) *Numgen {
	n, ok := s.numgens[e]
	if !ok {
		n = &Numgen{mod: e.Mod, offset: e.Offset, random: e.Random}
		s.numgens[e] = n
	}
	return n
}
