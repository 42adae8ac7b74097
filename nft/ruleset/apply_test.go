package ruleset

import (
	"fmt"
	"testing"

	"verdict/catalog"
)

func TestBulkRules(t *testing.T) {
	batch := []Change{{Kind: KindTable, Family: catalog.FamilyIP, Table: "t", TableDef: &TableDef{}}}
	for i := range 100 {
		batch = append(batch, Change{Kind: KindChain, Family: catalog.FamilyIP, Table: "t", Name: fmt.Sprint("c", i), ChainDef: &ChainDef{}})
	}
	for i := range 1000 {
		batch = append(batch, Change{Op: OpInsert, Kind: KindRule, Family: catalog.FamilyIP, Table: "t", Name: fmt.Sprint("c", i%100), RuleDef: &RuleDef{}})
	}
	rs, errs := Apply(nil, batch, Options{})
	if errs != nil {
		t.Fatal(errs[0])
	}
	c := rs.Table(catalog.FamilyIP, "t").Chain("c7")
	if c == nil || len(c.Rules) != 10 || c.Rules[0].Handle != 101+907 || c.Rules[9].Handle != 108 {
		t.Fatalf("chain c7: %+v", c)
	}
}
