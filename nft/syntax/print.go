package syntax

import (
	"io"
	"strconv"
)

// printer lays out a tree. Listings put blank lines between the items of a
// table as `nft list` does; sources keep the blank lines and the choices of
// their writer.
type printer struct {
	b      []byte
	indent int
	// source: the tree is a source to be formatted, not a listing.
	source bool
	// inline: everything on one line, as events of `nft monitor` are.
	inline bool
}

// PrintFile writes the items of a file as `nft list ruleset` does: tables
// without blank lines between them. Errors are those of w.
func PrintFile(w io.Writer, f *File) error {
	p := printer{}
	p.fileItems(f.Items, f.End)
	return p.write(w)
}

// PrintTable writes one table as `nft list table` does.
func PrintTable(w io.Writer, t *Table) error {
	p := printer{}
	p.table(t, "table ")
	p.newline()
	return p.write(w)
}

// PrintCommand writes a command on one line, in the form of the events that
// `nft monitor` and `nft --echo` print, with a line end.
func PrintCommand(w io.Writer, c *Command) error {
	p := printer{b: AppendCommand(nil, c)}
	p.newline()
	return p.write(w)
}

// AppendCommand appends a command on one line, without line end.
func AppendCommand(b []byte, c *Command) []byte {
	p := printer{b: b, inline: true}
	p.command(c)
	return p.b
}

// AppendRule appends a rule's statements and its comment. Anonymous chains
// in it are laid out for a rule inside a chain's block.
func AppendRule(b []byte, r *Rule) []byte {
	p := printer{b: b, indent: 2}
	p.rule(r)
	return p.b
}

// AppendStatement appends one statement.
func AppendStatement(b []byte, s Statement) []byte {
	p := printer{b: b, indent: 2}
	p.statement(s)
	return p.b
}

// AppendExpr appends an expression.
func AppendExpr(b []byte, e Expr) []byte {
	p := printer{b: b, indent: 2}
	p.expr(e)
	return p.b
}

func (p *printer) write(w io.Writer) error {
	_, err := w.Write(p.b)
	return err
}

func (p *printer) str(s string) { p.b = append(p.b, s...) }

func (p *printer) byte(c byte) { p.b = append(p.b, c) }

func (p *printer) newline() { p.b = append(p.b, '\n') }

// tabs starts a line.
func (p *printer) tabs() {
	for range p.indent {
		p.b = append(p.b, '\t')
	}
}

func (p *printer) number(n uint64) { p.b = strconv.AppendUint(p.b, n, 10) }

// quote writes a string in quotes. There are no escapes.
func (p *printer) quote(s string) {
	p.byte('"')
	p.str(s)
	p.byte('"')
}

// words writes words joined by a separator.
func (p *printer) words(words []Word, separator string) {
	for i, w := range words {
		if i > 0 {
			p.str(separator)
		}
		p.str(w.Text)
	}
}

// option writes a blank and the word, if it was given.
func (p *printer) option(w Word) {
	if w.Given() {
		p.byte(' ')
		p.str(w.Text)
	}
}

// numberOption writes a blank, a name, a blank and the number, if it was
// given.
func (p *printer) numberOption(name string, n *Number) {
	if n != nil {
		p.str(name)
		p.number(n.Value)
	}
}

// duration writes a time in its largest units.
func (p *printer) duration(d *Duration) {
	switch {
	case d == nil:
		p.str("0s")
	case d.Variable != nil:
		p.expr(d.Variable)
	case d.Seconds:
		p.number(d.Milliseconds / 1000)
		p.byte('s')
	default:
		p.b = appendTime(p.b, d.Milliseconds)
	}
}

func appendTime(b []byte, ms uint64) []byte {
	if ms == 0 {
		return append(b, "0s"...)
	}
	for _, u := range timeUnits {
		if n := ms / u.milliseconds; n > 0 {
			b = strconv.AppendUint(b, n, 10)
			b = append(b, u.name...)
			ms -= n * u.milliseconds
		}
	}
	return b
}

// byteCount writes bytes in the largest unit that divides them.
func (p *printer) byteCount(n uint64) {
	unit := 0
	for n > 0 && n%1024 == 0 && unit < len(byteUnitNames)-1 {
		n /= 1024
		unit++
	}
	p.number(n)
	p.byte(' ')
	p.str(byteUnitNames[unit])
}
