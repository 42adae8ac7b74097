package bench

import (
	"fmt"
	"strings"
	"testing"
)

// TestCloseLabels draws series that end so close together that each label
// would move onto another; this once never ended.
func TestCloseLabels(t *testing.T) {
	var series []Series
	for i := range 40 {
		ns := 100 + float64(i*37%40)/4
		series = append(series, Series{fmt.Sprintf("s%d", i), []Point{{100, 50}, {200, ns}}})
	}
	for n := 2; n <= len(series); n++ {
		var out strings.Builder
		c := Chart{Title: "t", Value: "time", Sizes: "rules", Format: duration, Series: series[:n]}
		if err := c.WriteSVG(&out); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), `>s`); got < n {
			t.Errorf("%d series: %d labels", n, got)
		}
	}
}
