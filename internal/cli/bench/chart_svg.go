package bench

import (
	"bufio"
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
)

// The measures of the drawing, in pixels.
const (
	svgWidth, svgHeight     = 760, 440
	svgLeft, svgRight       = 80, 210
	svgTop, svgBottom       = 50, 60
	plotWidth, plotHeight   = svgWidth - svgLeft - svgRight, svgHeight - svgTop - svgBottom
	labelDistance, textSize = 14, 12
)

// colours of the lines; those of peers are grey.
var (
	colours = []string{"#0b6e99", "#d9730d", "#448361", "#9065b0", "#c14c8a", "#ad1a72", "#64473a"}
	greys   = []string{"#888", "#444", "#bbb"}
)

// WriteSVG draws the series, each line named at its right end.
func (c *Chart) WriteSVG(w io.Writer) error {
	if len(c.Series) == 0 {
		return fmt.Errorf("a chart needs at least two numbers of %s", c.Sizes)
	}
	out := bufio.NewWriter(w)
	a := axesOf(c.Series)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="%d">`+"\n", svgWidth, svgHeight, textSize)
	fmt.Fprintf(out, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	fmt.Fprintf(out, `<text x="%d" y="26" font-size="15" font-weight="bold">%s</text>`+"\n", svgLeft, html.EscapeString(c.Title))
	c.drawScales(out, a)
	c.drawLines(out, a)
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

func (c *Chart) drawScales(w io.Writer, a axes) {
	for power := a.bottom; power <= a.top; power++ {
		_, y := a.place(Point{1, math.Pow(10, power)})
		at := svgTop + y*plotHeight
		fmt.Fprintf(w, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			svgLeft, at, svgLeft+plotWidth, svgLeft-8, at+4, html.EscapeString(c.Format(math.Pow(10, power))))
	}
	for power := math.Ceil(a.left); power <= a.right; power++ {
		n := int(math.Round(math.Pow(10, power)))
		x, _ := a.place(Point{n, 1})
		at := svgLeft + x*float64(plotWidth)
		fmt.Fprintf(w, `<path d="M%.1f %dV%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			at, svgTop, svgTop+plotHeight, at, svgTop+plotHeight+20, thousands(n))
	}
	fmt.Fprintf(w, `<text x="%d" y="%d" text-anchor="middle">number of %s</text>`+"\n", svgLeft+plotWidth/2, svgTop+plotHeight+42, html.EscapeString(c.Sizes))
	fmt.Fprintf(w, `<text x="%d" y="%d">%s</text>`+"\n", svgLeft, svgTop-8, html.EscapeString(c.Value))
}

func (c *Chart) drawLines(w io.Writer, a axes) {
	type label struct {
		y    float64
		text string
	}
	var labels []label
	own, peers := 0, 0
	for _, s := range c.Series {
		stroke := colours[own%len(colours)]
		if strings.HasPrefix(s.Name, "Linux") || strings.HasPrefix(s.Name, "rte_acl") {
			stroke = greys[peers%len(greys)]
			peers++
		} else {
			own++
		}
		var path strings.Builder
		var y float64
		for i, p := range s.Points {
			var x float64
			x, y = a.place(p)
			x, y = svgLeft+x*float64(plotWidth), svgTop+y*float64(plotHeight)
			fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(i, 1)], x, y)
			fmt.Fprintf(w, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"><title>%s: %s %s, %s</title></circle>`+"\n",
				x, y, stroke, html.EscapeString(s.Name), thousands(p.Size), html.EscapeString(c.Sizes), html.EscapeString(c.Format(p.Value)))
		}
		fmt.Fprintf(w, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", path.String(), stroke)
		last := s.Points[len(s.Points)-1]
		labels = append(labels, label{y, fmt.Sprintf(`fill="%s">%s, %s`, stroke, html.EscapeString(s.Name), html.EscapeString(c.Format(last.Value)))})
	}
	// From the top down, labels that would lie upon each other move down.
	slices.SortStableFunc(labels, func(a, b label) int { return cmp.Compare(a.y, b.y) })
	for i, l := range labels {
		if i > 0 {
			l.y = max(l.y, labels[i-1].y+labelDistance)
			labels[i].y = l.y
		}
		fmt.Fprintf(w, `<text x="%d" y="%.1f" %s</text>`+"\n", svgLeft+plotWidth+8, l.y+4, l.text)
	}
}
