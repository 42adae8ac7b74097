// Package diag holds positions in source texts and the diagnostics that
// point at them. Every user's mistake becomes a Diagnostic: a stable code,
// a message, the place, and where one helps a hint. Rendering is separate
// from collecting, so that the same finding prints as a caret under the
// source line, in the form of the nft command, or as JSON.
package diag

import (
	"bytes"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// Source is one text that positions refer to: a file, standard input, or a
// command line. It is immutable after NewSource (but see IncludedAt) and safe for concurrent use.
type Source struct {
	Name string // as the user named it
	Text []byte

	// IncludedAt is the include statement that brought the text in; its
	// Source is nil for a text named by the user.
	IncludedAt Span

	// CommandLine says that the text was typed on a command line, which has
	// no name worth printing.
	CommandLine bool

	// The index of lines is made when the first position is asked for, and
	// holds every 64th line only: texts can be large, and positions are rare.
	index sync.Once
	marks []int32 // offset of the first byte of lines 1, 65, 129, …
	lines int     // number of lines
}

// markEvery is the distance of the marks in lines.
const markEvery = 64

// NewSource takes a text, which must not change afterwards.
func NewSource(name string, text []byte) *Source {
	return &Source{Name: name, Text: text}
}

// indexed makes the index of lines. Cost: one pass over the text.
func (s *Source) indexed() {
	s.index.Do(func() {
		s.marks, s.lines = []int32{0}, 1
		for pos := 0; ; {
			n := bytes.IndexByte(s.Text[pos:], '\n')
			if n < 0 {
				return
			}
			pos += n + 1
			if s.lines%markEvery == 0 {
				s.marks = append(s.marks, int32(pos))
			}
			s.lines++
		}
	})
}

// Position is a place for people: both numbers count from 1, the column in
// bytes, a tab being one column.
type Position struct {
	Line, Column int
}

// Position converts a byte offset. Offsets past the end give the end.
func (s *Source) Position(offset int32) Position {
	s.indexed()
	offset = min(max(offset, 0), int32(len(s.Text)))
	mark := sort.Search(len(s.marks), func(i int) bool { return s.marks[i] > offset }) - 1
	line, start := mark*markEvery+1, s.marks[mark]
	for {
		n := bytes.IndexByte(s.Text[start:offset], '\n')
		if n < 0 {
			return Position{Line: line, Column: int(offset-start) + 1}
		}
		start += int32(n + 1)
		line++
	}
}

// Line returns the text of a line counted from 1, without its newline.
func (s *Source) Line(line int) string {
	s.indexed()
	if line < 1 || line > s.lines {
		return ""
	}
	start := int(s.marks[(line-1)/markEvery])
	for range (line - 1) % markEvery {
		start += bytes.IndexByte(s.Text[start:], '\n') + 1
	}
	text := s.Text[start:]
	if n := bytes.IndexByte(text, '\n'); n >= 0 {
		text = text[:n]
	}
	if n := len(text); n > 0 && text[n-1] == '\r' {
		text = text[:n-1]
	}
	return string(text)
}

// Span is a half-open range of bytes of one source. The zero Span is "no
// place".
type Span struct {
	Source     *Source
	Start, End int32
}

// IsValid reports whether the span points anywhere.
func (s Span) IsValid() bool { return s.Source != nil }

// Text returns the bytes the span covers.
func (s Span) Text() string {
	if s.Source == nil {
		return ""
	}
	end := min(int(s.End), len(s.Source.Text))
	start := min(int(s.Start), end)
	return string(s.Source.Text[start:end])
}

// Pos is the position of the first byte.
func (s Span) Pos() Position {
	if s.Source == nil {
		return Position{}
	}
	return s.Source.Position(s.Start)
}

// To returns the span from the start of s to the end of t. Where the two lie
// in different sources, or one is no place, the first that is a place wins.
func (s Span) To(t Span) Span {
	if s.Source == nil {
		return t
	}
	if t.Source != s.Source {
		return s
	}
	return Span{Source: s.Source, Start: min(s.Start, t.Start), End: max(s.End, t.End)}
}

// Printable replaces what a terminal must not be sent: control characters,
// invalid UTF-8, and marks that turn the direction of the text around, each by
// one replacement character.
func Printable(text string) string {
	if strings.IndexFunc(text, unprintable) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		if unprintable(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}

func unprintable(r rune) bool {
	switch {
	case r < ' ':
		return r != '\t'
	case r < 0x7f:
		return false
	case r < 0xa0, r == utf8.RuneError:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
