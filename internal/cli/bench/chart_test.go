package bench

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

var twoLines = Chart{
	Title: "a < b & c", Value: "time of a lookup", Sizes: "elements", Format: duration,
	Series: []Series{
		{"Linux, disjoint", []Point{{1000, 300}, {800_000, 47_600}}},
		{"verdict, disjoint", []Point{{1000, 20}, {800_000, 60}}},
	},
}

func TestCharts(t *testing.T) {
	var text, drawing strings.Builder
	if err := errors.Join(twoLines.WriteText(&text), twoLines.WriteSVG(&drawing)); err != nil {
		t.Fatal(err)
	}
	golden(t, "chart.txt", text.String())
	golden(t, "chart.svg", drawing.String())
	d := xml.NewDecoder(strings.NewReader(drawing.String()))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestChartOfNothing(t *testing.T) {
	var out strings.Builder
	c := Chart{Sizes: "rules"}
	if err := c.WriteSVG(&out); err == nil || err.Error() != "a chart needs at least two numbers of rules" {
		t.Error(err)
	}
	if err := c.WriteText(&out); err != nil || out.Len() > 0 {
		t.Error(err, out.String())
	}
}
