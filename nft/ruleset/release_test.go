package ruleset

import (
	"testing"

	"verdict/catalog"
)

func TestRelease(t *testing.T) {
	add := func(name string, flags uint32) Change {
		return Change{Op: OpAdd, Kind: KindTable, Family: catalog.FamilyIP, Table: name, TableDef: &TableDef{Flags: flags}}
	}
	rs, errs := Apply(nil, []Change{add("a", 0), add("b", TableOwner), add("c", TableOwner|TablePersist)}, Options{Owner: "me"})
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	if rs.Release("other") != rs {
		t.Error("another program released the tables")
	}
	next := rs.Release("me")
	if len(next.Tables) != 2 || next.Tables[0] != rs.Tables[0] || next.Tables[1].Name != "c" || next.Tables[1].Flags != TablePersist || next.Tables[1].Owner != "" {
		t.Errorf("%v", next.Tables)
	}
	if rs.Tables[2].Owner != "me" {
		t.Error("the old snapshot changed")
	}
	if _, errs := Apply(next, []Change{add("c", TableOwner|TablePersist)}, Options{Owner: "other"}); len(errs) > 0 {
		t.Errorf("an orphan cannot be claimed: %v", errs[0])
	}
}
