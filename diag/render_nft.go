package diag

import (
	"fmt"
	"io"
	"strings"
)

// NftRenderer prints diagnostics in the form of the nft command:
//
//	NAME:LINE:COL1-COL2: Error: MESSAGE
//	SOURCE LINE
//	       ^^^^^~~~~
//
// without the position for texts of a command line. Columns count bytes from
// 1, both included. Codes and hints are left out.
type NftRenderer struct{}

// maxNftLine is how much of a source line nft shows, in bytes.
const maxNftLine = 1023

// Render writes every error and warning of the list.
func (r NftRenderer) Render(w io.Writer, list *List) error {
	for _, d := range list.All() {
		if d.Severity == Note {
			continue
		}
		if err := r.One(w, d); err != nil {
			return err
		}
	}
	return nil
}

// One writes one diagnostic.
func (r NftRenderer) One(w io.Writer, d *Diagnostic) error {
	var b strings.Builder
	first := r.position(&b, d.Span)
	severity := "Error"
	if d.Severity != Error {
		severity = "Warning"
	}
	message := Printable(d.Message)
	syntax := strings.HasPrefix(string(d.Code), "syntax/")
	if syntax && (strings.HasPrefix(message, "unexpected ") || strings.HasPrefix(message, "unknown ")) {
		message = "syntax error, " + message
	}
	fmt.Fprintf(&b, "%s: %s\n", severity, message)
	if len(d.Expected) > 0 && syntax && !strings.Contains(d.Message, "expected "+d.Expected[0]) {
		fmt.Fprintf(&b, "expected any of: %s\n", strings.Join(unquoted(d.Expected), ", "))
	}
	if d.Span.IsValid() {
		line := d.Span.Source.Line(first.Line)
		line = line[:min(len(line), maxNftLine)]
		fmt.Fprintf(&b, "%s\n%s\n", Printable(line), nftMarkers(line, first.Line, d))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// unquoted takes words out of quotes; signs keep them.
func unquoted(list []string) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = x
		if word := strings.Trim(x, "'"); word != "" && word[0] >= 'a' && word[0] <= 'z' {
			out[i] = word
		}
	}
	return out
}

// position writes where a place is, after the files that included its own.
func (r NftRenderer) position(b *strings.Builder, span Span) Position {
	if !span.IsValid() {
		return Position{}
	}
	head := "In file included from"
	for at := span.Source.IncludedAt; at.IsValid(); at = at.Source.IncludedAt {
		p, end := nftColumns(at)
		fmt.Fprintf(b, "%s %s:%d:%d-%d:\n", head, at.Source.Name, p.Line, p.Column, end)
		head = strings.Repeat(" ", len(head)-len("from")) + "from"
	}
	p, end := nftColumns(span)
	if !span.Source.CommandLine {
		fmt.Fprintf(b, "%s:%d:%d-%d: ", span.Source.Name, p.Line, p.Column, end)
	}
	return p
}

// nftColumns gives the first position of a place and the last column that
// belongs to it, on the place's first line.
func nftColumns(span Span) (first Position, last int) {
	first = span.Pos()
	last = first.Column
	if n := int(span.End - span.Start); n > 1 {
		last += n - 1
	}
	// A place may go on behind its line; one column stands for the line's end.
	return first, max(first.Column, min(last, len(span.Source.Line(first.Line))+1))
}

// nftMarkers draws ~ under the related places of a line and ^ under the
// primary one. Tabs of the line are kept so that columns align.
func nftMarkers(line string, number int, d *Diagnostic) string {
	var marks []byte
	draw := func(span Span, sign byte) {
		if !span.IsValid() || span.Source != d.Span.Source || span.Pos().Line != number {
			return
		}
		first, last := nftColumns(span)
		for len(marks) < last {
			pad := byte(' ')
			if i := len(marks); i < len(line) && line[i] == '\t' {
				pad = '\t'
			}
			marks = append(marks, pad)
		}
		for i := first.Column - 1; i < last; i++ {
			marks[i] = sign
		}
	}
	for _, related := range d.Related {
		draw(related, '~')
	}
	draw(d.Span, '^')
	return string(marks)
}
