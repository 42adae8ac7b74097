package nftjson

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"verdict/diag"
)

// kind is what a JSON value is.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

func (k kind) String() string {
	return [...]string{"null", "a truth value", "a number", "a string", "a list", "an object"}[k]
}

// node is a JSON value with its place, which is also where its text is.
type node struct {
	kind       kind
	truth      bool
	escaped    bool // a string with escapes in it
	start, end int32
	inside     *inside // of a list or an object that is not empty
}

// inside is what a list or an object holds.
type inside struct {
	items []node
	keys  []key // of an object, one for each item
}

func (n *node) items() []node {
	if n.inside == nil {
		return nil
	}
	return n.inside.items
}

func (n *node) keys() []key {
	if n.inside == nil {
		return nil
	}
	return n.inside.keys
}

// textOf is the value of a string, or the digits of a number. Without escapes
// it is a part of the source.
func textOf(source string, n *node) string {
	switch {
	case n.kind != kindString:
		return source[n.start:n.end]
	case !n.escaped:
		return source[n.start+1 : n.end-1]
	}
	r := reader{text: source, pos: int(n.start)}
	s, _ := r.string()
	return s
}

// key is the name of an object's member with its place, quotes included.
type key struct {
	name       string
	start, end int32
}

// Limits of what is read. Rulesets nest less than twenty values.
const (
	maxDepth  = 200
	maxSize   = 1<<31 - 2
	maxValues = 1 << 26 // some ten million elements
)

// reader reads JSON strictly as RFC 8259 has it.
type reader struct {
	src   *diag.Source
	text  string
	pos   int
	depth int
	count int
	err   *diag.Diagnostic
}

// read reads the whole text as one value, and gives the text for textOf; the
// diagnostic is nil unless it is none.
func read(src *diag.Source) (n node, text string, failed *diag.Diagnostic) {
	if len(src.Text) > maxSize {
		return node{}, "", &diag.Diagnostic{Code: codeSyntax, Message: "the text is longer than 2 GB"}
	}
	r := reader{src: src, text: string(src.Text)}
	r.blanks()
	n = r.value()
	if r.blanks(); r.err == nil && r.pos < len(r.text) {
		r.fail(r.pos, r.pos+1, "unexpected "+r.found()+" behind the end of the JSON value")
	}
	return n, r.text, r.err
}

func (r *reader) fail(start, end int, message string) {
	if r.err == nil {
		span := diag.Span{Source: r.src, Start: int32(start), End: int32(min(end, len(r.text)))}
		r.err = &diag.Diagnostic{Code: codeSyntax, Message: message, Span: span}
	}
	r.pos = len(r.text)
}

// found names what stands at the current place.
func (r *reader) found() string {
	if r.pos >= len(r.text) {
		return "end of the text"
	}
	c, _ := utf8.DecodeRuneInString(r.text[r.pos:])
	return strconv.QuoteRune(c)
}

func (r *reader) blanks() {
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}

// accept takes a sign, with the blanks behind it, if it stands here.
func (r *reader) accept(c byte) bool {
	if r.pos < len(r.text) && r.text[r.pos] == c {
		r.pos++
		r.blanks()
		return true
	}
	return false
}

func (r *reader) value() node {
	n := node{start: int32(r.pos)}
	if r.count++; r.count > maxValues {
		r.fail(r.pos, r.pos+1, "the document has more than "+strconv.Itoa(maxValues)+" values")
		return n
	}
	if r.pos >= len(r.text) {
		r.fail(r.pos, r.pos, "unexpected end of the text, expected a JSON value")
		return n
	}
	switch c := r.text[r.pos]; {
	case c == '{':
		r.nested(&n, r.object)
	case c == '[':
		r.nested(&n, r.array)
	case c == '"':
		n.kind = kindString
		_, n.escaped = r.string()
	case c == '-' || c >= '0' && c <= '9':
		n.kind = kindNumber
		r.number()
	default:
		r.word(&n)
	}
	n.end = int32(r.pos)
	return n
}

// nested reads an object or array, up to the bound of nesting.
func (r *reader) nested(n *node, body func(*node)) {
	if r.depth == maxDepth {
		r.fail(r.pos, r.pos+1, "values are nested deeper than "+strconv.Itoa(maxDepth)+" levels")
		return
	}
	r.depth++
	body(n)
	r.depth--
}

func (r *reader) word(n *node) {
	for _, w := range [...]struct {
		text  string
		kind  kind
		truth bool
	}{{"null", kindNull, false}, {"true", kindBool, true}, {"false", kindBool, false}} {
		if end := r.pos + len(w.text); end <= len(r.text) && r.text[r.pos:end] == w.text {
			n.kind, n.truth = w.kind, w.truth
			r.pos = end
			return
		}
	}
	r.fail(r.pos, r.pos+1, "unexpected "+r.found()+", expected a JSON value")
}

func (r *reader) object(n *node) {
	n.kind = kindObject
	open := r.pos
	r.pos++
	r.blanks()
	for first := true; ; first = false {
		if first && r.closes('}') {
			return
		}
		k := key{start: int32(r.pos)}
		if r.pos >= len(r.text) || r.text[r.pos] != '"' {
			r.unclosed(open, "a name in quotes")
			return
		}
		k.name, _ = r.string()
		k.end = int32(r.pos)
		r.blanks()
		if !r.accept(':') {
			r.unclosed(open, "':'")
			return
		}
		if n.inside == nil {
			n.inside = &inside{}
		}
		n.inside.keys = append(n.inside.keys, k)
		n.inside.items = append(n.inside.items, r.value())
		r.blanks()
		if r.closes('}') {
			return
		}
		if !r.accept(',') {
			r.unclosed(open, "',' or '}'")
			return
		}
	}
}

