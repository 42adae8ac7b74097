package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"verdict/catalog"
	"verdict/diag"
	"verdict/engine"
)

// text prints the report for people.
func (c *runCommand) text(r *replay) error {
	s := c.reportStreams()
	p := &painter{s: s, color: s.color(s.OutTerminal)}
	p.totals(r)
	p.hooks(r)
	if !c.quiet {
		p.rules(r)
	}
	p.notes(r)
	return p.err
}

// painter writes the parts of the report.
type painter struct {
	s     *Streams
	color bool
	err   error
}

func (p *painter) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.s.Out, format, args...)
	}
}

func (p *painter) totals(r *replay) {
	packets := thousands(r.packets) + " packets"
	if r.packets == 1 {
		packets = "1 packet"
	}
	p.printf("%s, %s bytes in %s: %s packets/s\n", packets, thousands(r.bytes), duration(r.seconds), metric(r.rate()))
	var parts []string
	for _, fate := range engine.Fates() {
		if n := r.totals[fate].packets; n > 0 {
			parts = append(parts, p.fate(fate, fmt.Sprintf("%s %s", fate, thousands(n))))
		}
	}
	if r.copies > 0 {
		parts = append(parts, fmt.Sprintf("seen again on the way out %s", thousands(r.copies)))
	}
	if len(parts) > 0 {
		p.printf("%s\n", strings.Join(parts, "   "))
	}
	if made := r.madeByHost(); len(made) > 0 {
		p.printf("made by the host: %s\n", strings.Join(made, "   "))
	}
	for _, k := range r.sortedReasons() {
		p.printf("%s %s: %s\n", k.fate, thousands(r.reasons[k]), diag.Printable(k.text))
	}
	for _, name := range slices.Sorted(maps.Keys(r.sent)) {
		c := r.sent[name]
		p.printf("sent out by tc through %s: %s, %s bytes\n", diag.Printable(name), count(int(c.packets), "frame"), thousands(c.bytes))
	}
}

// fate colours a text by what became of the packets.
func (p *painter) fate(f engine.Fate, s string) string {
	if !p.color {
		return s
	}
	switch f {
	case engine.Accepted:
		return text.FgGreen.Sprint(s)
	case engine.Dropped:
		return text.FgRed.Sprint(s)
	}
	return text.FgYellow.Sprint(s)
}

func (p *painter) hooks(r *replay) {
	if len(r.order) == 0 {
		p.printf("\nno packet reached a base chain\n")
		return
	}
	var used []engine.Fate
	for _, fate := range engine.Fates() {
		for _, h := range r.hooks {
			if h.fates[fate] > 0 {
				used = append(used, fate)
				break
			}
		}
	}
	t := p.table()
	header := table.Row{"hook"}
	for _, fate := range used {
		header = append(header, fate.String())
	}
	t.AppendHeader(header)
	for _, name := range r.order {
		row := table.Row{name.String()}
		for _, fate := range used {
			row = append(row, blankZero(r.hooks[name].fates[fate]))
		}
		t.AppendRow(row)
	}
	t.SetColumnConfigs(alignRight(2, len(used)+1))
	p.printf("\n%s\n", t.Render())
}

// rules prints each chain's rules with their hits beside their source lines.
func (p *painter) rules(r *replay) {
	never := 0
	for _, c := range r.chains() {
		if len(c.rules) == 0 {
			continue
		}
		head := fmt.Sprintf("table %s %s, chain %s", c.table.Family, c.table.Name, c.chain.Name)
		if b := c.chain.Base; b != nil {
			head += fmt.Sprintf(" (hook %s priority %d, policy %s)", catalog.HookName(c.table.Family, b.Hook), b.Priority, b.Policy)
		}
		lines := make([]ruleLine, len(c.rules))
		for i := range c.rules {
			h := &c.rules[i]
			lines[i] = ruleLine{h.packets, h.bytes, h.file(), h.line(), h.text}
		}
		never += p.chain(head, lines)
	}
	never += p.tables(r)
	if never > 0 {
		p.printf("\n%s hit by no packet\n", count(never, "rule"))
	}
}

// tables prints the chains of iptables tables, and returns how many of their
// rules nothing hit.
func (p *painter) tables(r *replay) (never int) {
	for _, c := range r.tables() {
		if len(c.rules) == 0 {
			continue
		}
		head := fmt.Sprintf("iptables table %s %s, chain %s", c.table.Family, c.table.Name, c.chain.Name)
		if c.chain.BuiltIn() {
			head += fmt.Sprintf(" (policy %s)", c.chain.Policy)
		}
		lines := make([]ruleLine, len(c.rules))
		for i, h := range c.rules {
			lines[i] = ruleLine{h.hits.Packets, h.hits.Bytes, h.rule.Place.Source.Name, h.rule.Place.Pos().Line, h.rule.Text()}
		}
		never += p.chain(head, lines)
	}
	return never
}

func (p *painter) notes(r *replay) {
	for _, a := range r.allAssumptions() {
		p.printf("\nassumed: %s", diag.Printable(a))
	}
	for link, n := range r.links {
		p.printf("\nnote: %s of link type %d, which is not decoded: they match as unspecified packets", count(int(n), "frame"), link)
	}
	if n := r.clock.Backwards(); n > 0 {
		p.printf("\nnote: %s earlier than the one before; the clock stood still meanwhile", count(n, "timestamp"))
	}
	if r.untimed > 0 {
		p.printf("\nnote: %s without timestamp", count(int(r.untimed), "frame"))
	}
	p.printf("\n")
}

func (p *painter) table() table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Options.SeparateHeader = false
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	if p.color {
		style.Color.Header = text.Colors{text.Bold}
	}
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	return t
}

func alignRight(from, to int) []table.ColumnConfig {
	var out []table.ColumnConfig
	for n := from; n <= to; n++ {
		out = append(out, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	return out
}

func blankZero(n uint64) string {
	if n == 0 {
		return "-"
	}
	return thousands(n)
}

// thousands groups digits: 1,234,567.
func thousands(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
