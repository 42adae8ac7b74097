package bench

import (
	"fmt"
	"io"
	"slices"
)

// rate writes a number of packets a second.
func rate(v float64) string {
	if v >= 1e6 {
		return digits(v/1e6) + " M"
	}
	return thousands(int(v + 0.5))
}

// Chart draws the rates of a kind over the number of rules.
func (r *RulesReport) Chart(kind string) *Chart {
	c := &Chart{Title: "Ten thousand rules at the price of ten (" + kind + ")", Value: "packets/s", Sizes: "rules", Format: rate}
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Kind == kind {
			c.Series = addTo(c.Series, row.Way, row.Rules, row.PPS)
		}
	}
	c.Series = lines(c.Series)
	return c
}

// WriteText writes the report for people: a table of rates for each kind, the
// ratios at one number of rules, what is promised, and a chart of the first
// kind.
func (r *RulesReport) WriteText(w io.Writer) error {
	m := r.Machine
	fmt.Fprintf(w, "%s/%s, %d processors, %s; processor time of one thread, medians; decoding included, of Linux the chain alone\n", m.OS, m.Arch, m.CPUs, m.Go)
	kinds := r.kinds()
	for _, kind := range kinds {
		k := ruleKind(kind)
		fmt.Fprintf(w, "\n%s: %s\n  %s\n", kind, k.Why, k.Example)
		if err := r.writeRates(w, kind); err != nil {
			return err
		}
		if err := r.writeRatios(w, kind); err != nil {
			return err
		}
	}
	if len(r.Goals) > 0 {
		fmt.Fprintln(w, "\ngoals")
	}
	for _, g := range r.Goals {
		result := "pass"
		if !g.OK {
			result = "FAIL"
		}
		fmt.Fprintf(w, "  %s: %s (%s): %s\n", g.What, g.Figure, g.Bound, result)
	}
	if err := writeNotes(w, r.Notes); err != nil || len(kinds) == 0 {
		return err
	}
	return r.Chart(kinds[0]).WriteText(w)
}

func (r *RulesReport) kinds() (list []string) {
	for i := range r.Rows {
		if !slices.Contains(list, r.Rows[i].Kind) {
			list = append(list, r.Rows[i].Kind)
		}
	}
	return list
}

// of are the numbers of rules and the ways that a kind was measured with.
func (r *RulesReport) of(kind string) (sizes []int, ways []string) {
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Kind != kind {
			continue
		}
		if !slices.Contains(sizes, row.Rules) {
			sizes = append(sizes, row.Rules)
		}
		if !slices.Contains(ways, row.Way) {
			ways = append(ways, row.Way)
		}
	}
	return sizes, ways
}

func (r *RulesReport) writeRates(w io.Writer, kind string) error {
	sizes, ways := r.of(kind)
	head := []string{"packets/s"}
	for _, n := range sizes {
		head = append(head, thousands(n))
	}
	t := grid{head}
	for _, way := range ways {
		line := []string{way}
		for _, n := range sizes {
			line = append(line, rate(r.Row(kind, n, way).PPS))
		}
		t = append(t, line)
	}
	return t.write(w)
}

// writeRatios compares the ways at publishedRules rules, or the most that were
// measured.
func (r *RulesReport) writeRatios(w io.Writer, kind string) error {
	sizes, ways := r.of(kind)
	n := slices.Max(sizes)
	if slices.Contains(sizes, publishedRules) {
		n = publishedRules
	}
	head := []string{fmt.Sprintf("at %s rules", thousands(n)), "packets/s", "× base"}
	published := n == publishedRules && len(publishedRates[kind]) > 0
	base, publishedBase := r.Row(kind, n, Base), publishedRates[kind][Base]
	if published {
		head = append(head, "published")
		if publishedBase > 0 {
			head = append(head, "× base")
		}
	}
	var others []*RuleRow
	for _, way := range []string{LinuxNft, LinuxLegacy} {
		if row := r.Row(kind, n, way); row != nil {
			others = append(others, row)
			head = append(head, "× "+way)
		}
	}
	t := grid{head}
	for _, way := range ways {
		row := r.Row(kind, n, way)
		line := []string{way, rate(row.PPS), digits(row.PPS / base.PPS)}
		if published {
			line = append(line, rateOrNone(row.Published))
			if publishedBase > 0 {
				line = append(line, ratioOrNone(row.Published, publishedBase))
			}
		}
		for _, o := range others {
			line = append(line, digits(row.PPS/o.PPS))
		}
		t = append(t, line)
	}
	return t.write(w)
}

func rateOrNone(v float64) string {
	if v == 0 {
		return ""
	}
	return rate(v)
}

func ratioOrNone(v, to float64) string {
	if v == 0 {
		return ""
	}
	return digits(v / to)
}
