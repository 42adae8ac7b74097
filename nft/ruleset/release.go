package ruleset

// Release gives the ruleset after the program that owns tables has ended: its
// tables go, and those with the flag persist stay, without owner. Without such
// tables it is the same snapshot.
//
// Ref: nf_tables_api.c, nft_rcv_nl_event, __nft_release_table
func (rs *Ruleset) Release(owner string) *Ruleset {
	owned := func(t *Table) bool { return t.Flags&TableOwner != 0 && t.Owner == owner }
	next := &Ruleset{Generation: rs.Generation, NextTableHandle: rs.NextTableHandle}
	changed := false
	for _, t := range rs.Tables {
		switch {
		case !owned(t):
			next.Tables = append(next.Tables, t)
			continue
		case t.Flags&TablePersist != 0:
			again := *t
			again.Flags &^= TableOwner
			again.Owner = ""
			next.Tables = append(next.Tables, &again)
		}
		changed = true
	}
	if !changed {
		return rs
	}
	return next
}
