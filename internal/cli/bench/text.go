package bench

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// format writes a value with its unit.
func (u Unit) format(v float64) string {
	switch u {
	case Time:
		return duration(v)
	case Percent:
		return fmt.Sprintf("%.1f %%", v)
	case Rate:
		return fmt.Sprintf("%.2f M/s", v/1e6)
	}
	switch {
	case v >= 10<<20:
		return fmt.Sprintf("%.0f MB", v/(1<<20))
	case v >= 10<<10:
		return fmt.Sprintf("%.0f kB", v/(1<<10))
	}
	return fmt.Sprintf("%.0f B", v)
}

// duration writes nanoseconds with three digits.
func duration(ns float64) string {
	switch {
	case ns >= 1e9:
		return digits(ns/1e9) + " s"
	case ns >= 1e6:
		return digits(ns/1e6) + " ms"
	case ns >= 1e4:
		return digits(ns/1e3) + " µs"
	}
	return digits(ns) + " ns"
}

func digits(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// WriteText writes a report for people: a table for each set or file.
func (r *Report) WriteText(w io.Writer) error {
	m := r.Machine
	fmt.Fprintf(w, "%s/%s, %d processors, %s, vectors: %s; processor time, medians (quartiles)\n", m.OS, m.Arch, m.CPUs, m.Go, m.Vectors)
	for rest := r.Figures; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Case == rest[0].Case && rest[n].Elements == rest[0].Elements {
			n++
		}
		if err := r.writeTable(w, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return writeNotes(w, r.Notes)
}

func writeNotes(w io.Writer, notes []string) error {
	for _, note := range notes {
		if _, err := fmt.Fprintf(w, "\n%s\n", note); err != nil {
			return err
		}
	}
	return nil
}

// writeTable writes the figures of one set.
func (r *Report) writeTable(w io.Writer, list []Figure) error {
	title := list[0].Case
	if n := list[0].Elements; n > 0 {
		title += fmt.Sprintf(", %s %s", thousands(n), cmp.Or(r.Of, "elements"))
	}
	peers := false
	for i := range list {
		peers = peers || list[i].Peer != 0
		if s := list[i].Structure; s != "" && !strings.Contains(title, ": ") {
			title += ": " + s
		}
	}
	fmt.Fprintf(w, "\n%s\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if peers {
		fmt.Fprintf(t, "  \tverdict\t\t%s\tratio\tgoal\n", cmp.Or(r.Peer, "kernel"))
	} else {
		fmt.Fprintln(t, "  \tverdict\t\tgoal")
	}
	for i := range list {
		f := &list[i]
		row := []string{"  " + string(f.What), f.Unit.format(f.Value), ""}
		if f.Low != f.High {
			row[2] = "(" + f.Unit.format(f.Low) + " - " + f.Unit.format(f.High) + ")"
		}
		if peers {
			row = append(row, "", "")
			if f.Peer != 0 {
				row[3], row[4] = f.Unit.format(f.Peer), digits(f.Ratio())+"×"
			}
			if f.PeerBy != "" {
				row[3] += ", " + f.PeerBy
			}
		}
		row = append(row, f.goal())
		fmt.Fprintln(t, strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
	return t.Flush()
}

// Promise is the bound for people, without the ratio where there is no peer to
// judge it by; empty if nothing is promised.
func (f *Figure) Promise() string {
	if f.Bound == nil {
		return ""
	}
	b := *f.Bound
	if f.Peer == 0 && b.Most != 0 {
		b.Ratio = 0
	}
	return b.Text(f.Unit)
}

// goal is the promise and whether it is kept.
func (f *Figure) goal() string {
	text := f.Promise()
	switch {
	case text == "":
		return ""
	case f.Bound.Most == 0 && f.Peer == 0:
		return text + ": no peer"
	case f.OK():
		return text + ": pass"
	}
	return text + ": FAIL"
}

// thousands writes a number with separators.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// MeasuredBeside is the figure's value for people, with that of a peer and the
// ratio if there is one.
func (f *Figure) MeasuredBeside(peer string) string {
	text := f.Unit.format(f.Value)
	if f.Peer != 0 {
		text += fmt.Sprintf(", %s %s: %s times", peer, f.Unit.format(f.Peer), digits(f.Ratio()))
	}
	return text
}

// String is the figure in one line.
func (f *Figure) String() string {
	return fmt.Sprintf("%s, %d elements: %s: %s", f.Case, f.Elements, f.What, f.MeasuredBeside("the kernel"))
}
