package expr

import (
	"fmt"
	"strconv"
	"strings"
)

// TextError is a mistake in bytecode text: where and what.
type TextError struct {
	Line, Column int // counted from 1; columns in bytes
	Reason       string
}

func (e *TextError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Reason)
}

// TextOptions say what bytecode text leaves open.
type TextOptions struct {
	// Host says that the constants of a single line are host-order numbers.
	// Rules find that out by themselves: see ParseRuleText.
	Host bool
	// Memory says that all constants are written in memory order, as older
	// tools and rules read back from the kernel show them. It overrules Host.
	Memory bool
	// SetFields gives the parts of a set's keys and data, so that a rule's
	// constants that meet a set get their byte order; nil if not known.
	SetFields func(set string) (key, data []ElementField)
}

// ParseText reads one expression as AppendText writes it, with or without the
// surrounding brackets. The error is a *TextError that names what is wrong or
// unknown.
//
// The text does not hold everything: the length of shifts and of operations
// on two registers is taken to be 4, an exthdr without a name to be an SCTP
// chunk, and options of osf, synproxy and socket that are not shown to be
// absent. ParseRuleText knows better where the rule shows it.
func ParseText(line string, opts TextOptions) (Expr, error) {
	e, err := parseLine(line, 1)
	if err != nil {
		return nil, err
	}
	if opts.Host && !opts.Memory {
		eachConstant(e, func(v *Value) { setHost(v) })
	}
	return e, nil
}

// ParseRuleText reads the expressions of a rule, one per line, in order.
// Blank lines and lines that start with # are skipped. It follows the values
// through the registers: a constant that meets a host-order value, such as a
// mark, becomes a host-order number, and lengths that lines do not show come
// from what was loaded.
func ParseRuleText(text string, opts TextOptions) ([]Expr, error) {
	var rule []Expr
	for i, line := range strings.Split(text, "\n") {
		if t := strings.TrimSpace(line); t == "" || t[0] == '#' {
			continue
		}
		e, err := parseLine(line, i+1)
		if err != nil {
			return nil, err
		}
		rule = append(rule, e)
	}
	completeRule(rule, &opts)
	return rule, nil
}

// expressionParsers are the readers of the expressions, by their first word.
var expressionParsers map[string]func(p *textParser) Expr

func init() {
	expressionParsers = map[string]func(p *textParser) Expr{
		"bitwise": parseBitwise, "byteorder": parseByteorder, "cmp": parseCmp, "connlimit": parseConnLimit,
		"counter": parseCounter, "ct": parseCT, "dup": parseDup, "dynset": parseDynset, "exthdr": parseExthdr,
		"fib": parseFib, "flow_offload": parseFlowOffload, "fwd": parseFwd, "hash": parseHash,
		"immediate": parseImmediate, "inner": parseInner, "last": parseLast, "limit": parseLimit, "log": parseLog,
		"lookup": parseLookup, "masq": parseMasq, "match": parseMatch, "meta": parseMeta, "nat": parseNAT,
		"notrack": parseNotrack, "numgen": parseNumgen, "objref": parseObjref, "osf": parseOSF,
		"payload": parsePayload, "queue": parseQueue, "quota": parseQuota, "range": parseRange,
		"redir": parseRedir, "reject": parseReject, "rt": parseRT, "socket": parseSocket,
		"synproxy": parseSynproxy, "target": parseTarget, "tproxy": parseTProxy, "tunnel": parseTunnel, "xfrm": parseXFRM,
	}
}

func parseLine(s string, line int) (Expr, error) {
	p := &textParser{s: s, line: line}
	bracket := p.accept("[")
	e := p.expression()
	if bracket {
		p.expect("]")
	}
	p.end()
	if p.err != nil {
		return nil, p.err
	}
	return e, nil
}

// textParser walks over one line. The first error sticks, and everything
// after it reads as empty.
type textParser struct {
	s    string
	pos  int
	line int
	err  *TextError
}

func (p *textParser) expression() Expr {
	start := p.space()
	kind := p.word()
	parse := expressionParsers[kind]
	if parse == nil {
		p.failAt(start, "unknown expression %q", kind)
		return nil
	}
	return parse(p)
}

func (p *textParser) failAt(pos int, format string, args ...any) {
	if p.err == nil {
		p.err = &TextError{Line: p.line, Column: pos + 1, Reason: fmt.Sprintf(format, args...)}
	}
}

// space skips blanks and gives the position after them.
func (p *textParser) space() int {
	for p.pos < len(p.s) && (p.s[p.pos] == ' ' || p.s[p.pos] == '\t' || p.s[p.pos] == '\r') {
		p.pos++
	}
	return p.pos
}

const punctuation = "(),[]"

// peek is the next word or punctuation mark, "" at the end.
func (p *textParser) peek() string {
	start := p.space()
	if start == len(p.s) || p.err != nil {
		return ""
	}
	if strings.IndexByte(punctuation, p.s[start]) >= 0 {
		return p.s[start : start+1]
	}
	end := start
	for end < len(p.s) && strings.IndexByte(" \t\r"+punctuation, p.s[end]) < 0 {
		end++
	}
	return p.s[start:end]
}

// word reads the next word.
func (p *textParser) word() string {
	w := p.peek()
	p.pos += len(w)
	return w
}

