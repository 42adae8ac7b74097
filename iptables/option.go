package iptables

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"verdict/catalog"
	"verdict/diag"
)

// option is one option of an extension.
type option struct {
	names []string // without dashes, the first being the usual one
	args  int      // words that follow
	not   bool     // may be inverted
	set   func(x any, s *setting)
}

// opt makes an option of an extension whose data is T. Names are separated by
// blanks.
func opt[T any](names string, args int, set func(x *T, s *setting)) option {
	return option{names: strings.Fields(names), args: args, set: func(x any, s *setting) { set(x.(*T), s) }}
}

// optNot makes an option that a "!" may stand before.
func optNot[T any](names string, args int, set func(x *T, s *setting)) option {
	o := opt(names, args, set)
	o.not = true
	return o
}

// setting is one use of an option: its words, and whether it is inverted.
type setting struct {
	rule   *ruleParser
	option string
	span   diag.Span // of the option
	not    bool
	values []token
}

// word is the option's i-th word.
func (s *setting) word(i int) string { return s.values[i].text }

// fail reports a mistake at the option's first word, or at the option.
func (s *setting) fail(format string, args ...any) *diag.Diagnostic {
	span := s.span
	if len(s.values) > 0 {
		span = s.values[0].span
	}
	return s.rule.errorf(span, "iptables/value", "--%s: %s", s.option, fmt.Sprintf(format, args...))
}

// uint reads a number in C notation.
func (s *setting) uint(limit uint64) uint64 { return s.number(s.word(0), limit) }

func (s *setting) number(text string, limit uint64) uint64 {
	n, err := strconv.ParseUint(cNumber(text), 0, 64)
	if err != nil {
		s.fail("%s is no number", diag.Printable(text))
		return 0
	}
	if n > limit {
		s.fail("%d is too large, %d is possible", n, limit)
		return 0
	}
	return n
}

// cNumber turns the octal notation of C into that of Go, and refuses what only
// Go has.
func cNumber(text string) string {
	if strings.ContainsAny(text, "_oObB") && !strings.HasPrefix(text, "0x") && !strings.HasPrefix(text, "0X") {
		return "-"
	}
	return strings.ReplaceAll(text, "_", "-")
}

// span32 is a range of numbers.
type span32 struct{ low, high uint32 }

// text prints a range with a separator between unequal bounds.
func (r span32) text(separator string) string {
	if r.low == r.high {
		return fmt.Sprint(r.low)
	}
	return fmt.Sprintf("%d%s%d", r.low, separator, r.high)
}

// holds reports whether a number is in the range.
func (r span32) holds(n uint32) bool { return n >= r.low && n <= r.high }

// numbers reads A, A:B, :B or A:.
func (s *setting) numbers(text string, limit uint32) span32 {
	low, high, two := strings.Cut(text, ":")
	r := span32{0, limit}
	if low != "" {
		r.low = uint32(s.number(low, uint64(limit)))
	}
	switch {
	case !two:
		r.high = r.low
	case high != "":
		r.high = uint32(s.number(high, uint64(limit)))
	}
	if text == "" || r.low > r.high {
		s.fail("the range %s is empty", diag.Printable(text))
	}
	return r
}

// port reads a port's number or name.
func (s *setting) port(text string) uint16 {
	if n, err := strconv.ParseUint(cNumber(text), 0, 64); err == nil {
		if n > 65535 {
			s.fail("%d is no port", n)
			return 0
		}
		return uint16(n)
	}
	n, ok := catalog.InetService.SymbolByName(text)
	if !ok {
		d := s.fail("%s is neither a port nor the name of a service", diag.Printable(text))
		var names []string
		for _, symbol := range catalog.InetService.Symbols {
			names = append(names, symbol.Name)
		}
		if near := diag.Nearest(text, names); near != "" {
			d.Hint = "did you mean " + near + "?"
		}
	}
	return uint16(n)
}

// ports reads a port or a range of them.
func (s *setting) ports(text string) span32 {
	low, high, two := strings.Cut(text, ":")
	r := span32{0, 65535}
	if low != "" || !two {
		r.low = uint32(s.port(low))
	}
	switch {
	case !two:
		r.high = r.low
	case high != "":
		r.high = uint32(s.port(high))
	}
	if r.low > r.high {
		s.fail("the range of ports %s is empty", diag.Printable(text))
	}
	return r
}

// masked is a value of which some bits count.
type masked struct{ value, mask uint32 }

// masked reads V or V/M.
func (s *setting) masked(limit uint32) masked {
	value, mask, two := strings.Cut(s.word(0), "/")
	m := masked{uint32(s.number(value, uint64(limit))), limit}
	if two {
		m.mask = uint32(s.number(mask, uint64(limit)))
	}
	return m
}

// appendMasked prints a value in hexadecimal, with its mask if some bits do not
// count.
func appendMasked(b []byte, m masked, full uint32) []byte {
	b = fmt.Appendf(b, "%#x", m.value)
	if m.mask != full {
		b = fmt.Appendf(b, "/%#x", m.mask)
	}
	return b
}

