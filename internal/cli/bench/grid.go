package bench

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// grid is a table of names and numbers: the first column is written from the
// left, the others to the right. Rows are as long as the first.
type grid [][]string

func (g grid) write(w io.Writer) error {
	widths := make([]int, len(g[0]))
	for _, row := range g {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	fmt.Fprintln(w)
	for _, row := range g {
		var line strings.Builder
		for i, cell := range row {
			if i == 0 {
				fmt.Fprintf(&line, "  %-*s", widths[i], cell)
			} else {
				fmt.Fprintf(&line, "  %*s", widths[i], cell)
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
