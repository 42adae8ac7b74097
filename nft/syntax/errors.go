package syntax

import (
	"fmt"
	"slices"
	"strings"

	"verdict/diag"
)

// The codes of the parser's diagnostics.
const (
	codeUnexpected = diag.Code("syntax/unexpected")        // a token where another was expected
	codeCommand    = diag.Code("syntax/unknown-command")   // a line starts with no command
	codeStatement  = diag.Code("syntax/unknown-statement") // a statement starts with no known word
	codeField      = diag.Code("syntax/unknown-field")     // a protocol has no such field
	codeKey        = diag.Code("syntax/unknown-key")       // meta, ct, fib ... have no such key
	codeProperty   = diag.Code("syntax/unknown-property")  // a block has no such property
	codeWord       = diag.Code("syntax/unknown-word")      // none of the words that may stand here
	codeReserved   = diag.Code("syntax/reserved-word")     // a keyword where a name is needed
	codeSeparator  = diag.Code("syntax/separator")         // `;` or a new line is missing
	codeUnclosed   = diag.Code("syntax/unclosed-block")    // `{` without `}`
	codeStray      = diag.Code("syntax/stray-brace")       // `}` without `{`
	codeString     = diag.Code("syntax/unclosed-string")   // `"` without `"`
	codeCharacter  = diag.Code("syntax/character")         // a character that starts nothing
	codeNumber     = diag.Code("syntax/number")            // a number out of range
	codeTime       = diag.Code("syntax/time")              // not a time
	codeNesting    = diag.Code("syntax/nesting")           // too deep
	codeBinary     = diag.Code("syntax/binary")            // not a text
	codeTooLarge   = diag.Code("syntax/too-large")         // text over 2 GiB
	codeInclude    = diag.Code("syntax/include")           // an include that fails
	codeDuplicate  = diag.Code("syntax/duplicate")         // a second value where one is allowed
)

// Codes lists the parser's diagnostic codes with what each stands for.
func Codes() map[diag.Code]string {
	return map[diag.Code]string{
		codeUnexpected: "a word or sign stands where another was expected",
		codeCommand:    "a line starts with a word that is no command",
		codeStatement:  "a statement of a rule starts with a word that starts none",
		codeField:      "the protocol has no such field",
		codeKey:        "meta, ct, rt, socket, fib, osf, ipsec or tunnel has no such key",
		codeProperty:   "a table, chain, set, object or flowtable has no such property",
		codeWord:       "only certain words may stand here, and this is none of them",
		codeReserved:   "a reserved word is used as a name",
		codeSeparator:  "two statements of a block are not separated by a new line or ';'",
		codeUnclosed:   "a block or list is not closed",
		codeStray:      "a '}' closes nothing",
		codeString:     "a quoted string does not end on its line",
		codeCharacter:  "a character that the language does not use",
		codeNumber:     "a number is out of range",
		codeTime:       "this is not a time such as 1d2h3m4s",
		codeNesting:    "blocks, lists or expressions lie too deeply in each other",
		codeBinary:     "the input is not a text",
		codeTooLarge:   "the input is larger than 2 GiB",
		codeInclude:    "an include statement cannot be carried out",
		codeDuplicate:  "something is given twice",
	}
}

// fail reports an error and puts the parser into the failed state. While it
// is failed already the diagnostic goes nowhere.
func (p *parser) fail(span diag.Span, code diag.Code, format string, args ...any) *diag.Diagnostic {
	if p.failed || p.stopped {
		return &diag.Diagnostic{}
	}
	d := p.list.Errorf(span, code, format, args...)
	p.stopped = p.list.Errors() >= p.opts.MaxErrors
	p.failed = true
	p.resume = p.tok
	p.tok.kind = kindBad
	return d
}

// describe says what a token is, for messages.
func (p *parser) describe(t token) string {
	switch t.kind {
	case kindWord, kindWild, kindValue, kindBracket, kindNumber, kindQuoted:
		text := p.str(t)
		if len(text) > 40 {
			text = text[:40] + "…"
		}
		if t.kind == kindQuoted {
			return text
		}
		return "'" + text + "'"
	case kindJunk:
		return fmt.Sprintf("character %q", p.str(t))
	}
	return kindNames[t.kind]
}

