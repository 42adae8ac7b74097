package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"verdict/catalog"
	"verdict/engine"
)

// text prints the report for people.
func (c *runCommand) text(r *replay) error {
	p := &painter{s: c.s, color: c.s.color(c.s.OutTerminal)}
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
	p.printf("%s packets, %s bytes in %s: %s packets/s\n", thousands(r.packets), thousands(r.bytes), duration(r.seconds), metric(r.rate()))
	var parts []string
	for _, fate := range engine.Fates() {
		if n := r.totals[fate].packets; n > 0 {
			parts = append(parts, p.fate(fate, fmt.Sprintf("%s %s", fate, thousands(n))))
		}
	}
	if r.copies > 0 {
		parts = append(parts, fmt.Sprintf("seen again on the way out %s", thousands(r.copies)))
	}
	p.printf("%s\n", strings.Join(parts, "   "))
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
		t := p.table()
		t.AppendHeader(table.Row{"packets", "bytes", "where", "rule"})
		for i := range c.rules {
			h := &c.rules[i]
			if h.packets == 0 {
				never++
			}
			t.AppendRow(table.Row{p.hits(h.packets), blankZero(h.bytes), where(h), p.fit(h.text)})
		}
		t.SetColumnConfigs(alignRight(1, 2))
		p.printf("\n%s\n%s\n", head, t.Render())
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
		t := p.table()
		t.AppendHeader(table.Row{"packets", "bytes", "where", "rule"})
		for _, h := range c.rules {
			if h.hits.Packets == 0 {
				never++
			}
			at := fmt.Sprintf("%s:%d", h.rule.Place.Source.Name, h.rule.Place.Pos().Line)
			t.AppendRow(table.Row{p.hits(h.hits.Packets), blankZero(h.hits.Bytes), at, p.fit(h.rule.Text())})
		}
		t.SetColumnConfigs(alignRight(1, 2))
		p.printf("\n%s\n%s\n", head, t.Render())
	}
	return never
}

func (p *painter) hits(n uint64) string {
	if n == 0 && p.color {
		return text.Faint.Sprint("never")
	}
	if n == 0 {
		return "never"
	}
	return thousands(n)
}

func where(h *ruleHits) string {
	if h.file() == "" {
		return ""
	}
	return h.file() + ":" + strconv.Itoa(h.line())
}

// fit cuts a rule so that a row stays on one line of a terminal.
func (p *painter) fit(rule string) string {
	rule = strings.Join(strings.Fields(rule), " ")
	const others = 50 // columns of the other cells
	if !p.s.OutTerminal || p.s.Width <= others+20 || len(rule) <= p.s.Width-others {
		return rule
	}
	return rule[:p.s.Width-others-3] + "..."
}

func (p *painter) notes(r *replay) {
	for _, a := range r.allAssumptions() {
		p.printf("\nassumed: %s", a)
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
