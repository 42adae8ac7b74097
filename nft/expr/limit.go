package expr

import (
	"math/bits"
	"syscall"
)

// Limit is a token bucket.
// Ref: nft_limit.c.
type Limit struct {
	Rate, Unit uint64 // Rate per Unit seconds
	Burst      uint32
	Bytes      bool
	Over       bool
}

// limitUnits are the units of rates, in seconds.
var limitUnits = []struct {
	name    string
	seconds uint64
}{{"second", 1}, {"minute", 60}, {"hour", 3600}, {"day", 86400}, {"week", 604800}}

// Kind is limit.
func (*Limit) Kind() string { return "limit" }

// AppendText appends `limit rate 10/second burst 5 type packets flags 0x0`.
func (e *Limit) AppendText(b []byte) []byte {
	b = append(appendNamed(append(b, "limit"...), "rate", e.Rate), '/')
	unit := "error"
	for _, u := range limitUnits {
		if u.seconds == e.Unit {
			unit = u.name
		}
	}
	b = append(b, unit...)
	b = appendNamed(b, "burst", uint64(e.Burst))
	kind := " type packets"
	if e.Bytes {
		kind = " type bytes"
	}
	return appendHex(append(append(b, kind...), " flags "...), e.flags())
}

// AppendObjectText appends the text of a limit object:
// `limit rate 10 unit 1 burst 5 type 0 flags 0`.
func (e *Limit) AppendObjectText(b []byte) []byte {
	b = appendNamed(append(b, "limit"...), "rate", e.Rate)
	b = appendNamed(b, "unit", e.Unit)
	b = appendNamed(b, "burst", uint64(e.Burst))
	var kind uint64
	if e.Bytes {
		kind = 1
	}
	b = appendNamed(b, "type", kind)
	return appendNamed(b, "flags", e.flags())
}

func (e *Limit) flags() uint64 {
	if e.Over {
		return 1
	}
	return 0
}

// defaultBurst is the burst of packet limits that have none.
const defaultBurst = 5

// Check refuses a rate of 0 (EINVAL) and rates whose number of tokens
// overflows 64 bits (EOVERFLOW).
// Ref: nft_limit.c, nft_limit_init.
func (e *Limit) Check(*Checker) error {
	if e.Rate == 0 {
		return refuse(syscall.EINVAL, "rate 0")
	}
	over, nsecs := bits.Mul64(e.Unit, 1e9)
	if over != 0 {
		return refuse(syscall.EOVERFLOW, "unit of %d seconds", e.Unit)
	}
	sum, carry := bits.Add64(e.Rate, uint64(e.Burst), 0)
	if carry != 0 {
		return refuse(syscall.EOVERFLOW, "rate %d and burst %d", e.Rate, e.Burst)
	}
	if e.Bytes {
		over, _ = bits.Mul64(nsecs, sum)
	} else {
		burst := uint64(e.Burst)
		if burst == 0 {
			burst = defaultBurst
		}
		over, _ = bits.Mul64(nsecs/e.Rate, burst)
	}
	if over != 0 {
		return refuse(syscall.EOVERFLOW, "rate %d and burst %d in %d seconds", e.Rate, e.Burst, e.Unit)
	}
	return nil
}

// Registers uses none.
func (*Limit) Registers(*Place) RegUse { return RegUse{} }

func parseLimit(p *textParser) Expr {
	e := &Limit{}
	p.expect("rate")
	start := p.space()
	w := p.word()
	slash := -1
	for i := range w {
		if w[i] == '/' {
			slash = i
			break
		}
	}
	if slash < 0 {
		p.failAt(start, "expected a rate such as 10/second, found %s", found(w))
		return e
	}
	e.Rate = p.number(start, w[:slash], 64)
	for _, u := range limitUnits {
		if u.name == w[slash+1:] {
			e.Unit = u.seconds
		}
	}
	if e.Unit == 0 {
		p.failAt(start+slash+1, "unknown unit %q", w[slash+1:])
	}
	p.expect("burst")
	e.Burst = uint32(p.uint(32))
	p.expect("type")
	e.Bytes = p.oneOf("type", []string{"packets", "bytes"}) == 1
	e.Over = p.invertFlag()
	return e
}

// invertFlag reads `flags 0` or `flags 1`.
func (p *textParser) invertFlag() bool {
	p.expect("flags")
	start := p.space()
	n := p.uint(32)
	if n > 1 {
		p.failAt(start, "unknown flags %#x", n)
	}
	return n == 1
}
