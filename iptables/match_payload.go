package iptables

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"verdict/packet"
)

func init() {
	registerMatch(
		&extension{name: "tcpmss", match: made[tcpmssMatch](), protocol: []uint8{packet.ProtoTCP}, options: []option{
			optNot("mss", 1, func(x *tcpmssMatch, s *setting) { x.sizes, x.not, x.given = s.numbers(s.word(0), 65535), s.not, true }),
		}, finish: finishing(func(x *tcpmssMatch, _ *Rule, _ family) string { return needed(x.given, "--mss") })},
		&extension{name: "u32", match: made[u32Match](), options: []option{
			optNot("u32", 1, (*u32Match).read),
		}, finish: finishing(func(x *u32Match, _ *Rule, _ family) string { return needed(len(x.tests) > 0, "--u32") })},
		&extension{name: "string", match: func(family) Match { return &stringMatch{to: 65535} }, options: []option{
			optNot("string", 1, func(x *stringMatch, s *setting) { x.read(s, []byte(s.word(0)), true) }),
			optNot("hex-string", 1, func(x *stringMatch, s *setting) {
				raw, ok := hexBytes(s.word(0))
				x.read(s, raw, ok)
			}),
			opt("algo", 1, func(x *stringMatch, s *setting) {
				if i := s.choice(s.word(0), []string{"bm", "kmp"}, "algorithm"); i >= 0 {
					x.algorithm = []string{"bm", "kmp"}[i]
				}
			}),
			opt("from", 1, func(x *stringMatch, s *setting) { x.from = uint16(s.uint(65535)) }),
			opt("to", 1, func(x *stringMatch, s *setting) { x.to = uint16(s.uint(65535)) }),
			opt("icase", 0, func(x *stringMatch, s *setting) { x.fold = true }),
		}, finish: finishing(func(x *stringMatch, _ *Rule, _ family) string {
			switch {
			case len(x.pattern) == 0:
				return "--string or --hex-string is missing"
			case x.algorithm == "":
				return "--algo is missing"
			case x.from > x.to:
				return "--from is larger than --to"
			}
			return ""
		})},
	)
}

// tcpmssMatch is -m tcpmss. Ref: xt_tcpmss.c.
type tcpmssMatch struct {
	sizes span32
	not   bool
	given bool
}

func (x *tcpmssMatch) Name() string { return "tcpmss" }

func (x *tcpmssMatch) appendSave(b []byte) []byte {
	return fmt.Appendf(appendNot(b, x.not), " --mss %s", x.sizes.text(":"))
}

func (x *tcpmssMatch) translate(t *translator) bool {
	if x.not && !t.reference {
		return t.fail("nft does not match a missing option, the table does")
	}
	t.addf("tcp option maxseg size %s%s", t.not(x.not), x.sizes.text("-"))
	return true
}

func (x *tcpmssMatch) matches(m *Machine) result {
	h, is := m.transport(20, 13)
	if is != resultTrue {
		return is
	}
	size := int(h[12]>>4) * 4
	if size < 20 {
		return resultDrop
	}
	if size == 20 {
		return truth(x.not)
	}
	if h, is = m.transport(size, size); is != resultTrue {
		return is
	}
	for i := 20; i < size; {
		if h[i] == 2 && size-i >= 4 && h[i+1] == 4 {
			return truth(x.sizes.holds(uint32(h[i+2])<<8|uint32(h[i+3])) != x.not)
		}
		if h[i] < 2 || i+1 >= size {
			i++
			continue
		}
		i += max(int(h[i+1]), 1)
	}
	return truth(x.not)
}

// u32Match is -m u32. Ref: xt_u32.c.
type u32Match struct {
	tests []u32Test
	not   bool
}

// u32Test is one location with its values; all tests must hold.
type u32Test struct {
	start  uint32
	steps  []u32Step
	values []span32
}

// u32Step is an operation on the value loaded so far.
type u32Step struct {
	op     string // &, <<, >>, @
	number uint32
}

const (
	maxU32Tests  = 10
	maxU32Steps  = 10 // besides the first number
	maxU32Values = 10
)

func (x *u32Match) read(s *setting) {
	x.not = s.not
	for _, text := range strings.Split(s.word(0), "&&") {
		location, values, two := strings.Cut(text, "=")
		if !two {
			s.fail("a test needs = and values: %q", text)
			return
		}
		test, ok := s.u32Location(location)
		if !ok {
			return
		}
		for _, v := range strings.Split(values, ",") {
			low, high, isRange := strings.Cut(strings.TrimSpace(v), ":")
			r := span32{low: uint32(s.number(strings.TrimSpace(low), 1<<32-1)), high: 1<<32 - 1}
			switch {
			case !isRange:
				r.high = r.low
			case high != "":
				r.high = uint32(s.number(strings.TrimSpace(high), 1<<32-1))
			}
			test.values = append(test.values, r)
		}
		x.tests = append(x.tests, test)
		if len(test.values) > maxU32Values || len(x.tests) > maxU32Tests {
			s.fail("at most %d tests of %d values are possible", maxU32Tests, maxU32Values)
			return
		}
	}
}

