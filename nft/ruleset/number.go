package ruleset

import (
	"strconv"
	"strings"
)

// numbers are those that names with %d have taken in a table.
type numbers struct {
	taken map[int]bool
	low   int // no number below is free
}

// number replaces %d in a name by the lowest number that is free in the
// table.
//
// Ref: nf_tables_api.c, nf_tables_set_alloc_name
func (t *Table) number(name string) string {
	prefix, suffix, _ := strings.Cut(name, "%d")
	n := t.edit.numbers[prefix]
	if n == nil {
		n = &numbers{taken: map[int]bool{}}
		if t.edit.numbers == nil {
			t.edit.numbers = map[string]*numbers{}
		}
		t.edit.numbers[prefix] = n
		for _, s := range t.edit.sets.items {
			if s != nil && s.Flags&SetAnonymous != 0 {
				n.take(prefix, s.Name)
			}
		}
		for _, c := range t.edit.chains.items {
			if c != nil && c.Binding {
				n.take(prefix, c.Name)
			}
		}
	}
	for n.taken[n.low] {
		n.low++
	}
	n.taken[n.low] = true
	return prefix + strconv.Itoa(n.low) + suffix
}

func (n *numbers) take(prefix, name string) {
	if rest, ok := strings.CutPrefix(name, prefix); ok {
		if i, err := strconv.Atoi(rest); err == nil {
			n.taken[i] = true
		}
	}
}

// freeNumber gives the number of a name back.
func (t *Table) freeNumber(name string) {
	prefix := strings.TrimRight(name, "0123456789")
	if n := t.edit.numbers[prefix]; n != nil {
		if i, err := strconv.Atoi(name[len(prefix):]); err == nil {
			delete(n.taken, i)
			n.low = min(n.low, i)
		}
	}
}
