package chain

import (
	"bytes"
	"strings"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// form is what is known of a rule without running it.
type form struct {
	matches []match // of the expressions in front of the first effect
	at      []int   // by match: which expression it is
	loads   []use   // loads in front of the first effect
	// writes, by expression in front of the first effect: the registers it
	// stores, for what may be skipped.
	writes []expr.RegRange
	pure   int // expressions in front of the first effect
	kept   []string
	rule   *ruleset.Rule
}

// use is a load that a rule makes.
type use struct {
	source source
	expr   int
	like   expr.Expr
	known  bool // it can be a field
}

// analyse finds what a rule asks of packets.
func analyse(t *ruleset.Table, r *ruleset.Rule, place *expr.Place) *form {
	f := &form{rule: r}
	var regs registers
	for i, e := range r.Exprs {
		if !pure(e, t) {
			f.verdictMap(i, e, regs, t)
			break
		}
		f.pure = i + 1
		used := e.Registers(place)
		write, writes := used.Write()
		f.writes = append(f.writes, write)
		if m, ok := matchOf(e, regs, t); ok {
			f.matches, f.at = append(f.matches, m), append(f.at, i)
		} else if compares(e) {
			f.kept = append(f.kept, reason(e))
		}
		if masked, ok := maskedValue(e, regs); ok {
			regs.set(masked)
			continue
		}
		s, dst, ok := loadOf(e)
		if ok || loads(e) {
			f.loads = append(f.loads, use{source: s, expr: i, like: e, known: ok})
		}
		if ok {
			regs.set(value{source: s, mask: bytes.Repeat([]byte{0xff}, s.length), xor: make([]byte, s.length), load: i, at: dst.Offset()})
		} else if writes {
			regs.forget(int(write.Off), int(write.Len))
		}
	}
	return f
}

// verdictMap takes a look-up that gives a verdict as a match: nothing happens
// where it finds no element.
func (f *form) verdictMap(i int, e expr.Expr, regs registers, t *ruleset.Table) {
	if x, ok := e.(*expr.Lookup); ok {
		if m, ok := lookupMatch(x, regs, t); ok {
			f.matches, f.at = append(f.matches, m), append(f.at, i)
		} else {
			f.kept = append(f.kept, reason(e))
		}
	}
}

// maskedValue follows a bitwise expression of a known value.
func maskedValue(e expr.Expr, regs registers) (v value, ok bool) {
	x, is := e.(*expr.Bitwise)
	if !is || x.Op != expr.BitwiseMaskXor {
		return v, false
	}
	from := regs.find(x.Src.Offset())
	n := int(x.Len)
	if from == nil || n > from.length() || len(x.Mask.Bytes) < n || len(x.Xor.Bytes) < n {
		return v, false
	}
	v = value{source: from.source, mask: make([]byte, n), xor: make([]byte, n), load: from.load, at: x.Dst.Offset()}
	for i := range n {
		v.mask[i] = from.mask[i] & x.Mask.Bytes[i]
		v.xor[i] = from.xor[i]&x.Mask.Bytes[i] ^ x.Xor.Bytes[i]
	}
	return v, true
}

// pure tells whether an expression has no effect: it only loads, computes, or
// breaks the rule.
func pure(e expr.Expr, t *ruleset.Table) bool {
	switch x := e.(type) {
	case *expr.Payload:
		return !x.Write
	case *expr.Meta:
		return !x.Set && x.Key != nil && x.Key.Name != "random"
	case *expr.CT:
		return !x.Set
	case *expr.Exthdr:
		return !x.Write && !x.Strip
	case *expr.Cmp, *expr.Range, *expr.Bitwise, *expr.Byteorder, *expr.Fib, *expr.RT, *expr.Socket, *expr.Hash, *expr.XFRM, *expr.OSF, *expr.Tunnel:
		return true
	case *expr.Immediate:
		return x.Data.Verdict == nil
	case *expr.Lookup:
		s := t.Set(x.Set)
		// A verdict is an effect, as are the elements' own expressions.
		if s == nil || s.Flags&(ruleset.SetEval|ruleset.SetExpr) != 0 || len(s.Exprs) > 0 {
			return false
		}
		return !(x.HasDst && x.Dst == expr.RegVerdict)
	}
	return false
}

// loads tells which expressions read the packet.
func loads(e expr.Expr) bool {
	switch e.(type) {
	case *expr.Payload, *expr.Meta, *expr.CT, *expr.Exthdr, *expr.Fib, *expr.RT, *expr.Socket, *expr.OSF, *expr.XFRM, *expr.Tunnel, *expr.Hash:
		return true
	}
	return false
}

func compares(e expr.Expr) bool {
	switch e.(type) {
	case *expr.Cmp, *expr.Range, *expr.Lookup:
		return true
	}
	return false
}

// reason says what stays a check on the candidates.
func reason(e expr.Expr) string {
	if x, ok := e.(*expr.Lookup); ok {
		return "set " + x.Set
	}
	return "computed value"
}

// skip is how many leading expressions of a rule need not run for a packet that
// satisfies its matches: each of them is a load behind a match that counts, or
// such a match, and nothing behind reads what they store.
func (f *form) skip(counts func(m *match) bool, place *expr.Place) int {
	open := map[int]bool{} // loads that no match needed yet
	last, next := 0, 0
	for i := range f.pure {
		e := f.rule.Exprs[i]
		switch {
		case next < len(f.at) && f.at[next] == i:
			m := &f.matches[next]
			next++
			if !counts(m) || hasData(e) {
				return f.safe(last, place)
			}
			for _, l := range m.uses {
				delete(open, l)
			}
		case compares(e):
			return f.safe(last, place)
		default:
			if _, _, ok := loadOf(e); ok {
				open[i] = true
			} else if _, ok := e.(*expr.Bitwise); !ok {
				return f.safe(last, place)
			}
		}
		if len(open) == 0 {
			last = i + 1
		}
	}
	return f.safe(last, place)
}

// common tells rules that much traffic may match: all that they look at is the
// connection, the interface, or nothing.
func (f *form) common() bool {
	for _, l := range f.loads {
		switch x := l.like.(type) {
		case *expr.CT:
		case *expr.Meta:
			if !strings.HasPrefix(x.Key.Name, "iif") && !strings.HasPrefix(x.Key.Name, "oif") {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// hasData reports whether a look-up delivers something.
func hasData(e expr.Expr) bool {
	x, ok := e.(*expr.Lookup)
	return ok && x.HasDst
}

// safe lowers skip until nothing behind it reads a register that is stored
// before it.
func (f *form) safe(skip int, place *expr.Place) int {
	for _, e := range f.rule.Exprs[skip:] {
		used := e.Registers(place)
		for _, read := range used.Reads() {
			for _, w := range f.writes[:skip] {
				if read.Off < w.Off+(w.Len+3)&^3 && w.Off < read.Off+read.Len {
					return 0
				}
			}
		}
	}
	return skip
}

// reach is how far behind the start of each header the loads of rules go, for
// the question whether a cut packet has all bytes that they want.
type reach struct {
	end  [3]int // by catalog.Base
	deep bool   // some load finds its place in the packet itself
	ct   bool   // some load asks for the connection
}

func (r *reach) add(f *form) {
	for _, l := range f.loads {
		switch x := l.like.(type) {
		case *expr.Payload:
			if x.Base > catalog.BaseTransport {
				r.deep = true
				continue
			}
			r.end[x.Base] = max(r.end[x.Base], int(x.Offset+x.Len))
		case *expr.Meta:
			r.deep = r.deep || x.Key.Name == "pkttype"
		case *expr.CT:
			r.ct = true
		default:
			r.deep = true
		}
	}
}
