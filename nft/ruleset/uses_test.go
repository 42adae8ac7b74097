package ruleset

import (
	"regexp"

	"verdict/nft/expr"
)

// countUses counts what the rules and elements of a table refer to, by name.
func countUses(t *Table) (chains, sets, objects map[string]int) {
	chains, sets, objects = map[string]int{}, map[string]int{}, map[string]int{}
	for _, c := range t.Chains {
		for _, r := range c.Rules {
			for _, e := range r.Exprs {
				switch x := e.(type) {
				case *expr.Immediate:
					if x.Data.Verdict != nil && x.Data.Verdict.Chain != "" {
						chains[x.Data.Verdict.Chain]++
					}
				case *expr.Lookup:
					sets[x.Set]++
				case *expr.Objref:
					if x.IsMap {
						sets[x.Set]++
					} else {
						objects[x.Name]++
					}
				}
			}
		}
	}
	for _, s := range t.Sets {
		for el := range s.Elements.All() {
			if el.Data != nil && el.Data.Verdict != nil && el.Data.Verdict.Chain != "" {
				chains[el.Data.Verdict.Chain]++
			}
			if el.Object != "" {
				objects[el.Object]++
			}
		}
	}
	return chains, sets, objects
}

var handleText = regexp.MustCompile(`#[0-9]+`)

// handleless leaves out the handles of a dump.
func handleless(dump string) string { return handleText.ReplaceAllString(dump, "#") }
