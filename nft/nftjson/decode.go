package nftjson

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"verdict/diag"
	"verdict/nft/syntax"
)

// The codes of diagnostics.
const (
	codeSyntax   diag.Code = "json/syntax"
	codeType     diag.Code = "json/type"
	codeMissing  diag.Code = "json/missing"
	codeUnknown  diag.Code = "json/unknown"
	codeValue    diag.Code = "json/value"
	codeVersion  diag.Code = "json/version"
	codeIgnored  diag.Code = "json/ignored"
	codeTooLarge diag.Code = "json/too-large"
)

// Is reports whether a text looks like JSON rather than the language, in
// which no text starts with a bracket.
func Is(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// Decode reads a JSON document into commands of the syntax tree. All findings
// point into the JSON and name the path of the value. Commands that had
// errors are left out; like the reference, unknown members of objects are
// passed over, with a warning.
//
// Cost: linear in the text. Hostile input is bounded: nesting by a limit, the
// rest by its size.
//
// Ref: libnftables-json(5)
func Decode(src *diag.Source) (*syntax.File, *diag.List) {
	d := &decoder{src: src}
	file := &syntax.File{Source: src}
	root, text, failed := read(src)
	if failed != nil {
		d.diags.Add(failed)
		return file, &d.diags
	}
	d.root, d.source = &root, text
	d.document(file)
	return file, &d.diags
}

// decoder is the state of one call of Decode.
type decoder struct {
	src    *diag.Source
	source string // the source's text
	root   *node
	diags  diag.List
}

// document reads {"nftables": [ … ]}.
func (d *decoder) document(file *syntax.File) {
	if !d.want(d.root, kindObject) {
		return
	}
	list := d.root.get("nftables")
	if list == nil {
		e := d.errorf(d.root, codeMissing, `expected a member "nftables" with a list of commands`)
		e.Expected = []string{`{"nftables": [ … ]}`}
		return
	}
	if !d.want(list, kindArray) {
		return
	}
	for i := range list.items() {
		if c := d.commandObject(&list.items()[i]); c != nil {
			file.Items = append(file.Items, c)
		}
	}
}

// textOf is the value of a string, or the digits of a number.
func (d *decoder) textOf(n *node) string { return textOf(d.source, n) }

func (d *decoder) span(n *node) diag.Span {
	return diag.Span{Source: d.src, Start: n.start, End: n.end}
}

func (d *decoder) at(n *node) syntax.At { return syntax.At{Span: d.span(n)} }

// errorf reports an error about a value, with its path.
func (d *decoder) errorf(n *node, code diag.Code, format string, args ...any) *diag.Diagnostic {
	message := fmt.Sprintf(format, args...)
	if p := d.path(n); p != "" {
		message = p + ": " + message
	}
	return d.diags.Errorf(d.span(n), code, "%s", message)
}

// path names a value by the members and indices that lead to it.
func (d *decoder) path(n *node) string {
	var b strings.Builder
	at := d.root
	for at != nil && at != n {
		at = at.toward(n, &b)
	}
	return b.String()
}

// toward finds the item of a value that holds another one by its place, and
// writes its name.
func (n *node) toward(inner *node, b *strings.Builder) *node {
	for i := range n.items() {
		item := &n.items()[i]
		if item.start > inner.start || inner.end > item.end {
			continue
		}
		if n.kind == kindArray {
			b.WriteString("[" + strconv.Itoa(i) + "]")
			return item
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(n.keys()[i].name)
		return item
	}
	return nil
}

// get finds a member of an object; of several with one name the last counts.
func (n *node) get(name string) *node {
	for i := len(n.keys()) - 1; i >= 0; i-- {
		if n.keys()[i].name == name {
			return &n.items()[i]
		}
	}
	return nil
}

// want reports whether a value is of a kind, or that it is not.
func (d *decoder) want(n *node, k kind) bool {
	if n.kind == k {
		return true
	}
	e := d.errorf(n, codeType, "expected %s, found %s", k, n.kind)
	e.Expected = []string{k.String()}
	return false
}

// object checks that a value is an object; members that nothing reads are
// warned of.
func (d *decoder) object(n *node, known ...string) bool {
	if !d.want(n, kindObject) {
		return false
	}
	for i, k := range n.keys() {
		if contains(known, k.name) {
			continue
		}
		w := d.diags.Warnf(diag.Span{Source: d.src, Start: k.start, End: k.end}, codeIgnored,
			"%s: unknown member %q is ignored", d.path(&n.items()[i]), k.name)
		if near := diag.Nearest(k.name, known); near != "" {
			w.Hint = "did you mean " + strconv.Quote(near) + "?"
		}
	}
	return true
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// only gives the single member of an object, as {"match": …} has it.
func (d *decoder) only(n *node) (k *key, value *node) {
	if !d.want(n, kindObject) {
		return nil, nil
	}
	if len(n.items()) != 1 {
		d.errorf(n, codeValue, "expected an object with one member, found %d", len(n.items()))
		return nil, nil
	}
	return &n.keys()[0], &n.items()[0]
}

// need finds a member that has to be there.
func (d *decoder) need(n *node, name string) *node {
	m := n.get(name)
	if m == nil {
		d.errorf(n, codeMissing, "the member %q is missing", name)
	}
	return m
}

// text reads a string.
func (d *decoder) text(n *node) (string, bool) {
	if n == nil || !d.want(n, kindString) {
		return "", false
	}
	return d.textOf(n), true
}

// word reads a string as a word; a missing value gives an empty one.
func (d *decoder) word(n *node) syntax.Word {
	if n == nil {
		return syntax.Word{}
	}
	s, ok := d.text(n)
	if !ok {
		return syntax.Word{}
	}
	return syntax.Word{At: d.at(n), Text: s}
}

// name reads a string that has to be there and must not be empty.
func (d *decoder) name(n *node, member string) syntax.Word {
	m := d.need(n, member)
	w := d.word(m)
	if m != nil && m.kind == kindString && d.textOf(m) == "" {
		d.errorf(m, codeValue, "the name is empty")
	}
	return w
}

// oneOf reads a string that has to be one of certain words.
func (d *decoder) oneOf(n *node, what string, words ...string) syntax.Word {
	w := d.word(n)
	if n != nil && n.kind == kindString && !contains(words, w.Text) {
		d.unknown(n, what, w.Text, words)
		return syntax.Word{}
	}
	return w
}

// unknown reports a word that is not among those possible.
func (d *decoder) unknown(n *node, what, word string, possible []string) {
	e := d.errorf(n, codeUnknown, "unknown %s %q", what, word)
	if near := diag.Nearest(word, possible); near != "" {
		e.Hint = "did you mean " + strconv.Quote(near) + "?"
	}
	if len(possible) <= 40 {
		e.Expected = possible
	}
}

// unknownKey reports an object's member that is not among those possible.
func (d *decoder) unknownKey(k *key, n *node, what string, possible []string) {
	at := *n
	at.start, at.end = k.start, k.end
	d.unknown(&at, what, k.name, possible)
}

// uint reads a whole number from 0 to a bound.
func (d *decoder) uint(n *node, most uint64) (uint64, bool) {
	if n == nil || !d.want(n, kindNumber) {
		return 0, false
	}
	v, err := strconv.ParseUint(d.textOf(n), 10, 64)
	if err != nil || v > most {
		d.errorf(n, codeTooLarge, "expected a whole number from 0 to %d, found %s", most, shortened(d.textOf(n)))
		return 0, false
	}
	return v, true
}

func shortened(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// int reads a whole number of 32 bits.
func (d *decoder) int(n *node) (int, bool) {
	if n == nil || !d.want(n, kindNumber) {
		return 0, false
	}
	v, err := strconv.ParseInt(d.textOf(n), 10, 32)
	if err != nil {
		d.errorf(n, codeTooLarge, "expected a whole number of 32 bits, found %s", shortened(d.textOf(n)))
		return 0, false
	}
	return int(v), true
}

// number reads a number, nil if it is missing or wrong.
func (d *decoder) number(n *node, most uint64) *syntax.Number {
	if n == nil {
		return nil
	}
	v, ok := d.uint(n, most)
	if !ok {
		return nil
	}
	return &syntax.Number{At: d.at(n), Value: v}
}

// flag reads a truth value; a missing one is false.
func (d *decoder) flag(n *node) bool {
	return n != nil && d.want(n, kindBool) && n.truth
}

const (
	maxUint8  = 1<<8 - 1
	maxUint16 = 1<<16 - 1
	maxUint32 = 1<<32 - 1
	maxUint64 = 1<<64 - 1
)

// seconds reads a time in seconds, nil if it is missing or wrong.
func (d *decoder) seconds(n *node) *syntax.Duration { return d.duration(n, 1000) }

// duration reads a time in a unit of so many milliseconds.
func (d *decoder) duration(n *node, unit uint64) *syntax.Duration {
	if n == nil {
		return nil
	}
	v, ok := d.uint(n, maxUint64/unit)
	if !ok {
		return nil
	}
	return &syntax.Duration{At: d.at(n), Milliseconds: v * unit}
}

// words reads a string or a list of strings, each one of certain words.
func (d *decoder) words(n *node, what string, possible ...string) []syntax.Word {
	if n == nil {
		return nil
	}
	var list []syntax.Word
	for _, x := range n.each() {
		if w := d.oneOf(x, what, possible...); w.Given() {
			list = append(list, w)
		}
	}
	return list
}

// each gives the items of a list, or the value itself: many members take a
// single value for a list of one.
func (n *node) each() []*node {
	if n.kind != kindArray {
		return []*node{n}
	}
	list := make([]*node, len(n.items()))
	for i := range n.items() {
		list[i] = &n.items()[i]
	}
	return list
}