func (r *reader) array(n *node) {
	n.kind = kindArray
	open := r.pos
	r.pos++
	r.blanks()
	for first := true; ; first = false {
		if first && r.closes(']') {
			return
		}
		if n.inside == nil {
			n.inside = &inside{}
		}
		n.inside.items = append(n.inside.items, r.value())
		r.blanks()
		if r.closes(']') {
			return
		}
		if !r.accept(',') {
			r.unclosed(open, "',' or ']'")
			return
		}
	}
}

// closes takes a closing bracket without the blanks behind it, which are not
// part of the value.
func (r *reader) closes(c byte) bool {
	if r.err == nil && r.pos < len(r.text) && r.text[r.pos] == c {
		r.pos++
		return true
	}
	return false
}

// unclosed reports what is missing in an object or array that starts at open.
func (r *reader) unclosed(open int, expected string) {
	if r.err != nil {
		return
	}
	r.fail(r.pos, r.pos+1, "unexpected "+r.found()+", expected "+expected)
	r.err.Expected = []string{expected}
	r.err.Related = []diag.Span{{Source: r.src, Start: int32(open), End: int32(open + 1)}}
}

// number takes a number.
func (r *reader) number() {
	start := r.pos
	digits := func() bool {
		from := r.pos
		for r.pos < len(r.text) && r.text[r.pos] >= '0' && r.text[r.pos] <= '9' {
			r.pos++
		}
		return r.pos > from
	}
	at := func(c byte) bool { return r.pos < len(r.text) && r.text[r.pos] == c }
	if at('-') {
		r.pos++
	}
	zero := at('0')
	from := r.pos
	ok := digits() && !(zero && r.pos > from+1)
	if ok && at('.') {
		r.pos++
		ok = digits()
	}
	if ok && (at('e') || at('E')) {
		r.pos++
		if at('+') || at('-') {
			r.pos++
		}
		ok = digits()
	}
	if !ok {
		r.fail(start, max(r.pos, start+1), "this is no JSON number")
	}
}

// string takes a string in quotes and gives its value, and whether there are
// escapes in it.
func (r *reader) string() (s string, escaped bool) {
	start := r.pos
	r.pos++
	from := r.pos
	for r.pos < len(r.text) {
		switch c := r.text[r.pos]; {
		case c == '"':
			s := r.text[from:r.pos]
			r.pos++
			if !utf8.ValidString(s) {
				r.fail(start, r.pos, "this string is not UTF-8")
			}
			return s, false
		case c == '\\':
			return r.escapedString(start, from), true
		case c < ' ':
			r.fail(r.pos, r.pos+1, "a control character stands in a string")
			return "", false
		}
		r.pos++
	}
	r.fail(start, start+1, "this string is not closed")
	return "", false
}

// escapedString takes a string from its first escape on.
func (r *reader) escapedString(start, from int) string {
	b := append([]byte(nil), r.text[from:r.pos]...)
	for r.pos < len(r.text) {
		c := r.text[r.pos]
		r.pos++
		switch {
		case c == '"':
			if !utf8.Valid(b) {
				r.fail(start, r.pos, "this string is not UTF-8")
			}
			return string(b)
		case c < ' ':
			r.fail(r.pos-1, r.pos, "a control character stands in a string")
			return ""
		case c != '\\':
			b = append(b, c)
		default:
			b = r.escape(b)
		}
	}
	r.fail(start, start+1, "this string is not closed")
	return ""
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape takes what stands behind a backslash.
func (r *reader) escape(b []byte) []byte {
	if r.pos >= len(r.text) {
		return b
	}
	c := r.text[r.pos]
	if plain, ok := escapes[c]; ok {
		r.pos++
		return append(b, plain)
	}
	if c != 'u' {
		r.fail(r.pos-1, r.pos+1, "unknown escape in a string")
		return b
	}
	at := r.pos - 1
	v := r.hex4()
	if utf16.IsSurrogate(v) {
		low := rune(-1)
		if r.pos+1 < len(r.text) && r.text[r.pos] == '\\' && r.text[r.pos+1] == 'u' {
			r.pos++
			low = r.hex4()
		}
		v = utf16.DecodeRune(v, low)
		if v == utf8.RuneError {
			r.fail(at, r.pos, "half of a surrogate pair stands in a string")
			return b
		}
	}
	if v == 0 {
		r.fail(at, r.pos, "a null byte stands in a string")
		return b
	}
	return utf8.AppendRune(b, max(v, 0))
}

// hex4 takes u and four hexadecimal digits.
func (r *reader) hex4() rune {
	at := r.pos
	if at+5 > len(r.text) {
		r.fail(at, at+1, "this escape is cut off")
		return 1
	}
	v, err := strconv.ParseUint(r.text[at+1:at+5], 16, 16)
	if err != nil {
		r.fail(at, at+5, "this escape needs four hexadecimal digits")
		return 1
	}
	r.pos += 5
	return rune(v)
}
