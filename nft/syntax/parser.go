package syntax

import (
	"bytes"
	"math"

	"verdict/diag"
)

// DefaultMaxErrors is the number of errors after which a parse gives up when
// Options names none.
const DefaultMaxErrors = 100

// NftMaxErrors is the number after which the nft command gives up.
const NftMaxErrors = 10

// MaxNesting is how deep blocks, sets and expressions may lie in each other.
const MaxNesting = 100

// Options say how to parse.
type Options struct {
	// Open returns the sources that an include pattern names, sorted by name,
	// each a new Source. A pattern with glob signs may name none. Without Open
	// an include is an error.
	Open func(pattern string, from *diag.Source) ([]*diag.Source, error)
	// MaxErrors is the number of errors after which the parser gives up; 0
	// means DefaultMaxErrors.
	MaxErrors int
	// KeepComments puts comments and blank lines into the tree, as Format
	// needs them. Without it they cost nothing.
	KeepComments bool
	// CompactElements keeps long runs of elements that are nothing but values
	// as one *PlainElements instead of nodes. Users of the tree then read
	// lists through SetLiteral.All.
	CompactElements bool
}

// parser reads one source and what it includes.
//
// After an error, failed is set and the current token turns into kindBad,
// which no rule of the grammar accepts, so that every function on the way out
// ends without further errors; the loop over the items of a block then skips
// to the next item and clears the flag.
type parser struct {
	input
	slabs

	nesting int // open constructs, against runaway recursion

	failed   bool
	resume   token // what tok was when failed was set
	unclosed bool  // an unclosed block was reported

	foreign     []string // declarations that cannot stand in the current block
	foreignAt   int32    // where one was reported last
	closedEarly bool     // a block ended before a foreign declaration

	list    *diag.List
	opts    Options
	stopped bool // no further errors are wanted

	including []*diag.Source // the chain of sources being included
	included  int            // all included sources
}

// input is the place of the parser in one source.
type input struct {
	lexer
	tok     token
	peeked  token
	hasPeek bool
	prevEnd int32 // end of the token before tok
	depth   int   // open braces before tok

	plainFrom int32 // no run of plain elements starts before
}

func newInput(src *diag.Source, opts *Options) input {
	return input{lexer: newLexer(src, opts.KeepComments)}
}

// Parse reads a source: a file of commands and tables. The tree is usable as
// far as it goes also when there are errors: items with errors are left out.
// Time and memory are proportional to the source up to the point where the
// parser gives up.
func Parse(src *diag.Source, opts Options) (*File, *diag.List) {
	p := newParser(src, opts)
	file := &File{Source: src}
	if !p.readable(src) {
		return file, p.list
	}
	p.start()
	file.Items, file.End = p.fileItems()
	return file, p.list
}

// ParseRule reads one rule, as it stands behind `add rule T C`. The comment
// is the rule's own, empty where it has none.
func ParseRule(src *diag.Source) ([]Statement, Word, *diag.List) {
	p := newParser(src, Options{})
	if !p.readable(src) {
		return nil, Word{}, p.list
	}
	p.start()
	rule := &Rule{}
	p.ruleBody(rule)
	p.end()
	return rule.Statements, rule.Comment, p.list
}

// ParseExpr reads one expression: a selector, or a value as it stands to the
// right of one.
func ParseExpr(src *diag.Source) (Expr, *diag.List) {
	p := newParser(src, Options{})
	if !p.readable(src) {
		return nil, p.list
	}
	p.start()
	e := p.mixedExpr()
	p.end()
	return e, p.list
}

func newParser(src *diag.Source, opts Options) *parser {
	if opts.MaxErrors <= 0 {
		opts.MaxErrors = DefaultMaxErrors
	}
	return &parser{input: newInput(src, &opts), list: &diag.List{}, opts: opts, including: []*diag.Source{src}, foreignAt: -1}
}

// byteOrderMark is what some editors write in front of UTF-8.
const byteOrderMark = "\ufeff"