// address reads an address of the rule's family.
func (s *setting) address(text string) netip.Addr {
	a, ok := parseAddr(text, s.rule.family())
	if !ok {
		s.fail("%s is no address", diag.Printable(text))
		return zeroAddr(s.rule.family())
	}
	return a
}

// network reads ADDRESS[/MASK].
func (s *setting) network() Network {
	n, ok := parseNetwork(s.word(0), s.rule.family())
	if !ok {
		s.fail("%s is no network", diag.Printable(s.word(0)))
		n = Network{Addr: zeroAddr(s.rule.family()), Mask: zeroAddr(s.rule.family())}
	}
	n.Not = s.not
	return n
}

// list splits a word at commas; each part must be one of some names, compared
// without regard to case where fold is set. It returns the indexes.
func (s *setting) list(names []string, what string) []int {
	var out []int
	for _, part := range strings.Split(s.word(0), ",") {
		i := s.choice(part, names, what)
		if i < 0 {
			return out
		}
		out = append(out, i)
	}
	return out
}

// choice finds a word among names, without regard to case.
func (s *setting) choice(word string, names []string, what string) int {
	for i, n := range names {
		if strings.EqualFold(n, word) {
			return i
		}
	}
	d := s.fail("%s is no %s", diag.Printable(word), what)
	if near := diag.Nearest(strings.ToLower(word), lower(names)); near != "" {
		d.Hint = "did you mean " + near + "?"
	} else {
		d.Hint = "known are " + strings.Join(names, ", ")
	}
	return -1
}

func lower(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strings.ToLower(n)
	}
	return out
}

func zeroAddr(f catalog.Family) netip.Addr {
	if f == catalog.FamilyIP6 {
		return netip.IPv6Unspecified()
	}
	return netip.IPv4Unspecified()
}

// parseAddr reads an address; of IPv4, missing parts at the end are zero.
func parseAddr(text string, f catalog.Family) (netip.Addr, bool) {
	if f == catalog.FamilyIP6 {
		a, err := netip.ParseAddr(text)
		return a, err == nil && a.Is6() && a.Zone() == ""
	}
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var raw [4]byte
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil {
			return netip.Addr{}, false
		}
		raw[i] = byte(n)
	}
	return netip.AddrFrom4(raw), true
}

// parseNetwork reads ADDRESS, ADDRESS/LENGTH or ADDRESS/MASK and clears the
// bits outside the mask.
func parseNetwork(text string, f catalog.Family) (Network, bool) {
	address, mask, two := strings.Cut(text, "/")
	a, ok := parseAddr(address, f)
	if !ok {
		return Network{}, false
	}
	m := lengthMask(f, a.BitLen())
	if two {
		if m, ok = parseMask(mask, f); !ok {
			return Network{}, false
		}
	}
	return Network{Addr: maskAddr(a, m), Mask: m}, true
}

func parseMask(text string, f catalog.Family) (netip.Addr, bool) {
	if n, err := strconv.Atoi(text); err == nil {
		full := zeroAddr(f).BitLen()
		if n < 0 || n > full {
			return netip.Addr{}, false
		}
		return lengthMask(f, n), true
	}
	if f == catalog.FamilyIP && strings.Count(text, ".") != 3 {
		return netip.Addr{}, false
	}
	return parseAddr(text, f)
}

func lengthMask(f catalog.Family, bits int) netip.Addr {
	raw := zeroAddr(f).AsSlice()
	for i := range bits {
		raw[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(raw)
	return a
}

func maskAddr(a, mask netip.Addr) netip.Addr {
	raw, m := a.AsSlice(), mask.AsSlice()
	for i := range raw {
		raw[i] &= m[i]
	}
	out, _ := netip.AddrFromSlice(raw)
	return out
}

// hexBytes reads text with parts between bars in hexadecimal: "|41 42|x".
func hexBytes(text string) ([]byte, bool) {
	var out []byte
	for i, part := range strings.Split(text, "|") {
		if i%2 == 0 {
			out = append(out, part...)
			continue
		}
		raw, err := hex.DecodeString(strings.ReplaceAll(part, " ", ""))
		if err != nil {
			return nil, false
		}
		out = append(out, raw...)
	}
	return out, strings.Count(text, "|")%2 == 0
}

// appendWord prints a name: bare, as iptables-save does, unless it would be read
// back as something else.
func appendWord(b []byte, text string) []byte {
	if text == "" || strings.ContainsAny(text, " \t\"\r\n") || text[0] == '!' || text[0] == '-' {
		return appendQuoted(b, text)
	}
	return append(b, text...)
}

// word is appendWord as a string.
func word(text string) string { return string(appendWord(nil, text)) }

// appendQuoted prints a word as iptables-save does: bare if that is safe.
func appendQuoted(b []byte, text string) []byte {
	bare := text != ""
	for i := range len(text) {
		c := text[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		bare = bare && (letter || c == '_' || c == '-')
	}
	if bare {
		return append(b, text...)
	}
	b = append(b, '"')
	for i := range len(text) {
		if strings.IndexByte(`"\'`, text[i]) >= 0 {
			b = append(b, '\\')
		}
		b = append(b, text[i])
	}
	return append(b, '"')
}
