package ruleset

import "syscall"

// Disown gives the snapshot after a program has ended: tables that it owned
// are gone, those with the flag persist are without an owner, for the next
// program to claim. Without such tables it is rs itself.
//
// Ref: nf_tables_api.c, nft_rcv_nl_event
func Disown(rs *Ruleset, owner string) *Ruleset {
	next := &Ruleset{Generation: rs.Generation + 1, NextTableHandle: rs.NextTableHandle}
	changed := false
	for _, t := range rs.Tables {
		if t.Flags&TableOwner == 0 || t.Owner != owner {
			next.Tables = append(next.Tables, t)
			continue
		}
		changed = true
		if t.Flags&TablePersist != 0 {
			orphan := *t
			orphan.Flags &^= TableOwner
			orphan.Owner = ""
			next.Tables = append(next.Tables, &orphan)
		}
	}
	if !changed {
		return rs
	}
	return next
}

// owns tells whether the program may change the table.
func (tx *transaction) owns(t *Table) bool {
	return t.Flags&TableOwner == 0 || t.Owner == "" || t.Owner == tx.opts.Owner
}

// checkTableUpdate tells why a table's flags cannot become others.
//
// Ref: nf_tables_api.c, nf_tables_updtable
func checkTableUpdate(t *Table, flags uint32) *refusal {
	const known = TableDormant | TableOwner | TablePersist
	orphan := t.Flags&(TableOwner|TablePersist) == TablePersist
	switch {
	case flags&^known != 0:
		return refuse(syscall.EOPNOTSUPP, "table flags %#x", flags&^known)
	case t.Flags&TableOwner != 0 && flags&TableOwner == 0:
		return refuse(syscall.EOPNOTSUPP, "a table cannot lose its owner")
	case flags&TableOwner != 0 && !orphan:
		return refuse(syscall.EOPNOTSUPP, "only a table that persists without owner can be claimed")
	case (flags^t.Flags)&TablePersist != 0:
		return refuse(syscall.EOPNOTSUPP, "the flag persist of a table cannot change")
	}
	return nil
}