// unexpected reports the current token, naming what was expected instead.
func (p *parser) unexpected(expected ...string) *diag.Diagnostic {
	if p.failed {
		return &diag.Diagnostic{}
	}
	switch p.tok.kind {
	case kindJunk:
		return p.fail(p.tokSpan(p.tok), codeCharacter, "unexpected character %q", p.str(p.tok))
	case kindOpenQuote:
		d := p.fail(p.tokSpan(p.tok), codeString, "this string does not end on its line")
		d.Hint = "close it with \"; there are no escapes inside strings"
		return d
	}
	d := p.fail(p.tokSpan(p.tok), codeUnexpected, "unexpected %s%s", p.describe(p.tok), expectation(expected))
	d.Expected = expected
	return d
}

func expectation(expected []string) string {
	switch n := len(expected); {
	case n == 0 || n > 5:
		return ""
	case n == 1:
		return ", expected " + expected[0]
	default:
		return ", expected " + strings.Join(expected[:n-1], ", ") + " or " + expected[n-1]
	}
}

// unexpectedOf reports the current token where one of certain words, or what
// else is described, was expected. A word close to one of them becomes the
// hint.
func (p *parser) unexpectedOf(other string, words []string) *diag.Diagnostic {
	expected := make([]string, 0, len(words)+1)
	for _, w := range words {
		expected = append(expected, "'"+w+"'")
	}
	if other != "" {
		expected = append(expected, other)
	}
	if p.tok.kind != kindWord {
		return p.unexpected(expected...)
	}
	word := p.str(p.tok)
	d := p.unexpected(expected...)
	suggest(d, word, words)
	return d
}

// unknown reports the current word as none of those that may stand here. kind
// names what it should have been.
func (p *parser) unknown(code diag.Code, kind string, words []string) *diag.Diagnostic {
	if p.tok.kind != kindWord && p.tok.kind != kindValue {
		return p.unexpected("a " + kind)
	}
	word := p.str(p.tok)
	d := p.fail(p.tokSpan(p.tok), code, "unknown %s %s", kind, p.describe(p.tok))
	suggest(d, word, words)
	if len(words) <= expectedWithHint || d.Hint == "" && len(words) <= expectedAlone {
		d.Expected = words
	}
	return d
}

// The most words that a diagnostic lists as expected, with a hint and without
// one: longer lists hide the rest of the message.
const (
	expectedWithHint = 12
	expectedAlone    = 40
)

// suggest sets the hint to the nearest of the words, or to the only one that
// a shortened word can stand for.
func suggest(d *diag.Diagnostic, word string, words []string) {
	near := diag.Nearest(word, words)
	if near == "" && len(word) >= 3 {
		for _, w := range words {
			if !strings.HasPrefix(w, word) {
				continue
			}
			if near != "" {
				return
			}
			near = w
		}
	}
	if near != "" {
		d.Hint = "did you mean '" + near + "'?"
	}
}

// resync leaves the failed state: it skips the rest of the item that holds
// the error. base is the depth of braces at which the item's block lies. The
// current token is then what separates items or ends the block.
func (p *parser) resync(base int) {
	p.failed = false
	p.tok = p.resume
	if p.stopped {
		p.toEnd()
		return
	}
	for {
		switch p.tok.kind {
		case kindEOF:
			return
		case kindRBrace, kindSemicolon:
			if p.depth <= base {
				return
			}
		case kindNewline:
			if p.depth <= base {
				return
			}
			if p.startsItem() {
				p.depth = base
				return
			}
		}
		p.next()
	}
}

// startsItem reports whether the line behind the current line end declares
// something. A list or block that was left open by mistake ends there.
func (p *parser) startsItem() bool {
	return p.declarationAt(int(p.tok.end), declarations)
}

// declarations are the words that start declarations with a block.
var declarations = []string{"table", "chain", "set", "map", "flowtable"}

// declarationAt reports whether the text from an offset reads WORD NAME { or
// table FAMILY NAME {, with one of the words.
func (p *parser) declarationAt(offset int, words []string) bool {
	ahead := lexer{text: p.text, pos: offset}
	t := ahead.scan()
	if t.kind != kindWord || !slices.Contains(words, p.str(t)) {
		return false
	}
	isTable := p.str(t) == "table"
	t = ahead.scan()
	if isTable && t.kind == kindWord && slices.Contains(familyNames, p.str(t)) {
		t = ahead.scan()
	}
	return t.kind == kindWord && !reservedWords[p.str(t)] && ahead.scan().kind == kindLBrace
}