// name reads a word that must be there.
func (p *textParser) name(what string) string {
	start := p.space()
	w := p.word()
	if w == "" || strings.Contains(punctuation, w) {
		p.failAt(start, "expected %s, found %s", what, found(w))
		return ""
	}
	return w
}

// accept takes the words if they are all next.
func (p *textParser) accept(words ...string) bool {
	start := p.pos
	for _, w := range words {
		if p.err != nil || p.word() != w {
			p.pos = start
			return false
		}
	}
	return true
}

func (p *textParser) expect(words ...string) {
	for _, w := range words {
		start := p.space()
		if got := p.word(); got != w {
			p.failAt(start, "expected %q, found %s", w, found(got))
		}
	}
}

func found(w string) string {
	if w == "" {
		return "the end of the line"
	}
	return strconv.Quote(w)
}

func (p *textParser) end() {
	start := p.space()
	if w := p.peek(); w != "" {
		p.failAt(start, "unexpected %q", w)
	}
}

// uint reads a number of at most bits bits, decimal or with 0x.
func (p *textParser) uint(bits int) uint64 {
	start := p.space()
	return p.number(start, p.word(), bits)
}

func (p *textParser) number(pos int, w string, bits int) uint64 {
	digits, base := w, 10
	if rest, ok := strings.CutPrefix(w, "0x"); ok {
		digits, base = rest, 16
	}
	n, err := strconv.ParseUint(digits, base, bits)
	switch {
	case err == nil:
	case w == "":
		p.failAt(pos, "expected a number, found the end of the line")
	case isRange(err):
		p.failAt(pos, "number %s is larger than %d bits", w, bits)
	default:
		p.failAt(pos, "expected a number, found %q", w)
	}
	return n
}

func isRange(err error) bool {
	ne, ok := err.(*strconv.NumError)
	return ok && ne.Err == strconv.ErrRange
}

// named reads `name N` if it is there.
func (p *textParser) named(name string, bits int) (n uint64, ok bool) {
	if !p.accept(name) {
		return 0, false
	}
	return p.uint(bits), true
}

// suffixed reads a number with a suffix in the same word, such as 4b.
func (p *textParser) suffixed(suffix string, bits int) uint64 {
	start := p.space()
	w := p.word()
	digits, ok := strings.CutSuffix(w, suffix)
	if !ok {
		p.failAt(start, "expected a number with %q, found %s", suffix, found(w))
		return 0
	}
	return p.number(start, digits, bits)
}

// reg reads `reg N`.
func (p *textParser) reg() Reg {
	p.expect("reg")
	return p.regNumber()
}

// regNumber reads a register's number.
func (p *textParser) regNumber() Reg {
	start := p.space()
	r := Reg(p.uint(8))
	if !r.Valid() {
		p.failAt(start, "no register %d", r)
	}
	return r
}

// namedReg reads `name reg N` if it is there.
func (p *textParser) namedReg(name string) (r Reg, ok bool) {
	if !p.accept(name) {
		return 0, false
	}
	return p.reg(), true
}

// flags reads ` flags 0x2` if it is there.
func (p *textParser) flags() uint32 {
	n, _ := p.named("flags", 32)
	return uint32(n)
}

// words reads words of a constant, each with 0x and a whole number of bytes.
func (p *textParser) words() (words [][]byte) {
	for strings.HasPrefix(p.peek(), "0x") {
		start := p.space()
		w := p.word()
		digits := w[2:]
		if len(digits) == 0 || len(digits)%2 != 0 || len(digits) > 8 {
			p.failAt(start, "word %s of a constant needs 2 to 8 digits, an even number", w)
			return nil
		}
		bytes := make([]byte, 0, 4)
		for i := 0; i < len(digits); i += 2 {
			n, err := strconv.ParseUint(digits[i:i+2], 16, 8)
			if err != nil {
				p.failAt(start, "word %s of a constant is not hexadecimal", w)
				return nil
			}
			bytes = append(bytes, byte(n))
		}
		words = append(words, bytes)
	}
	if words == nil {
		p.failAt(p.space(), "expected a constant, found %s", found(p.peek()))
	}
	return words
}

// value reads a constant, in the order of the text.
func (p *textParser) value() Value { return p.join(p.space(), p.words()) }

// values reads two constants of the same length.
func (p *textParser) values() (from, to Value) {
	start := p.space()
	words := p.words()
	if len(words)%2 != 0 {
		p.failAt(start, "expected two constants of the same length")
		return
	}
	half := len(words) / 2
	from, to = p.join(start, words[:half]), p.join(start, words[half:])
	if len(from.Bytes) != len(to.Bytes) {
		p.failAt(start, "expected two constants of the same length")
	}
	return from, to
}

func (p *textParser) join(pos int, words [][]byte) Value {
	var v Value
	for i, w := range words {
		if len(w) != 4 && i != len(words)-1 {
			p.failAt(pos, "only the last word of a constant may be shorter than 4 bytes")
		}
		v.Bytes = append(v.Bytes, w...)
	}
	if len(v.Bytes) > FileSize {
		p.failAt(pos, "constant has %d bytes, more than the registers hold", len(v.Bytes))
	}
	return v
}
