package ruleset

import (
	"fmt"
	"syscall"
	"testing"
	"time"

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
