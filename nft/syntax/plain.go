package syntax

import (
	"iter"

	"verdict/diag"
)

// PlainElements is a run of list elements that are nothing but constant
// values, kept as the piece of source they stand in. A list of a million
// addresses costs one node so. The parser makes them where
// Options.CompactElements asks for it.
type PlainElements struct {
	At
	Count int
	text  string // the source up to the end of the run
}

func (*PlainElements) expr() {}

// All yields the members of the list in order, the elements of runs one by
// one. What a run yields is valid up to the next step only; the strings in it
// stay. Safe for concurrent use.
func (s *SetLiteral) All() iter.Seq[Expr] {
	return func(yield func(Expr) bool) {
		for _, e := range s.Elements {
			run, ok := e.(*PlainElements)
			switch {
			case !ok && !yield(e), ok && !run.each(yield):
				return
			}
		}
	}
}

// Len is the number of members, counting the elements of runs.
func (s *SetLiteral) Len() int {
	n := len(s.Elements)
	for _, e := range s.Elements {
		if run, ok := e.(*PlainElements); ok {
			n += run.Count - 1
		}
	}
	return n
}

func (e *PlainElements) each(yield func(Expr) bool) bool {
	r := plainReader{lexer: lexer{src: e.Span.Source, text: e.text, pos: int(e.Span.Start)}}
	r.next()
	for range e.Count {
		r.read()
		if !yield(&r.element) {
			return false
		}
		for r.tok.kind == kindComma || r.tok.kind == kindNewline {
			r.next()
		}
	}
	return true
}

// plainMinimum is the shortest run worth a node of its own.
const plainMinimum = 32

// plainRun takes a run of plain elements that starts at the current token, if
// a long enough one does.
func (p *parser) plainRun() *PlainElements {
	if !p.opts.CompactElements || p.keep || p.failed || p.tok.start < p.plainFrom {
		return nil
	}
	r := plainReader{lexer: lexer{src: p.src, text: p.text, pos: int(p.tok.start)}}
	r.next()
	start, end, count, newline := r.tok.start, r.tok.start, 0, false
	for r.read() {
		stop := r.end
		for r.tok.kind == kindNewline {
			newline = true
			r.next()
		}
		if r.tok.kind != kindComma && r.tok.kind != kindRBrace {
			break
		}
		count++
		end = stop
		for r.tok.kind == kindComma || r.tok.kind == kindNewline {
			newline = newline || r.tok.kind == kindNewline
			r.next()
			if r.tok.kind == kindComma {
				break // an element is missing here, which the parser reports
			}
		}
	}
	if count < plainMinimum {
		p.plainFrom = max(r.tok.start, p.tok.start+1)
		return nil
	}
	p.pos, p.hasPeek, p.prevEnd = int(end), false, end
	p.tok = p.scan()
	return &PlainElements{
		At:    At{diag.Span{Source: p.src, Start: start, End: end}},
		Count: count,
		text:  p.text[:end],
	}
}

// plainParts is the longest concatenation that is plain.
const plainParts = 16

// plainReader reads elements of constant values into nodes that it reuses.
type plainReader struct {
	lexer
	tok token
	end int32 // end of the token before tok

	element   Element
	key, data plainValue
}

// plainValue is a value with room for its nodes.
type plainValue struct {
	concat   Concat
	parts    [plainParts]Expr
	ranges   [plainParts]Range
	prefixes [plainParts]Prefix
	literals [2 * plainParts]Literal
	used     int // of literals
}

func (r *plainReader) next() {
	r.end = r.tok.end
	r.tok = r.scan()
}

// read reads KEY [: DATA]; false where something else stands.
func (r *plainReader) read() bool {
	start := r.tok.start
	key := r.value(&r.key)
	if key == nil {
		return false
	}
	r.element.Key, r.element.Data = key, nil
	if r.tok.kind == kindColon {
		r.next()
		data := r.value(&r.data)
		if data == nil {
			return false
		}
		r.element.Data = data
	}
	r.element.Span = r.span(start)
	return true
}

func (r *plainReader) span(start int32) diag.Span {
	return diag.Span{Source: r.src, Start: start, End: r.end}
}

// value reads parts joined by dots; nil where something else stands.
func (r *plainReader) value(v *plainValue) Expr {
	start := r.tok.start
	v.used = 0
	for n := 0; n < plainParts; n++ {
		part := r.part(v, n)
		if part == nil {
			return nil
		}
		v.parts[n] = part
		if r.tok.kind == kindDot {
			r.next()
			continue
		}
		if n == 0 {
			return part
		}
		v.concat.Span, v.concat.Parts = r.span(start), v.parts[:n+1]
		return &v.concat
	}
	return nil
}

// part reads A, A-B or A/N.
func (r *plainReader) part(v *plainValue, n int) Expr {
	start := r.tok.start
	first := r.literal(v)
	if first == nil {
		return nil
	}
	switch r.tok.kind {
	case kindDash:
		r.next()
		to := r.literal(v)
		if to == nil {
			return nil
		}
		node := &v.ranges[n]
		node.Span, node.From, node.To = r.span(start), first, to
		return node
	case kindSlash:
		r.next()
		if r.tok.kind != kindNumber {
			return nil
		}
		node := &v.prefixes[n]
		node.Span, node.Base, node.Length = r.span(start), first, r.literal(v)
		node.Span.End = r.end
		return node
	}
	return first
}

// literal reads one literal; nil where something else stands.
func (r *plainReader) literal(v *plainValue) *Literal {
	text := r.text[r.tok.start:r.tok.end]
	l := &v.literals[v.used]
	l.Kind, l.Value = LitWord, 0
	switch r.tok.kind {
	case kindNumber:
		if value, ok := parseNumber(text); ok {
			l.Kind, l.Value = LitNumber, value
		}
	case kindQuoted:
		l.Kind, text = LitQuoted, text[1:len(text)-1]
	case kindBracket:
		text = text[1 : len(text)-1]
	case kindValue:
	case kindWord:
		if reservedWords[text] && !valueWords[text] {
			return nil
		}
	default:
		return nil
	}
	l.Text = text
	l.Span = diag.Span{Source: r.src, Start: r.tok.start, End: r.tok.end}
	v.used++
	r.next()
	return l
}
