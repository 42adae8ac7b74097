package ruleset

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"verdict/catalog"
	"verdict/nft/expr"
)

func jumpRule(table, from, to string) Change {
	return Change{Kind: KindRule, Family: catalog.FamilyIP, Table: table, Name: from, RuleDef: &RuleDef{Exprs: []expr.Expr{
		&expr.Immediate{Dst: expr.RegVerdict, Data: expr.Data{Verdict: &expr.Verdict{Kind: catalog.VerdictJump, Chain: to}}},
	}}}
}

func newChain(table, name string) Change {
	return Change{Kind: KindChain, Family: catalog.FamilyIP, Table: table, Name: name, ChainDef: &ChainDef{}}
}

// chainsWithBase declares a table with a base chain and n regular chains c1, c2, ….
func chainsWithBase(n int) []Change {
	batch := []Change{
		{Kind: KindTable, Family: catalog.FamilyIP, Table: "t", TableDef: &TableDef{}},
		{Kind: KindChain, Family: catalog.FamilyIP, Table: "t", Name: "base", ChainDef: &ChainDef{
			Base: &BaseChain{Type: "filter", Hook: catalog.HookInput},
		}},
	}
	for i := 1; i <= n; i++ {
		batch = append(batch, newChain("t", fmt.Sprint("c", i)))
	}
	return batch
}

// TestDepth: fifteen jumps below a base chain are possible.
func TestDepth(t *testing.T) {
	batch := append(chainsWithBase(16), jumpRule("t", "base", "c1"))
	for i := 1; i < 15; i++ {
		batch = append(batch, jumpRule("t", fmt.Sprint("c", i), fmt.Sprint("c", i+1)))
	}
	rs, errs := Apply(nil, batch, Options{})
	if len(errs) > 0 {
		t.Fatal("fifteen jumps:", errs[0])
	}
	_, errs = Apply(rs, []Change{jumpRule("t", "c15", "c16")}, Options{})
	if len(errs) != 1 || errs[0].Errno != syscall.EMLINK {
		t.Fatal("sixteen jumps:", errs)
	}
}

// TestValidationTime: every chain jumps twice to the next, so that there are
// 2^15 ways to the last one; and the next ruleset is not slower for a failure
// before it (2025-12, 2026-01).
func TestValidationTime(t *testing.T) {
	batch := append(chainsWithBase(15), jumpRule("t", "base", "c1"))
	for range 300 {
		for i := 1; i < 15; i++ {
			batch = append(batch, jumpRule("t", fmt.Sprint("c", i), fmt.Sprint("c", i+1)))
		}
	}
	start := time.Now()
	rs, errs := Apply(nil, batch, Options{})
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	if _, errs = Apply(rs, []Change{jumpRule("t", "c15", "c1")}, Options{}); len(errs) != 1 {
		t.Fatal("a circle was accepted")
	}
	if _, errs = Apply(rs, []Change{jumpRule("t", "base", "c1")}, Options{}); len(errs) > 0 {
		t.Fatal(errs[0])
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

// TestValidationAgainstModel compares the validation, which remembers what it
// has seen, with one that walks every way, on random graphs of jumps.
func TestValidationAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const chains = 6
		batch := chainsWithBase(chains)
		batch = append(batch, Change{Kind: KindChain, Family: catalog.FamilyIP, Table: "t", Name: "nat", ChainDef: &ChainDef{
			Base: &BaseChain{Type: "nat", Hook: catalog.HookPostrouting, Priority: 100},
		}})
		edges := map[string][]string{}
		masq := map[string]bool{}
		names := []string{"base", "nat", "c1", "c2", "c3", "c4", "c5", "c6"}
		for range rapid.IntRange(0, 9).Draw(rt, "jumps") {
			from := rapid.SampledFrom(names).Draw(rt, "from")
			to := rapid.SampledFrom(names[2:]).Draw(rt, "to")
			edges[from] = append(edges[from], to)
			batch = append(batch, jumpRule("t", from, to))
		}
		if rapid.Bool().Draw(rt, "masq") {
			at := rapid.SampledFrom(names[2:]).Draw(rt, "at")
			masq[at] = true
			batch = append(batch, Change{Kind: KindRule, Family: catalog.FamilyIP, Table: "t", Name: at, RuleDef: &RuleDef{Exprs: parseExprs("masq")}})
		}
		var valid func(base, chain string, depth int) bool
		valid = func(base, chain string, depth int) bool {
			if depth == maxDepth || masq[chain] && base != "nat" {
				return false
			}
			for _, to := range edges[chain] {
				if !valid(base, to, depth+1) {
					return false
				}
			}
			return true
		}
		want := valid("base", "base", 0) && valid("nat", "nat", 0)
		if _, errs := Apply(nil, batch, Options{}); (len(errs) == 0) != want {
			rt.Fatalf("valid %v, want %v: %v", len(errs) == 0, want, errs)
		}
	})
}
