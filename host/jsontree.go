package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"verdict/diag"
)

// node is a JSON value that knows where it stands.
type node struct {
	offset  int // of its first byte
	kind    nodeKind
	text    string // of strings, numbers and literals
	members []member
	items   []*node
}

type nodeKind uint8

const (
	literalNode nodeKind = iota // true, false, null
	stringNode
	numberNode
	objectNode
	arrayNode
)

// String names the kind as messages need it.
func (k nodeKind) String() string {
	return [...]string{"true, false or null", "a string", "a number", "an object", "a list"}[k]
}

// member is one member of an object, in the order of the text.
type member struct {
	name   string
	offset int
	value  *node
}

// get returns the value of a member; nil when the object lacks it.
func (n *node) get(name string) *node {
	for i := range n.members {
		if n.members[i].name == name {
			return n.members[i].value
		}
	}
	return nil
}

// maxDepth bounds how deeply a text may nest.
const maxDepth = 64

// document is a parsed JSON text. The first mistake found in it is kept; the
// functions that read values return zero values from then on.
type document struct {
	source *diag.Source
	root   *node
	err    *Error
}

// parseDocument reads a whole JSON text.
func parseDocument(name string, text []byte) *document {
	d := &document{source: diag.NewSource(name, text)}
	if len(text) > math.MaxInt32 {
		d.err = &Error{Source: name, Reason: "larger than 2 GiB"}
		return d
	}
	p := treeParser{document: d, text: text}
	p.decoder = json.NewDecoder(strings.NewReader(string(text)))
	p.decoder.UseNumber()
	d.root = p.value(0)
	if d.err == nil {
		end := p.start()
		if _, err := p.decoder.Token(); err != io.EOF {
			d.fail(end, "unexpected text after the end of the description")
		}
	}
	return d
}

// fail records a mistake at an offset.
func (d *document) fail(offset int, format string, args ...any) *Error {
	if d.err == nil {
		at := d.source.Position(int32(min(offset, len(d.source.Text))))
		d.err = &Error{Source: d.source.Name, Line: at.Line, Column: at.Column, Field: d.path(offset), Reason: fmt.Sprintf(format, args...)}
	}
	return d.err
}

// failAt is fail at a value.
func (d *document) failAt(n *node, format string, args ...any) *Error {
	return d.fail(n.offset, format, args...)
}

// path names the value at an offset, as in interfaces[2].mac.
func (d *document) path(offset int) string {
	path := ""
	for n := d.root; n != nil; {
		var next *node
		for i := range n.members {
			if m := &n.members[i]; m.offset <= offset {
				next = m.value
				if i+1 == len(n.members) || n.members[i+1].offset > offset {
					if path != "" {
						path += "."
					}
					path += m.name
					break
				}
			}
		}
		for i := range n.items {
			if n.items[i].offset <= offset && (i+1 == len(n.items) || n.items[i+1].offset > offset) {
				next = n.items[i]
				path += "[" + strconv.Itoa(i) + "]"
				break
			}
		}
		n = next
	}
	return path
}

// locate returns the offset of the value that a path names, or of the
// closest value around it.
func (d *document) locate(path string) int {
	offset, n := 0, d.root
	if n != nil {
		offset = n.offset
	}
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		var next *node
		if i, err := strconv.Atoi(step); err == nil && i < len(n.items) {
			next = n.items[i]
		} else {
			next = n.get(step)
		}
		if next == nil {
			return offset
		}
		n, offset = next, next.offset
	}
	return offset
}

// treeParser builds the tree from the decoder's tokens.
type treeParser struct {
	*document
	decoder *json.Decoder
	text    []byte
}

// start is the offset of the next token.
func (p *treeParser) start() int {
	offset := int(p.decoder.InputOffset())
	for offset < len(p.text) && strings.IndexByte(" \t\r\n,:", p.text[offset]) >= 0 {
		offset++
	}
	return offset
}

// token returns the next token, nil after a mistake.
func (p *treeParser) token() json.Token {
	token, err := p.decoder.Token()
	if err == nil {
		return token
	}
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		p.fail(p.culprit(syntax), "not JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
	case len(strings.TrimSpace(string(p.text))) == 0:
		p.fail(0, "empty, where a JSON description is expected")
	default:
		p.fail(len(p.text), "not JSON: the text ends too early")
	}
	p.err.Field = ""
	return nil
}

// culprit returns the offset of the character that a syntax error is about:
// the error's own offset is that of the character, or of the one after it.
func (p *treeParser) culprit(syntax *json.SyntaxError) int {
	offset := int(syntax.Offset)
	if offset < len(p.text) && strings.HasPrefix(syntax.Error(), fmt.Sprintf("invalid character %q ", rune(p.text[offset]))) {
		return offset
	}
	return max(offset-1, 0)
}

// value reads one value; nil after a mistake.
func (p *treeParser) value(depth int) *node {
	n := &node{offset: p.start()}
	if depth > maxDepth {
		p.failAt(n, "nested more than %d levels deep", maxDepth)
		return nil
	}
	token := p.token()
	if p.err != nil {
		return nil
	}
	switch token := token.(type) {
	case string:
		n.kind, n.text = stringNode, token
	case json.Number:
		n.kind, n.text = numberNode, token.String()
	case bool:
		n.text = strconv.FormatBool(token)
	case nil:
		n.text = "null"
	case json.Delim:
		if token == '{' {
			n.kind = objectNode
			p.object(n, depth)
		} else {
			n.kind = arrayNode
			p.array(n, depth)
		}
	}
	if p.err != nil {
		return nil
	}
	return n
}

func (p *treeParser) object(n *node, depth int) {
	names := make(map[string]bool)
	for p.err == nil && p.decoder.More() {
		offset := p.start()
		name, ok := p.token().(string)
		if !ok {
			return // the decoder refuses keys that are no strings
		}
		if names[name] {
			p.fail(offset, "%q is given twice", name)
			return
		}
		names[name] = true
		n.members = append(n.members, member{name: name, offset: offset, value: p.value(depth + 1)})
	}
	p.close()
}

func (p *treeParser) array(n *node, depth int) {
	for p.err == nil && p.decoder.More() {
		n.items = append(n.items, p.value(depth+1))
	}
	p.close()
}

func (p *treeParser) close() {
	if p.err == nil {
		p.token()
	}
}