// readable refuses what cannot be a ruleset at all.
func (p *parser) readable(src *diag.Source) bool {
	if len(src.Text) > math.MaxInt32-1 {
		p.fail(diag.Span{Source: src}, codeTooLarge, "the source is too large: %d bytes, at most 2 GiB are read", len(src.Text))
		return false
	}
	if i := bytes.IndexByte(src.Text, 0); i >= 0 {
		d := p.fail(diag.Span{Source: src, Start: int32(i), End: int32(i + 1)}, codeBinary, "binary data: the text holds a zero byte")
		d.Hint = "this is no nftables ruleset"
		return false
	}
	if bytes.HasPrefix(src.Text, []byte(byteOrderMark)) {
		d := p.fail(diag.Span{Source: src, End: int32(len(byteOrderMark))}, codeCharacter, "the text starts with a byte order mark")
		d.Hint = "nft reads none; save the file as UTF-8 without it"
		return false
	}
	return true
}

// start reads the first token.
func (p *parser) start() {
	p.tok = p.scan()
}

// toEnd gives up the rest of the source.
func (p *parser) toEnd() {
	p.pos, p.hasPeek = len(p.text), false
	p.tok = token{kindEOF, int32(len(p.text)), int32(len(p.text))}
}

// end requires the end of the source.
func (p *parser) end() {
	for p.tok.kind == kindNewline || p.tok.kind == kindSemicolon {
		p.next()
	}
	if p.tok.kind != kindEOF {
		p.unexpected("end of input")
	}
}

// next moves to the next token.
func (p *parser) next() {
	if p.failed {
		return
	}
	switch p.tok.kind {
	case kindLBrace:
		p.depth++
	case kindRBrace:
		p.depth--
	}
	p.prevEnd = p.tok.end
	if p.hasPeek {
		p.tok, p.hasPeek = p.peeked, false
		return
	}
	p.tok = p.scan()
}

// peek returns the token behind the current one.
func (p *parser) peek() token {
	if p.failed {
		return p.tok
	}
	if !p.hasPeek {
		p.peeked, p.hasPeek = p.scan(), true
	}
	return p.peeked
}

// str is the text of a token.
func (p *parser) str(t token) string { return p.text[t.start:t.end] }

// at reports whether the current token is of a kind.
func (p *parser) at(k kind) bool { return p.tok.kind == k }

// is reports whether the current token is a certain word.
func (p *parser) is(word string) bool {
	return p.tok.kind == kindWord && p.text[p.tok.start:p.tok.end] == word
}

// accept takes the current token if it is of a kind.
func (p *parser) accept(k kind) bool {
	if p.tok.kind != k {
		return false
	}
	p.next()
	return true
}

// acceptWord takes the current token if it is a certain word.
func (p *parser) acceptWord(word string) bool {
	if !p.is(word) {
		return false
	}
	p.next()
	return true
}

// expect takes a token of a kind, or fails.
func (p *parser) expect(k kind) bool {
	if p.accept(k) {
		return true
	}
	p.unexpected(kindNames[k])
	return false
}

// expectWord takes a certain word, or fails.
func (p *parser) expectWord(word string) bool {
	if p.acceptWord(word) {
		return true
	}
	p.unexpectedOf("", []string{word})
	return false
}

// tokSpan is the place of a token.
func (p *parser) tokSpan(t token) diag.Span {
	return diag.Span{Source: p.src, Start: t.start, End: t.end}
}

// since is the place from an offset to the end of the token before tok.
func (p *parser) since(start int32) At {
	return At{diag.Span{Source: p.src, Start: start, End: max(p.prevEnd, start)}}
}

// skipNewlines passes line ends where they mean nothing: inside braces of
// values.
func (p *parser) skipNewlines() {
	for p.tok.kind == kindNewline {
		p.next()
	}
}

// enter guards recursion. Every successful enter needs a leave.
func (p *parser) enter() bool {
	if p.nesting >= MaxNesting {
		p.fail(p.tokSpan(p.tok), codeNesting, "nested too deeply, at most %d levels are read", MaxNesting)
		return false
	}
	p.nesting++
	return true
}

func (p *parser) leave() { p.nesting-- }
