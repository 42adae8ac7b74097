package store

import (
	"fmt"

	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/set/elem"
)

// Bits of the byte that begins an element; what they announce follows in
// their order.
const (
	hasKeyEnd = 1 << iota
	isIntervalEnd
	isCatchAll
	hasTimeout // milliseconds, then nanoseconds of the clock at which it expires
	hasTarget
	hasPayload
	isOpen
)

const millisecond = 1_000_000

// appendElements writes the elements of a set in the kernel's order: the
// targets, then the keys in their full length with what they carry.
func appendElements(b []byte, s *ruleset.Set) []byte {
	targets := s.Elements.Targets()
	b = appendUint(b, uint64(len(targets)))
	for i := range targets {
		b = encode(b, &targets[i])
	}
	b = appendUint(b, uint64(s.Elements.Len()))
	for e := range s.Elements.Entries() {
		b = appendEntry(b, e)
	}
	return b
}

func appendEntry(b []byte, e *elem.Entry) []byte {
	at := len(b)
	b = append(b, 0)
	if e.Flags&elem.CatchAll != 0 {
		b[at] |= isCatchAll
	} else {
		b = append(b, e.Key()...)
	}
	if e.HasEnd() {
		b[at] |= hasKeyEnd
		b = append(b, e.KeyEnd()...)
	}
	if e.IsEnd() {
		b[at] |= isIntervalEnd
	}
	if t := e.Timeout(); t != 0 {
		b[at] |= hasTimeout
		b = appendUint(b, uint64(t)/millisecond)
		b = appendInt(b, e.Expires())
	}
	if e.Index != 0 {
		b[at] |= hasTarget
		b = appendUint(b, uint64(e.Index))
	}
	p := ruleset.PayloadOf(e)
	if p == nil {
		return b
	}
	if p.OpenInterval {
		b[at] |= isOpen
	}
	if p.Data != nil || len(p.Exprs) > 0 || p.Comment != "" {
		b[at] |= hasPayload
		b = encode(b, &payload{Data: p.Data, Exprs: p.Exprs, Comment: p.Comment})
	}
	return b
}

// readElements reads the elements of a set without those that are expired.
func readElements(d *decoder, s *ruleset.Set, now int64) []ruleset.Element {
	targets := make([]ruleset.Target, d.count())
	for i := range targets {
		decodeInto(d, &targets[i])
	}
	n := d.count()
	// All but the catch-all element take at least their key.
	list := make([]ruleset.Element, 0, min(n, len(d.data)/(int(s.KeyLen)+1)+1))
	for range n {
		var el ruleset.Element
		expired := readElement(d, s, targets, now, &el)
		if d.err != nil {
			return nil
		}
		if !expired {
			list = append(list, el)
		} else if last := len(list) - 1; last >= 0 && list[last].Flags&ruleset.ElemIntervalEnd != 0 {
			list = list[:last] // ranges come with their end in front
		}
	}
	return list
}

// readElement reads one element and tells whether it is expired.
func readElement(d *decoder, s *ruleset.Set, targets []ruleset.Target, now int64, el *ruleset.Element) (expired bool) {
	bits := d.byte()
	if bits&isCatchAll != 0 {
		el.Flags |= ruleset.ElemCatchAll
	} else {
		el.Key = d.take(uint64(s.KeyLen))
	}
	if bits&hasKeyEnd != 0 {
		el.KeyEnd = d.take(uint64(s.KeyLen))
	}
	if bits&isIntervalEnd != 0 {
		el.Flags |= ruleset.ElemIntervalEnd
	}
	el.OpenInterval = bits&isOpen != 0
	expired = readTimes(d, s, bits, now, el)
	if bits&hasTarget != 0 {
		i := d.uint()
		if i == 0 || i > uint64(len(targets)) {
			d.fail(fmt.Errorf("an element leads to target %d of %d", i, len(targets)))
			return false
		}
		if t := &targets[i-1]; t.Object != "" {
			el.Object = t.Object
		} else {
			el.Data = &expr.Data{Verdict: &t.Verdict}
		}
	}
	if bits&hasPayload != 0 {
		var p payload
		decodeInto(d, &p)
		el.Exprs, el.Comment = p.Exprs, p.Comment
		if p.Data != nil {
			el.Data = p.Data
		}
	}
	return expired
}

// readTimes reads an element's lifetime, if it has one.
func readTimes(d *decoder, s *ruleset.Set, bits byte, now int64, el *ruleset.Element) (expired bool) {
	if bits&hasTimeout == 0 {
		el.HasTimeout = s.Timeout != 0 && bits&isIntervalEnd == 0
		return false
	}
	el.Timeout = d.uint()
	left := d.int() - now
	if el.HasTimeout = el.Timeout != s.Timeout; !el.HasTimeout {
		el.Timeout = 0
	}
	el.Expires = uint64(max(left, millisecond)) / millisecond
	return left <= 0
}
