package diag

import (
	"strings"
	"testing"
)

func TestPositions(t *testing.T) {
	s := NewSource("f", []byte("ab\n\tcd\r\nlast"))
	for _, c := range []struct {
		offset       int32
		line, column int
		text         string
	}{
		{0, 1, 1, "ab"}, {2, 1, 3, "ab"}, {3, 2, 1, "\tcd"}, {4, 2, 2, "\tcd"}, {8, 3, 1, "last"}, {99, 3, 5, "last"}, {-1, 1, 1, "ab"},
	} {
		p := s.Position(c.offset)
		if p.Line != c.line || p.Column != c.column || s.Line(p.Line) != c.text {
			t.Errorf("offset %d: got %d:%d %q, want %d:%d %q", c.offset, p.Line, p.Column, s.Line(p.Line), c.line, c.column, c.text)
		}
	}
}

func TestRender(t *testing.T) {
	outer := NewSource("main.nft", []byte("include \"x.nft\"\n"))
	s := NewSource("x.nft", []byte("table ip t {\n\ttcp dprt 22 accept\n}\n"))
	s.IncludedAt = Span{outer, 0, 15}
	var l List
	d := l.Errorf(Span{s, 18, 22}, "expr/unknown-field", "unknown field %q", "dprt")
	d.Related = []Span{{s, 14, 17}}
	d.Hint = "did you mean dport?"
	var b strings.Builder
	if err := (Renderer{}).Render(&b, &l); err != nil {
		t.Fatal(err)
	}
	want := `in file included from main.nft:1:1:
x.nft:2:6: error: unknown field "dprt" [expr/unknown-field]
	tcp dprt 22 accept
	~~~ ^^^^
  hint: did you mean dport?
`
	if b.String() != want {
		t.Errorf("got:\n%swant:\n%s", b.String(), want)
	}
	if err := l.Err(); err == nil || !strings.Contains(err.Error(), "x.nft:2:6: error: unknown field") {
		t.Errorf("Err: %v", err)
	}
}

func TestRenderLongLineAndControlBytes(t *testing.T) {
	text := strings.Repeat("x", 5000) + "\x1b[31mbad" + strings.Repeat("y", 5000)
	s := NewSource("f", []byte(text))
	var l List
	l.Errorf(Span{s, 5005, 5008}, "c", "evil \x1b")
	var b strings.Builder
	if err := (Renderer{}).Render(&b, &l); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "\x1b") || len(b.String()) > 600 {
		t.Errorf("control bytes or long line got through: %q", b.String())
	}
	if !strings.Contains(b.String(), "^^^") {
		t.Error("no caret")
	}
}

func TestNearest(t *testing.T) {
	words := []string{"dport", "sport", "accept", "drop", "jump"}
	for in, want := range map[string]string{
		"dprt": "dport", "acept": "accept", "accpet": "accept", "zzz": "", "dorp": "drop", "dport": "sport", "": "",
	} {
		if got := Nearest(in, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestPositionsOfManyLines compares positions and lines with a plain count
// over a text that is longer than the distance of the index's marks.
func TestPositionsOfManyLines(t *testing.T) {
	var text []byte
	for i := range 300 {
		text = append(text, "abcdefgh"[:i%9]...)
		text = append(text, '\n')
	}
	s := NewSource("f", text)
	line, column, start := 1, 1, 0
	for offset := range text {
		if got := s.Position(int32(offset)); got != (Position{Line: line, Column: column}) {
			t.Fatalf("offset %d: %v, want %d:%d", offset, got, line, column)
		}
		column++
		if text[offset] == '\n' {
			if got, want := s.Line(line), string(text[start:offset]); got != want {
				t.Fatalf("line %d: %q, want %q", line, got, want)
			}
			line, column, start = line+1, 1, offset+1
		}
	}
	if got := s.Line(line + 1); got != "" {
		t.Errorf("line past the end: %q", got)
	}
}
