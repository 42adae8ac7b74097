package classify

import (
	"fmt"
	"slices"
)

// Rule is a conjunction of constraints. Rules are told apart, and ordered, by
// Order: the lowest that matches comes first. A rule without constraints
// always matches.
type Rule struct {
	Order uint32
	Match []Constraint
}

// MaxOrder is the greatest order a rule may have.
const MaxOrder = 1<<31 - 2

// None is returned instead of an order where no rule matches.
const None = 1<<31 - 1

// MaxAlternatives bounds into how many conjunctions of ranges a rule may be
// divided: an inverted constraint on a wide field, or a range whose ends are
// not prefixes, makes several. A rule that needs more is refused.
const MaxAlternatives = 256

// Matches tells whether a rule matches the values of all fields, each big
// endian. It is the definition that tables are tested against.
func (r *Rule) Matches(values [][]byte) bool {
	for i := range r.Match {
		if c := &r.Match[i]; !c.Matches(values[c.Field]) {
			return false
		}
	}
	return true
}

// alternatives turns a rule into boxes.
func (l *Layout) alternatives(r *Rule) (disjunction, error) {
	if r.Order > MaxOrder {
		return nil, &ConstraintError{r.Order, 0, fmt.Sprintf("the order is more than %d", MaxOrder)}
	}
	d := disjunction{{}}
	for i := range r.Match {
		c := &r.Match[i]
		if c.Field < 0 || c.Field >= len(l.fields) {
			return nil, &ConstraintError{r.Order, c.Field, "there is no such field"}
		}
		one, err := c.boxes(&l.fields[c.Field])
		if err != nil {
			return nil, &ConstraintError{r.Order, c.Field, err.Error()}
		}
		if len(d)*len(one) > MaxAlternatives {
			return nil, &ConstraintError{r.Order, c.Field, fmt.Sprintf("it divides the rule into more than %d parts", MaxAlternatives)}
		}
		d = d.product(one)
	}
	return d, nil
}

// rows are rules as ranges over columns, in ascending order. A rule may have
// several rows.
type rows struct {
	columns []place
	ranges  []Range // len(columns) for each row
	orders  []uint32
}

func (r *rows) count() int { return len(r.orders) }

// row is the ranges of a row.
func (r *rows) row(i int) []Range {
	k := len(r.columns)
	return r.ranges[i*k : i*k+k : i*k+k]
}

// some picks rows.
func (r *rows) some(which []int32) *rows {
	out := &rows{columns: r.columns, ranges: make([]Range, 0, len(which)*len(r.columns)), orders: make([]uint32, 0, len(which))}
	for _, i := range which {
		out.ranges = append(out.ranges, r.row(int(i))...)
		out.orders = append(out.orders, r.orders[i])
	}
	return out
}

// A column's word holds its number and how many columns of the same word came
// before it.
const (
	wordMask  = 0xffff
	duplicate = 0x10000
)

// rowsOf turns rules into rows.
func (l *Layout) rowsOf(rules []Rule) (*rows, error) {
	out := &rows{}
	index := map[place]int{}
	type entry struct {
		box   box
		order uint32
	}
	entries := make([]entry, 0, len(rules))
	sorted := true
	for i := range rules {
		d, err := l.alternatives(&rules[i])
		if err != nil {
			return nil, err
		}
		for _, b := range d {
			sorted = sorted && (len(entries) == 0 || entries[len(entries)-1].order <= rules[i].Order)
			entries = append(entries, entry{b, rules[i].Order})
			for j := range b {
				// A second bound of a column goes to a column of its own.
				p := b[j].place
				for _, before := range b[:j] {
					if before.word&wordMask == p.word&wordMask && before.mask == p.mask {
						p.word = before.word + duplicate
					}
				}
				b[j].place = p
				if _, ok := index[p]; !ok {
					index[p] = len(out.columns)
					out.columns = append(out.columns, p)
				}
			}
		}
	}
	if !sorted {
		slices.SortStableFunc(entries, func(a, b entry) int { return int(a.order) - int(b.order) })
	}
	k := len(out.columns)
	out.ranges, out.orders = make([]Range, len(entries)*k), make([]uint32, len(entries))
	for i := range out.ranges {
		out.ranges[i] = everything
	}
	for i, e := range entries {
		for _, b := range e.box {
			out.ranges[i*k+index[b.place]] = b.Range
		}
		out.orders[i] = e.order
	}
	return out, nil
}

// Parts is into how many conjunctions of ranges a rule is divided.
func (l *Layout) Parts(r *Rule) (int, error) {
	d, err := l.alternatives(r)
	return len(d), err
}
