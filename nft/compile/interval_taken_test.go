package compile

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verdict/nft/ruleset"
)

// TestLazyIntervals checks that looking up single intervals of a large set
// leads to the same changes as reading all of them.
func TestLazyIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		flags := rapid.SampledFrom([]string{"", "auto-merge"}).Draw(t, "merge")
		var bases [2]*ruleset.Ruleset
		for i := range bases {
			var err error
			bases[i], _, err = load(nil, "table ip t {\nset s {\ntype inet_service\nflags interval\n"+flags+"\n}\n}\n", Options{})
			if err != nil {
				t.Fatal(err)
			}
		}
		for step := range 12 {
			verb := rapid.SampledFrom([]string{"add", "add", "delete"}).Draw(t, "verb")
			var elements []string
			for range rapid.IntRange(1, 3).Draw(t, "count") {
				from := rapid.IntRange(0, 60).Draw(t, "from")
				if rapid.IntRange(0, 9).Draw(t, "high") == 0 {
					from = 65535 - from
				}
				to := min(65535, from+rapid.SampledFrom([]int{0, 0, 0, 1, 5}).Draw(t, "width"))
				elements = append(elements, fmt.Sprintf("%d-%d", from, to))
			}
			text := fmt.Sprintf("%s element ip t s { %s }\n", verb, strings.Join(elements, ", "))
			for i, eager := range []int{eagerIntervals, 0} {
				c := newCompiler(bases[i], Options{})
				c.eager = eager
				c.items(parsed(t, text).Items)
				if c.diags.HasErrors() {
					continue
				}
				if next, refused := ruleset.Apply(bases[i], c.changes, ruleset.Options{}); len(refused) == 0 {
					bases[i] = next
				}
			}
			a, b := contents(bases[0]), contents(bases[1])
			if a != b {
				t.Fatalf("step %d, %s: read as a whole %s, looked up %s", step, text, a, b)
			}
		}
	})
}

// contents lists the elements of the set s.
func contents(rs *ruleset.Ruleset) string {
	var b strings.Builder
	for e := range rs.Table(2, "t").Set("s").Elements.All() {
		fmt.Fprintf(&b, "%x/%d ", e.Key, e.Flags)
	}
	return b.String()
}
