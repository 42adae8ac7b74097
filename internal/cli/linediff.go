package cli

import (
	"fmt"
	"strings"
)

// lineDiff prints the lines that differ between two texts in unified form with
// three lines around, for the formatter's -d.
func lineDiff(name, before, after string) string {
	a, b := splitLines(before), splitLines(after)
	edits := diffLines(a, b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s (formatted)\n", name, name)
	for start := 0; start < len(edits); {
		if edits[start].sign == ' ' {
			start++
			continue
		}
		from := max(0, start-diffContext)
		to := hunkEnd(edits, start)
		fmt.Fprintf(&out, "@@ line %d @@\n", edits[from].line)
		for _, e := range edits[from:to] {
			fmt.Fprintf(&out, "%c%s\n", e.sign, e.text)
		}
		start = to
	}
	return out.String()
}

const diffContext = 3

type edit struct {
	sign byte // ' ', '-', '+'
	line int  // in the first text, from 1
	text string
}

// hunkEnd finds where a hunk ends: behind the context of its last change.
func hunkEnd(edits []edit, start int) int {
	last := start
	for i := start; i < len(edits) && i <= last+2*diffContext; i++ {
		if edits[i].sign != ' ' {
			last = i
		}
	}
	return min(len(edits), last+diffContext+1)
}

func splitLines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// diffLines aligns two texts by the lines that are unique in both (patience
// diff), which needs no quadratic table.
func diffLines(a, b []string) []edit {
	var out []edit
	i, j := 0, 0
	keep := func(toA, toB int) {
		for ; i < toA; i++ {
			out = append(out, edit{'-', i + 1, a[i]})
		}
		for ; j < toB; j++ {
			out = append(out, edit{'+', i + 1, b[j]})
		}
	}
	for _, m := range matches(a, b) {
		if m[0] < i || m[1] < j {
			continue
		}
		keep(m[0], m[1])
		for i < len(a) && j < len(b) && a[i] == b[j] {
			out = append(out, edit{' ', i + 1, a[i]})
			i++
			j++
		}
	}
	keep(len(a), len(b))
	return out
}

// matches finds pairs of equal lines in increasing order: the common start,
// and lines that occur once in each text.
func matches(a, b []string) [][2]int {
	pairs := [][2]int{{0, 0}}
	countB := map[string]int{}
	where := map[string]int{}
	for j, line := range b {
		countB[line]++
		where[line] = j
	}
	countA := map[string]int{}
	for _, line := range a {
		countA[line]++
	}
	last := -1
	for i, line := range a {
		if countA[line] == 1 && countB[line] == 1 && where[line] > last {
			last = where[line]
			pairs = append(pairs, [2]int{i, last})
		}
	}
	return pairs
}
