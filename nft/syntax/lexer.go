package syntax

import (
	"strings"

	"verdict/diag"
)

// lexer cuts a source into tokens. It has no modes: the same text always
// gives the same tokens, and a token is found in time proportional to its
// length, whatever the input.
type lexer struct {
	src  *diag.Source
	text string // the source's text, shared by all strings of the tree
	pos  int

	// fresh says that no token was found on the current line yet.
	fresh bool
	// keep says that comments are wanted; comments holds those that were
	// passed and nobody took yet.
	keep     bool
	comments []passedComment
}

// passedComment is a comment between two tokens.
type passedComment struct {
	Comment
	ownLine bool // no token stands before it on its line
}

func newLexer(src *diag.Source, keep bool) lexer {
	return lexer{src: src, text: string(src.Text), fresh: true, keep: keep}
}

// charClass says what a byte can start.
type charClass uint8

const (
	classJunk charClass = iota
	classBlank
	classLetter // letters, _ and .
	classDigit
	classSign // handled one by one
)

var charClasses = func() (t [256]charClass) {
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = classLetter, classLetter
	}
	t['_'], t['.'] = classLetter, classLetter
	for c := '0'; c <= '9'; c++ {
		t[c] = classDigit
	}
	for _, c := range " \t\r\v\f" {
		t[c] = classBlank
	}
	for _, c := range "\n\\#\";,:{}[]()=!<>&|^/-+*@$" {
		t[c] = classSign
	}
	return t
}()

// wordByte says which bytes continue a bare word.
var wordByte = func() (t [256]bool) {
	for c := range t {
		t[c] = charClasses[c] == classLetter || charClasses[c] == classDigit || c == '/' || c == '-'
	}
	return t
}()

// scan returns the next token. Comments on the way are kept in l.comments.
func (l *lexer) scan() token {
	text := l.text
	for l.pos < len(text) {
		start := l.pos
		c := text[start]
		switch charClasses[c] {
		case classBlank:
			l.pos++
			continue
		case classDigit:
			return l.digits(start)
		case classLetter:
			return l.word(start)
		case classSign:
			switch c {
			case '\n':
				l.pos++
				l.fresh = true
				return token{kindNewline, int32(start), int32(start + 1)}
			case '#':
				l.comment(start)
				continue
			case '\\':
				if n := continuation(text[start:]); n > 0 {
					l.pos += n
					continue
				}
				if strings.HasPrefix(text[start:], `\*`) {
					return l.word(start)
				}
				return l.make(kindJunk, start, start+1)
			}
			return l.sign(start)
		}
		return l.junk(start)
	}
	return token{kindEOF, int32(len(text)), int32(len(text))}
}

// continuation is the length of a backslash and the line end it hides, 0 if
// there is none.
func continuation(text string) int {
	switch {
	case strings.HasPrefix(text, "\\\n"):
		return 2
	case strings.HasPrefix(text, "\\\r\n"):
		return 3
	}
	return 0
}

func (l *lexer) make(k kind, start, end int) token {
	l.pos = end
	l.fresh = false
	return token{k, int32(start), int32(end)}
}

func (l *lexer) comment(start int) {
	end := strings.IndexByte(l.text[start:], '\n')
	if end < 0 {
		end = len(l.text)
	} else {
		end += start
	}
	l.pos = end
	if !l.keep {
		return
	}
	l.comments = append(l.comments, passedComment{
		Comment: Comment{
			At:   At{diag.Span{Source: l.src, Start: int32(start), End: int32(end)}},
			Text: strings.Trim(l.text[start+1:end], " \t\r"),
		},
		ownLine: l.fresh,
	})
}

// junk takes a character that starts nothing, all bytes of it if it is UTF-8.
func (l *lexer) junk(start int) token {
	end := start + 1
	if l.text[start] >= 0xc0 {
		for end < len(l.text) && end < start+4 && l.text[end]&0xc0 == 0x80 {
			end++
		}
	}
	return l.make(kindJunk, start, end)
}

// word scans a token that starts with a letter, _ or ., or with \*.
func (l *lexer) word(start int) token {
	text := l.text
	end := start
	for end < len(text) && wordByte[text[end]] {
		end++
	}
	if end == start+1 && text[start] == '.' {
		return l.make(kindDot, start, end)
	}
	if isHex(text[start]) {
		if a := addressEnd(text, start); a > end {
			return l.make(kindValue, start, a)
		}
	}
	k := kindWord
	for end < len(text) {
		if text[end] == '*' {
			return l.make(kindWild, start, end+1)
		}
		if !strings.HasPrefix(text[end:], `\*`) {
			break
		}
		k = kindWild
		end += 2
		for end < len(text) && wordByte[text[end]] {
			end++
		}
	}
	return l.make(k, start, end)
}

// sign scans punctuation, strings and what starts with a colon or bracket.
func (l *lexer) sign(start int) token {
	text := l.text
	c := text[start]
	next := byte(0)
	if start+1 < len(text) {
		next = text[start+1]
	}
	two := func(with byte, yes, no kind) token {
		if next == with {
			return l.make(yes, start, start+2)
		}
		return l.make(no, start, start+1)
	}
	switch c {
	case '"':
		return l.quoted(start)
	case ':':
		if next == ':' {
			if end := addressEnd(text, start); end > 0 {
				return l.make(kindValue, start, end)
			}
		}
		return l.make(kindColon, start, start+1)
	case '[':
		if end := addressEnd(text, start+1); end > 0 && end < len(text) && text[end] == ']' {
			return l.make(kindBracket, start, end+1)
		}
		return l.make(kindLBracket, start, start+1)
	case '=':
		return two('=', kindEq, kindAssign)
	case '!':
		return two('=', kindNeq, kindNot)
	case '<':
		if next == '<' {
			return l.make(kindLshift, start, start+2)
		}
		return two('=', kindLte, kindLt)
	case '>':
		if next == '>' {
			return l.make(kindRshift, start, start+2)
		}
		return two('=', kindGte, kindGt)
	}
	return l.make(signKinds[c], start, start+1)
}

var signKinds = [256]kind{
	';': kindSemicolon, ',': kindComma, '{': kindLBrace, '}': kindRBrace, ']': kindRBracket,
	'(': kindLParen, ')': kindRParen, '&': kindAnd, '|': kindOr, '^': kindXor, '/': kindSlash,
	'-': kindDash, '+': kindPlus, '*': kindStar, '@': kindAt, '$': kindDollar,
}

// quoted scans "…". There are no escapes, and a string ends on its line.
func (l *lexer) quoted(start int) token {
	rest := l.text[start+1:]
	n := strings.IndexAny(rest, "\"\n")
	switch {
	case n >= 0 && rest[n] == '"':
		return l.make(kindQuoted, start, start+n+2)
	case n < 0:
		n = len(rest)
	}
	return l.make(kindOpenQuote, start, start+1+n)
}
