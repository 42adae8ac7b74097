package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Chart draws values over sizes, both on logarithmic scales.
type Chart struct {
	Title  string
	Value  string               // what the values are
	Sizes  string               // what is counted: elements, rules
	Format func(float64) string // writes a value with its unit
	Series []Series
}

// Series is a line of a chart.
type Series struct {
	Name   string
	Points []Point
}

// Point is one measurement of a series.
type Point struct {
	Size  int
	Value float64
}

// addTo adds a point to the series of a name, which it makes if need be. What
// is not above 0 was not measured.
func addTo(list []Series, name string, size int, value float64) []Series {
	if value <= 0 {
		return list
	}
	i := slices.IndexFunc(list, func(s Series) bool { return s.Name == name })
	if i < 0 {
		i = len(list)
		list = append(list, Series{Name: name})
	}
	list[i].Points = append(list[i].Points, Point{size, value})
	return list
}

// lines are the series with at least two points, in the order of their sizes.
func lines(list []Series) []Series {
	for i := range list {
		slices.SortFunc(list[i].Points, func(a, b Point) int { return a.Size - b.Size })
	}
	return slices.DeleteFunc(list, func(s Series) bool { return len(s.Points) < 2 })
}

// LookupChart draws the times of a lookup over the number of elements: for each
// shape the kernel's, where it was measured, and those of single lookups and of
// bursts. Shapes of one size make no line.
func LookupChart(figures []Figure) *Chart {
	c := &Chart{Title: "A lookup costs the same in small sets and large ones", Value: "time of a lookup", Sizes: "elements", Format: duration}
	for i := range figures {
		f := &figures[i]
		switch f.What {
		case HitSingle:
			c.Series = addTo(c.Series, "Linux, "+f.Case, f.Elements, f.Peer)
			c.Series = addTo(c.Series, "verdict, "+f.Case, f.Elements, f.Value)
		case HitBurst:
			c.Series = addTo(c.Series, "verdict, "+f.Case+", bursts", f.Elements, f.Value)
		}
	}
	c.Series = lines(c.Series)
	return c
}

// axes are the bounds of a chart with logarithmic scales.
type axes struct{ left, right, bottom, top float64 } // powers of ten

func axesOf(list []Series) axes {
	a := axes{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
	for _, s := range list {
		for _, p := range s.Points {
			x, y := math.Log10(float64(p.Size)), math.Log10(p.Value)
			a.left, a.right = min(a.left, x), max(a.right, x)
			a.bottom, a.top = min(a.bottom, y), max(a.top, y)
		}
	}
	a.bottom, a.top = math.Floor(a.bottom), math.Ceil(a.top)
	return a
}

// place is where a point lies, 0 to 1 from the left and from the top.
func (a *axes) place(p Point) (x, y float64) {
	x = (math.Log10(float64(p.Size)) - a.left) / max(a.right-a.left, 1e-9)
	y = (a.top - math.Log10(p.Value)) / max(a.top-a.bottom, 1e-9)
	return x, y
}

// WriteText draws the series with letters, for a terminal. Where several fall
// on one place, the first is seen. A chart without series is not drawn.
func (c *Chart) WriteText(w io.Writer) error {
	if len(c.Series) == 0 {
		return nil
	}
	const width, height = 64, 18
	a := axesOf(c.Series)
	grid := make([][]byte, height+1)
	for i := range grid {
		grid[i] = []byte(strings.Repeat(" ", width+1))
	}
	for i, s := range slices.Backward(c.Series) {
		for _, p := range s.Points {
			x, y := a.place(p)
			grid[int(math.Round(y*height))][int(math.Round(x*width))] = byte('A' + i%26)
		}
	}
	fmt.Fprintf(w, "\n%s over the number of %s, both logarithmic\n", c.Value, c.Sizes)
	last := ""
	for i, row := range grid {
		label := ""
		if power := a.top - float64(i)*(a.top-a.bottom)/height; math.Abs(power-math.Round(power)) < (a.top-a.bottom)/height/2 {
			label = c.Format(math.Pow(10, math.Round(power)))
		}
		if label == last {
			label = ""
		} else if label != "" {
			last = label
		}
		fmt.Fprintf(w, "%8s |%s\n", label, strings.TrimRight(string(row), " "))
	}
	fmt.Fprintf(w, "%8s +%s\n", "", strings.Repeat("-", width+1))
	from, to := thousands(int(math.Round(math.Pow(10, a.left)))), thousands(int(math.Round(math.Pow(10, a.right))))
	fmt.Fprintf(w, "%8s  %s%s%s\n", "", from, strings.Repeat(" ", max(1, width+1-len(from)-len(to))), to)
	for i, s := range c.Series {
		if _, err := fmt.Fprintf(w, "%9c = %s\n", 'A'+i%26, s.Name); err != nil {
			return err
		}
	}
	return nil
}
