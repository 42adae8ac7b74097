package vm

import (
	"math/bits"

	"verdict/nft/expr"
)

// Limit is a token bucket; all tokens are nanoseconds.
// Ref: nft_limit.c, nft_limit_init, nft_limit_eval.
type Limit struct {
	tokens, max, cost uint64
	nsecs, rate       uint64
	last              int64
	started           bool
	bytes, over       bool
}

const nanosecond = 1_000_000_000

// defaultBurst is the burst of a packet limit that names none.
const defaultBurst = 5

func newLimit(e *expr.Limit) *Limit {
	l := &Limit{nsecs: e.Unit * nanosecond, rate: e.Rate, bytes: e.Bytes, over: e.Over}
	if e.Bytes {
		l.max = mulDiv(l.nsecs, e.Rate+uint64(e.Burst), e.Rate)
	} else {
		burst := uint64(e.Burst)
		if burst == 0 {
			burst = defaultBurst
		}
		l.cost = l.nsecs / max(e.Rate, 1)
		l.max = l.cost * burst
	}
	l.tokens = l.max
	return l
}

// mulDiv is a*b/c with a 128-bit product.
func mulDiv(a, b, c uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if c == 0 || high >= c {
		return ^uint64(0)
	}
	quotient, _ := bits.Div64(high, low, c)
	return quotient
}

// allow takes tokens for a packet and reports whether the rule goes on.
func (l *Limit) allow(now int64, length int) bool {
	if !l.started {
		l.started, l.last = true, now
	}
	tokens := l.tokens
	if now > l.last {
		tokens += uint64(now - l.last)
	}
	tokens = min(tokens, l.max)
	l.last = now
	cost := l.cost
	if l.bytes {
		cost = mulDiv(l.nsecs, uint64(length), l.rate)
	}
	if tokens >= cost {
		l.tokens = tokens - cost
		return !l.over
	}
	l.tokens = tokens
	return l.over
}

// Quota counts bytes up to a limit.
// Ref: nft_quota.c, nft_quota_do_eval.
type Quota struct {
	limit, consumed uint64
	over            bool
}

func newQuota(e *expr.Quota) *Quota {
	return &Quota{limit: e.Bytes, consumed: e.Consumed, over: e.Over}
}

// allow counts a packet on every evaluation and reports whether the rule goes
// on.
func (q *Quota) allow(length int) bool {
	q.consumed += uint64(length)
	return (q.consumed > q.limit) == q.over
}

// Consumed is what listings show: it stays at the limit.
func (q *Quota) Consumed() uint64 { return min(q.consumed, q.limit) }

// Last remembers when it was reached last.
// Ref: nft_last.c.
type Last struct {
	set bool
	at  int64
}

func newLast(e *expr.Last) *Last { return &Last{set: e.Set} }

// Used returns whether and when, in nanoseconds since the epoch, the
// expression was reached.
func (l *Last) Used() (at int64, ok bool) { return l.at, l.set }

// Numgen counts up, or draws numbers.
// Ref: nft_numgen.c.
type Numgen struct {
	counter, mod, offset uint32
	random               bool
}

// next gives the next number of a counting generator.
func (n *Numgen) next() uint32 {
	value := n.counter
	n.counter++
	if n.counter >= n.mod {
		n.counter = 0
	}
	return value + n.offset
}
