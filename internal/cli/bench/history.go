package bench

import (
	"fmt"
	"io"
	"text/tabwriter"

	"verdict/internal/simd"
	"verdict/set/elem"
	"verdict/set/pipapo"
)

// Step is one stage of the kernel's way from 19 minutes to 43 seconds for
// 800,000 elements, done over here.
type Step struct {
	Name     string `json:"name"`
	Elements int    `json:"elements"`
	// Took is the time of the load in nanoseconds.
	Took float64 `json:"ns"`
	// Shares of the time: copying tables, intersecting bit maps, following the
	// mapping table. The rest is everything else.
	Copy   float64 `json:"copy"`
	And    float64 `json:"and"`
	Refill float64 `json:"refill"`
	// Published is what the patch set reports for 800,000 elements in the
	// kernel, in seconds; 0 for none.
	Published float64 `json:"published,omitempty"`
}

// steps are the stages, each with the backend that it is done with.
var steps = []struct {
	name      string
	published float64
	bulk      bool
	exact     bool
	level     func() simd.Level
}{
	{name: "one by one, tables of exact size", published: 1175, exact: true, level: generic},
	{name: "one by one, tables with slack", published: 114, level: generic},
	{name: "one by one, slack, vector lookups", published: 42.6, level: simd.Current},
	{name: "at once", bulk: true, level: simd.Current},
}

func generic() simd.Level { return simd.Generic }

// History loads n elements in each of the ways.
func History(n int, o *Options) ([]Step, error) {
	var list []Step
	shape := ShapeByName("disjoint")
	for _, s := range steps {
		o.tell("history, %d elements: %s", n, s.name)
		entries := shape.entries(n)
		var backend elem.Backend
		plain, err := pipapo.NewPlain(&shape.Desc)
		if err != nil {
			return nil, err
		}
		if backend = plain; s.exact {
			plain.AllocateExactly()
		}
		if s.bulk {
			if backend, err = pipapo.New(&shape.Desc); err != nil {
				return nil, err
			}
		}
		step := Step{Name: s.name, Elements: n, Published: s.published}
		restore := simd.Set(s.level())
		leaves, profileErr := profile(func() {
			step.Took = timedLoad(func() {
				if _, _, err = backend.InsertAll(entries, 0); err == nil {
					backend.Commit(0)
				}
			})
		})
		restore()
		if err != nil {
			return nil, err
		}
		if profileErr != nil {
			return nil, profileErr
		}
		step.Copy, step.And, step.Refill = shares(leaves)
		list = append(list, step)
	}
	return list, nil
}

// WriteHistory writes the steps of one size as a table.
func WriteHistory(w io.Writer, list []Step) error {
	if len(list) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nthe kernel's algorithm, %s elements, and what the kernel's patch sets report for 800,000\n", thousands(list[0].Elements))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  \ttime\tcopy\tAND\trefill\tthe kernel, 800,000")
	for _, s := range list {
		published := ""
		if s.Published > 0 {
			published = duration(s.Published * 1e9)
		}
		fmt.Fprintf(t, "  %s\t%s\t%.0f %%\t%.0f %%\t%.0f %%\t%s\n", s.Name, duration(s.Took), 100*s.Copy, 100*s.And, 100*s.Refill, published)
	}
	return t.Flush()
}
