package nftjson

import (
	"strconv"
	"unicode/utf8"
)

// writer appends JSON in the layout of the reference: one line, a blank
// behind colons and commas.
type writer struct{ b []byte }

// next sets a member or item off from the one before it.
func (w *writer) next() {
	if n := len(w.b); n > 0 && w.b[n-1] != '{' && w.b[n-1] != '[' && w.b[n-1] != ' ' {
		w.b = append(w.b, ", "...)
	}
}

// key starts a member of an object.
func (w *writer) key(name string) {
	w.next()
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, `": `...)
}

// open starts an object or array as the value of a key or as an item.
func (w *writer) open(sign byte) {
	w.next()
	w.b = append(w.b, sign)
}

func (w *writer) close(sign byte) { w.b = append(w.b, sign) }

// wrap starts {"name": and an object in it; unwrap closes both.
func (w *writer) wrap(name string) {
	w.open('{')
	w.key(name)
	w.open('{')
}

func (w *writer) unwrap() { w.b = append(w.b, "}}"...) }

// list writes {"name": [ … ]}.
func (w *writer) list(name string, items func()) {
	w.open('{')
	w.key(name)
	w.open('[')
	items()
	w.b = append(w.b, "]}"...)
}

// null writes {"name": null}.
func (w *writer) null(name string) {
	w.open('{')
	w.key(name)
	w.b = append(w.b, "null}"...)
}

func (w *writer) string(s string) {
	w.next()
	w.b = appendString(w.b, s)
}

func (w *writer) strings(items []string) {
	w.open('[')
	for _, s := range items {
		w.string(s)
	}
	w.close(']')
}

func (w *writer) number(n uint64) {
	w.next()
	w.b = strconv.AppendUint(w.b, n, 10)
}

func (w *writer) integer(n int64) {
	w.next()
	w.b = strconv.AppendInt(w.b, n, 10)
}

func (w *writer) bool(v bool) {
	w.next()
	w.b = strconv.AppendBool(w.b, v)
}

// text writes a string member, unless the string is empty.
func (w *writer) text(name, s string) {
	if s != "" {
		w.key(name)
		w.string(s)
	}
}

const hexDigits = "0123456789ABCDEF"

// appendString writes a string in quotes. Only what JSON demands is escaped;
// bytes that are no UTF-8 become the replacement character.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\b':
			b = append(b, `\b`...)
		case r == '\f':
			b = append(b, `\f`...)
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
