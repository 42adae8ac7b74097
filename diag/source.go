// Package diag holds positions in source texts and the diagnostics that
// point at them. Every user's mistake becomes a Diagnostic: a stable code,
// a message, the place, and where one helps a hint. Rendering is separate
// from collecting, so that the same finding prints as a caret under the
// source line, in the form of the nft command, or as JSON.
package diag

import (
	"sort"
	"unicode/utf8"
)

// Source is one text that positions refer to: a file, standard input, or a
// command line. It is immutable after NewSource and safe for concurrent use.
type Source struct {
	Name string // as the user named it
	Text []byte

	// IncludedAt is the include statement that brought the text in; its
	// Source is nil for a text named by the user.
	IncludedAt Span

	// CommandLine says that the text was typed on a command line, which has
	// no name worth printing.
	CommandLine bool

	lines []int32 // offset of the first byte of each line
}

// NewSource takes a text and indexes its lines. Cost: one pass over it.
func NewSource(name string, text []byte) *Source {
	s := &Source{Name: name, Text: text, lines: []int32{0}}
	for i, c := range text {
		if c == '\n' {
			s.lines = append(s.lines, int32(i+1))
		}
	}
	return s
}

// Position is a place for people: both numbers count from 1, the column in
// bytes, a tab being one column.
type Position struct {
	Line, Column int
}

// Position converts a byte offset. Offsets past the end give the end.
func (s *Source) Position(offset int32) Position {
	offset = min(max(offset, 0), int32(len(s.Text)))
	line := sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > offset })
	return Position{Line: line, Column: int(offset-s.lines[line-1]) + 1}
}

// Line returns the text of a line counted from 1, without its newline.
func (s *Source) Line(line int) string {
	if line < 1 || line > len(s.lines) {
		return ""
	}
	start, end := s.lines[line-1], int32(len(s.Text))
	if line < len(s.lines) {
		end = s.lines[line] - 1
	}
	text := s.Text[start:end]
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

// Printable replaces what a terminal must not be sent: control characters
// and invalid UTF-8, each by one replacement character.
func Printable(text string) string {
	clean := true
	for _, r := range text {
		if (r < ' ' && r != '\t') || r == 0x7f || r == utf8.RuneError {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	out := make([]rune, 0, len(text))
	for _, r := range text {
		if (r < ' ' && r != '\t') || r == 0x7f {
			r = utf8.RuneError
		}
		out = append(out, r)
	}
	return string(out)
}
