package ruleset

import (
	"testing"

	"verdict/catalog"
	"verdict/nft/expr"
)

// TestReplayNamesAllInvalidTables: of two tables of a batch with circles, the
// rules of both are refused (observed on Linux 6.18).
func TestReplayNamesAllInvalidTables(t *testing.T) {
	jump := func(table, from, to string) Change {
		return Change{Kind: KindRule, Family: catalog.FamilyIP, Table: table, Name: from, RuleDef: &RuleDef{Exprs: []expr.Expr{
			&expr.Immediate{Data: expr.Data{Verdict: &expr.Verdict{Kind: catalog.VerdictJump, Chain: to}}},
		}}}
	}
	var batch []Change
	for _, table := range []string{"a", "b", "sound"} {
		batch = append(batch,
			Change{Kind: KindTable, Family: catalog.FamilyIP, Table: table},
			Change{Kind: KindChain, Family: catalog.FamilyIP, Table: table, Name: "c1", ChainDef: &ChainDef{}},
			Change{Kind: KindChain, Family: catalog.FamilyIP, Table: table, Name: "c2", ChainDef: &ChainDef{}},
			Change{Kind: KindChain, Family: catalog.FamilyIP, Table: table, Name: "base",
				ChainDef: &ChainDef{Base: &BaseChain{Type: "filter", Hook: catalog.HookInput, Policy: catalog.VerdictAccept}}},
			jump(table, "base", "c1"), jump(table, "c1", "c2"))
		if table != "sound" {
			batch = append(batch, jump(table, "c2", "c1"))
		}
	}
	_, errs := Apply(nil, batch, Options{})
	var at []int
	for _, e := range errs {
		at = append(at, e.Index)
	}
	if len(at) != 2 || at[0] != 6 || at[1] != 13 {
		t.Errorf("refused are the changes %v, not 6 and 13", at)
	}
}
