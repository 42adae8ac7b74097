package diag

import (
	"fmt"
	"io"
	"strings"
)

// Renderer prints diagnostics for people: the one-line form, the source line
// and carets under the place, then hint and expectations.
type Renderer struct {
	Color bool // ANSI colours
	Most  int  // how many diagnostics Render writes at most, 0: all
}

// Render writes every diagnostic of the list, or the first ones and how many
// more there are.
func (r Renderer) Render(w io.Writer, list *List) error {
	for i, d := range list.All() {
		if r.Most > 0 && i == r.Most {
			_, err := fmt.Fprintf(w, "and %d more\n", len(list.All())-i)
			return err
		}
		if err := r.One(w, d); err != nil {
			return err
		}
	}
	return nil
}

// One writes one diagnostic.
func (r Renderer) One(w io.Writer, d *Diagnostic) error {
	var b strings.Builder
	r.header(&b, d)
	if d.Span.IsValid() {
		p := d.Span.Pos()
		line := d.Span.Source.Line(p.Line)
		shown, from := window(line, p.Column)
		fmt.Fprintf(&b, "%s\n%s\n", Printable(shown), r.paint(colorCaret, markers(line, p.Line, from, d)))
	}
	if len(d.Expected) > 0 && !strings.Contains(d.Message, "expected "+d.Expected[0]) {
		fmt.Fprintf(&b, "  expected: %s\n", strings.Join(d.Expected, ", "))
	}
	if d.Hint != "" {
		fmt.Fprintf(&b, "  %s %s\n", r.paint(colorHint, "hint:"), d.Hint)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Renderer) header(b *strings.Builder, d *Diagnostic) {
	if d.Span.IsValid() {
		for at := d.Span.Source.IncludedAt; at.IsValid(); at = at.Source.IncludedAt {
			p := at.Pos()
			fmt.Fprintf(b, "in file included from %s:%d:%d:\n", at.Source.Name, p.Line, p.Column)
		}
		p := d.Span.Pos()
		fmt.Fprintf(b, "%s:%d:%d: ", d.Span.Source.Name, p.Line, p.Column)
	}
	color := colorError
	if d.Severity != Error {
		color = colorWarning
	}
	fmt.Fprintf(b, "%s %s", r.paint(color, d.Severity.String()+":"), Printable(d.Message))
	if d.Code != "" {
		fmt.Fprintf(b, " [%s]", d.Code)
	}
	b.WriteByte('\n')
}

// maxShown bounds the printed part of a source line, in bytes.
const maxShown = 160

// window cuts a long line to the part around a column; from is the offset of
// its first byte.
func window(line string, column int) (shown string, from int) {
	if len(line) <= maxShown {
		return line, 0
	}
	from = max(0, column-1-maxShown/2)
	return line[from:min(len(line), from+maxShown)], from
}

// markers draws ^ under the primary place and ~ under the related ones that
// share its line. Tabs of the source line are kept so that columns align.
func markers(line string, number, from int, d *Diagnostic) string {
	width := min(len(line)-from, maxShown) + 1
	marks := []byte(strings.Repeat(" ", max(width, 1)))
	for i := range marks {
		if from+i < len(line) && line[from+i] == '\t' {
			marks[i] = '\t'
		}
	}
	for _, related := range d.Related {
		mark(marks, related, number, from, '~')
	}
	mark(marks, d.Span, number, from, '^')
	return strings.TrimRight(string(marks), " \t")
}

func mark(marks []byte, span Span, number, from int, sign byte) {
	p := span.Pos()
	if p.Line != number {
		return
	}
	length := max(int(span.End-span.Start), 1)
	for i := p.Column - 1 - from; i < p.Column-1-from+length && i < len(marks); i++ {
		if i >= 0 {
			marks[i] = sign
		}
	}
}

const (
	colorError   = "\x1b[1;31m"
	colorWarning = "\x1b[1;33m"
	colorCaret   = "\x1b[1;32m"
	colorHint    = "\x1b[1;36m"
	colorOff     = "\x1b[0m"
)

func (r Renderer) paint(color, text string) string {
	if !r.Color || text == "" {
		return text
	}
	return color + text + colorOff
}
