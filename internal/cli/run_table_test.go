package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
)

// TestChainTable: the table of a chain keeps to the width of a terminal, says
// all of each rule, and sends nothing that a terminal would obey.
func TestChainTable(t *testing.T) {
	rules := []ruleLine{
		{1234567, 99999999, "/etc/firewall/generated/site.nft", 7, `ip saddr { 192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24 } tcp dport { 80, 443 } accept comment "the last word"`},
		{0, 0, "/etc/firewall/generated/site.nft", 8, "accept comment \"\x1b[2J\x1b]0;title\a \u009b31m \u202e\""},
		{0, 0, "", 0, strings.Repeat("10.0.0.1, ", 1000)},
	}
	for _, c := range []struct {
		width    int
		terminal bool
		want     string
		lines    int // of the whole table
	}{
		{80, true, "site.nft", 10},
		{120, true, "site.nft", 9},
		{200, true, "/etc/firewall/generated/site.nft", 8},
		{30, true, "site.nft", 4},
		{80, false, "/etc/firewall/generated/site.nft", 4},
	} {
		var out bytes.Buffer
		p := &painter{s: &Streams{Out: &out, OutTerminal: c.terminal, Width: c.width}}
		if never := p.chain("chain c", rules); never != 2 {
			t.Errorf("width %d: %d rules are hit by no packet, want 2", c.width, never)
		}
		got := strings.TrimSpace(out.String())
		place := c.want + ":7  "
		if !strings.Contains(got, place) || strings.Contains(got, "/"+place) {
			t.Errorf("width %d: no place %q in\n%s", c.width, place, got)
		}
		if strings.ContainsAny(got, "\x1b\a\u009b\u202e") {
			t.Errorf("width %d: control characters in %q", c.width, got)
		}
		if !strings.Contains(got, `word"`) {
			t.Errorf("width %d: the end of a rule is missing in\n%s", c.width, got)
		}
		lines := strings.Split(got, "\n")[1:]
		if len(lines) != c.lines {
			t.Errorf("width %d: %d lines, want %d:\n%s", c.width, len(lines), c.lines, got)
		}
		for _, l := range lines {
			if w := text.StringWidthWithoutEscSequences(strings.TrimRight(l, " ")); c.terminal && c.width > 60 && w > c.width {
				t.Errorf("width %d: a line of %d columns: %s", c.width, w, l)
			}
		}
	}
}