// u32Location reads a number and the operations behind it.
func (s *setting) u32Location(text string) (u32Test, bool) {
	var test u32Test
	op := ""
	for first := true; ; first = false {
		text = strings.TrimSpace(text)
		n := strings.IndexAny(text, "&<>@ \t")
		if n < 0 {
			n = len(text)
		}
		number := uint32(s.number(text[:n], 1<<32-1))
		if first {
			test.start = number
		} else {
			test.steps = append(test.steps, u32Step{op, number})
		}
		text = strings.TrimSpace(text[n:])
		if text == "" {
			return test, len(test.steps) <= maxU32Steps
		}
		op = text[:1]
		if op == "<" || op == ">" {
			op = text[:min(2, len(text))]
		}
		if op != "&" && op != "<<" && op != ">>" && op != "@" || len(test.steps) >= maxU32Steps {
			s.fail("%q is no operation, or one too many", text)
			return test, false
		}
		text = text[len(op):]
	}
}

func (x *u32Match) Name() string { return "u32" }

func (x *u32Match) appendSave(b []byte) []byte {
	b = append(appendNot(b, x.not), ` --u32 "`...)
	for i, test := range x.tests {
		if i > 0 {
			b = append(b, "&&"...)
		}
		b = fmt.Appendf(b, "0x%x", test.start)
		for _, step := range test.steps {
			b = fmt.Appendf(b, "%s0x%x", step.op, step.number)
		}
		for k, v := range test.values {
			b = append(b, "=,"[min(k, 1)])
			b = fmt.Appendf(b, "0x%x", v.low)
			if v.low != v.high {
				b = fmt.Appendf(b, ":0x%x", v.high)
			}
		}
	}
	return append(b, '"')
}

func (x *u32Match) translate(t *translator) bool { return t.fail("nft has no computed offsets") }

func (x *u32Match) matches(m *Machine) result {
	for i := range x.tests {
		holds, is := x.tests[i].holds(m)
		if is != resultTrue {
			return is
		}
		if !holds {
			return truth(x.not)
		}
	}
	return truth(!x.not)
}

// holds loads, computes and compares. Ref: xt_u32.c, u32_match_it.
func (t *u32Test) holds(m *Machine) (bool, result) {
	length := uint32(m.pkt.View.NetLen)
	at, value := uint32(0), uint32(0)
	load := func(position uint32) (bool, result) {
		if position > length || position+4 < position || position+4 > length {
			return false, resultTrue
		}
		h, is := m.bytes(m.pkt.View.NetOff+int(position), 4, 4)
		if is != resultTrue {
			return false, is
		}
		value = beUint32(h)
		return true, resultTrue
	}
	if ok, is := load(t.start); !ok {
		return false, is
	}
	for _, step := range t.steps {
		switch step.op {
		case "&":
			value &= step.number
		case "<<":
			value <<= step.number
		case ">>":
			value >>= step.number
		case "@":
			if at+value < at {
				return false, resultTrue
			}
			at += value
			if step.number > length || at > length-step.number {
				return false, resultTrue
			}
			if ok, is := load(at + step.number); !ok {
				return false, is
			}
		}
	}
	for _, v := range t.values {
		if v.holds(value) {
			return true, resultTrue
		}
	}
	return false, resultTrue
}

// stringMatch is -m string. Ref: xt_string.c, textsearch.
type stringMatch struct {
	pattern   []byte
	not       bool
	algorithm string
	from, to  uint16
	fold      bool
}

const maxPattern = 128

func (x *stringMatch) read(s *setting, pattern []byte, ok bool) {
	if !ok || len(pattern) == 0 || len(pattern) > maxPattern {
		s.fail("a pattern has 1 to %d bytes, hexadecimal ones between bars: |41 42|", maxPattern)
		return
	}
	x.pattern, x.not = pattern, s.not
}

func (x *stringMatch) uses(u *Uses) bool {
	u.TTL = u.TTL || x.from < 9
	return false
}

func (x *stringMatch) Name() string { return "string" }

func (x *stringMatch) appendSave(b []byte) []byte {
	printable := true
	for _, c := range x.pattern {
		printable = printable && c >= ' ' && c < 0x7f
	}
	b = appendNot(b, x.not)
	if printable {
		b = append(b, ` --string "`...)
		for _, c := range x.pattern {
			if c == '"' || c == '\\' {
				b = append(b, '\\')
			}
			b = append(b, c)
		}
		b = append(b, '"')
	} else {
		b = fmt.Appendf(b, ` --hex-string "|%x|"`, x.pattern)
	}
	b = append(append(b, " --algo "...), x.algorithm...)
	if x.from != 0 {
		b = strconv.AppendUint(append(b, " --from "...), uint64(x.from), 10)
	}
	if x.to != 65535 {
		b = strconv.AppendUint(append(b, " --to "...), uint64(x.to), 10)
	}
	if x.fold {
		b = append(b, " --icase"...)
	}
	return b
}

func (x *stringMatch) translate(t *translator) bool { return t.fail("nft has no search for strings") }

// matches searches the packet for the pattern: from the offset on, all of it
// before the end.
func (x *stringMatch) matches(m *Machine) result {
	v := m.pkt.View
	all := m.network()
	end := min(int(x.to), v.NetLen)
	if int(x.from) > end {
		return truth(x.not)
	}
	text := all[min(int(x.from), len(all)):min(end, len(all))]
	if x.find(text) {
		return truth(!x.not)
	}
	if end > len(all) {
		return resultCut
	}
	return truth(x.not)
}

func (x *stringMatch) find(text []byte) bool {
	if !x.fold {
		return bytes.Contains(text, x.pattern)
	}
	for i := 0; i+len(x.pattern) <= len(text); i++ {
		if asciiEqualFold(text[i:i+len(x.pattern)], x.pattern) {
			return true
		}
	}
	return false
}

func asciiEqualFold(a, b []byte) bool {
	for i := range a {
		if upper(a[i]) != upper(b[i]) {
			return false
		}
	}
	return true
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 32
	}
	return c
}
