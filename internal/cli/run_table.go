package cli

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"verdict/diag"
)

// ruleLine is a rule in the table of its chain.
type ruleLine struct {
	packets, bytes uint64
	file           string // "" for rules without source
	line           int
	rule           string
}

// On a terminal, rules that do not fit beside the other cells go on below.
const (
	minRuleWidth = 20 // columns below which the terminal wraps whole rows
	maxRuleLines = 4  // of one rule, about; the rest is cut
)

// chain prints the rules of a chain with their hits, and returns how many
// nothing hit.
func (p *painter) chain(head string, rules []ruleLine) (never int) {
	t := p.table()
	t.AppendHeader(table.Row{"packets", "bytes", "where", "rule"})
	room := p.ruleWidth(rules)
	for i := range rules {
		r := &rules[i]
		if r.packets == 0 {
			never++
		}
		t.AppendRow(table.Row{p.hits(r.packets), blankZero(r.bytes), p.where(r), fit(r.rule, room)})
	}
	columns := alignRight(1, 2)
	if room > 0 {
		columns = append(columns, table.ColumnConfig{Number: 4, WidthMax: room, WidthMaxEnforcer: text.WrapSoft})
	}
	t.SetColumnConfigs(columns)
	p.printf("\n%s\n%s\n", diag.Printable(head), t.Render())
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

// where is the place of a rule. On a narrow terminal a long path gives way to
// the file's name, so that there is room for the rule.
func (p *painter) where(r *ruleLine) string {
	file := r.file
	if file == "" {
		return ""
	}
	if p.s.OutTerminal && p.s.Width > 0 && len(file) > p.s.Width/4 {
		file = filepath.Base(file)
	}
	return diag.Printable(file) + ":" + strconv.Itoa(r.line)
}

// ruleWidth is how many columns of a terminal are left for rules beside the
// other cells; 0: any number.
func (p *painter) ruleWidth(rules []ruleLine) int {
	if !p.s.OutTerminal || p.s.Width <= 0 {
		return 0
	}
	packets, bytes, place := len("packets"), len("bytes"), len("where")
	for i := range rules {
		packets = max(packets, len(thousands(rules[i].packets)))
		bytes = max(bytes, len(thousands(rules[i].bytes)))
		place = max(place, text.StringWidthWithoutEscSequences(p.where(&rules[i])))
	}
	const padding = 3 * 2
	if room := p.s.Width - packets - bytes - place - padding; room >= minRuleWidth {
		return room
	}
	return 0
}

// fit makes a rule one line, and cuts one that would fill many of a terminal.
func fit(rule string, room int) string {
	rule = diag.Printable(strings.Join(strings.Fields(rule), " "))
	if room == 0 || text.StringWidthWithoutEscSequences(rule) <= room*maxRuleLines {
		return rule
	}
	return text.Snip(rule, room*maxRuleLines, "...")
}
