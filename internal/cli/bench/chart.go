package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Series is a line of a chart: cost against size.
type Series struct {
	Name   string
	Points []Point
}

// Point is one measurement of a series.
type Point struct {
	Elements int
	NS       float64
}

// LookupSeries are the times of a lookup over the number of elements: for each
// shape the kernel's, where it was measured, and those of single lookups and of
// bursts. Shapes of one size make no line.
func LookupSeries(figures []Figure) []Series {
	var list []Series
	add := func(name string, elements int, ns float64) {
		if ns <= 0 {
			return
		}
		i := slices.IndexFunc(list, func(s Series) bool { return s.Name == name })
		if i < 0 {
			i = len(list)
			list = append(list, Series{Name: name})
		}
		list[i].Points = append(list[i].Points, Point{elements, ns})
	}
	for i := range figures {
		f := &figures[i]
		switch f.What {
		case HitSingle:
			add("Linux, "+f.Case, f.Elements, f.Peer)
			add("verdict, "+f.Case, f.Elements, f.Value)
		case HitBurst:
			add("verdict, "+f.Case+", bursts", f.Elements, f.Value)
		}
	}
	for i := range list {
		slices.SortFunc(list[i].Points, func(a, b Point) int { return a.Elements - b.Elements })
	}
	return slices.DeleteFunc(list, func(s Series) bool { return len(s.Points) < 2 })
}

// axes are the bounds of a chart with logarithmic scales.
type axes struct{ left, right, bottom, top float64 } // powers of ten

func axesOf(list []Series) axes {
	a := axes{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
	for _, s := range list {
		for _, p := range s.Points {
			x, y := math.Log10(float64(p.Elements)), math.Log10(p.NS)
			a.left, a.right = min(a.left, x), max(a.right, x)
			a.bottom, a.top = min(a.bottom, y), max(a.top, y)
		}
	}
	a.bottom, a.top = math.Floor(a.bottom), math.Ceil(a.top)
	return a
}

// place is where a point lies, 0 to 1 from the left and from the top.
func (a *axes) place(p Point) (x, y float64) {
	x = (math.Log10(float64(p.Elements)) - a.left) / max(a.right-a.left, 1e-9)
	y = (a.top - math.Log10(p.NS)) / max(a.top-a.bottom, 1e-9)
	return x, y
}

// WriteChart draws the series with letters under a title, for a terminal.
func WriteChart(w io.Writer, title string, list []Series) error {
	if len(list) == 0 {
		return nil
	}
	const width, height = 64, 18
	a := axesOf(list)
	grid := make([][]byte, height+1)
	for i := range grid {
		grid[i] = []byte(strings.Repeat(" ", width+1))
	}
	for i, s := range list {
		for _, p := range s.Points {
			x, y := a.place(p)
			grid[int(math.Round(y*height))][int(math.Round(x*width))] = byte('A' + i%26)
		}
	}
	fmt.Fprintf(w, "\n%s, both logarithmic\n", title)
	last := ""
	for i, row := range grid {
		label := ""
		if power := a.top - float64(i)*(a.top-a.bottom)/height; math.Abs(power-math.Round(power)) < (a.top-a.bottom)/height/2 {
			label = duration(math.Pow(10, math.Round(power)))
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
	for i, s := range list {
		fmt.Fprintf(w, "%9c = %s\n", 'A'+i%26, s.Name)
	}
	return nil
}
