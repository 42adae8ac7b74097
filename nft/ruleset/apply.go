package ruleset

import (
	"syscall"

	"verdict/nft/expr"
)

// Options of Apply.
type Options struct {
	// Now is the time of the transaction in nanoseconds, on the clock of the
	// packets. Elements with timeouts count from it, and it stands still
	// during the transaction.
	Now int64
	// Owner names the program that applies the batch. Tables with the owner
	// flag can be changed only by the program that made them.
	Owner string
	// CheckOnly makes all checks but keeps the old contents.
	CheckOnly bool
	// Notify is told what the batch did, in order, once it is committed.
	Notify func(Event)
	// Hardware tells which interfaces offload. Rules of chains with the
	// offload flag are put into their devices when the batch is committed, and
	// the batch fails as a whole where a device refuses one. Nil: nothing is
	// known, and what the kernel can translate counts as taken.
	Hardware Hardware
}

// Apply applies a batch to a snapshot and returns the next one, or the errors
// of all changes that were refused, in the order of the batch. It is all or
// nothing: with errors (and with CheckOnly) the returned snapshot has the
// contents of old. Only its handle counters may have moved on, as in the
// kernel, where a failed batch has drawn handles too; callers that do not mind
// keep old instead. Old itself never changes. A nil old is an empty ruleset.
//
// Each change sees those before it. Messages, errnos and the order of checks
// are the kernel's.
//
// Cost: linear in the batch, plus a copy of each list (of tables, chains,
// rules) that changes. Snapshots may be read while Apply runs. Calls of Apply
// that start from the same family of snapshots must follow one another; a
// batch on a snapshot that is not the newest copies the sets that it changes.
//
// Ref: nf_tables_api.c, nf_tables_commit, nf_tables_abort, nf_tables_new*, nf_tables_del*
func Apply(old *Ruleset, batch []Change, opts Options) (*Ruleset, []*ChangeError) {
	if old == nil {
		old = &Ruleset{}
	}
	tx := newTransaction(old, opts)
	errs := tx.run(batch)
	if len(errs) == 0 {
		if invalid := tx.invalid(); len(invalid) > 0 {
			rs := tx.abort()
			return rs, replayAll(old, batch, opts, invalid)
		}
	}
	if len(errs) > 0 || opts.CheckOnly {
		return tx.abort(), errs
	}
	if err := tx.commitHardware(batch); err != nil {
		return tx.abort(), []*ChangeError{err}
	}
	return tx.commit(), nil
}

// run executes every change, also after errors, as the kernel does.
func (tx *transaction) run(batch []Change) []*ChangeError {
	var errs []*ChangeError
	for i := range batch {
		tx.index = i
		if err := tx.change(&batch[i]); err != nil {
			errs = append(errs, changeError(i, &batch[i], refused(err)))
		}
	}
	if len(errs) > 0 {
		return errs
	}
	for _, u := range tx.unbound {
		if !u.isBound() {
			r := refuse(syscall.EINVAL, "%s is not used by any rule", u.what)
			errs = append(errs, changeError(u.index, &batch[u.index], r))
		}
	}
	return errs
}

func (tx *transaction) change(c *Change) error {
	switch c.Kind {
	case KindRuleset:
		return tx.flushRuleset(c)
	case KindTable:
		return tx.changeTable(c)
	case KindChain:
		return tx.changeChain(c)
	case KindRule:
		return tx.changeRule(c)
	case KindSet:
		return tx.changeSet(c)
	case KindElements:
		return tx.changeElements(c)
	case KindObject:
		return tx.changeObject(c)
	case KindFlowtable:
		return tx.changeFlowtable(c)
	}
	return refuse(syscall.EINVAL, "change of unknown kind %d", c.Kind)
}

// transaction is a batch on its way. Everything it changes it copies first.
type transaction struct {
	old  *Ruleset
	opts Options

	tables    []*Table // nil where deleted
	shared    bool     // tables belong to old
	next      uint64   // handle of the next table
	index     int      // of the change at hand
	changed   bool
	checker   expr.Checker
	newSets   map[uint32]setRef // by Change.SetID
	newChains map[string]chainRef
	unbound   []unbound
	sets      []*setEdit // sets with a transaction of their own
	pending   []timeUpdate
	events    []Event
	hardware  []hardwareStep
}

// setRef and chainRef name items that the batch made, for references by the
// number or placeholder they have within the batch.
type setRef struct {
	table *Table
	name  string
}

type chainRef struct {
	table *Table
	name  string
}

// unbound is an anonymous set or chain that a rule must still refer to when
// the batch ends.
type unbound struct {
	index   int
	what    string
	isBound func() bool
}

func newTransaction(old *Ruleset, opts Options) *transaction {
	return &transaction{old: old, opts: opts, tables: old.Tables, shared: true, next: old.NextTableHandle}
}

// commit publishes the work as a new snapshot.
func (tx *transaction) commit() *Ruleset {
	if !tx.changed {
		return tx.abort()
	}
	for _, u := range tx.pending {
		if !u.set.gone && !tx.gone(u.set.table) {
			u.set.store.Retime(u.entry, u.timeout, u.expires)
		}
	}
	for _, e := range tx.sets {
		tx.commitSet(e)
	}
	next := &Ruleset{NextTableHandle: tx.next, Generation: tx.old.Generation + 1}
	if next.Generation == 0 { // the kernel skips zero
		next.Generation = 1
	}
	for _, t := range tx.tables {
		if t == nil {
			continue
		}
		t.seal()
		next.Tables = append(next.Tables, t)
	}
	tx.notify()
	return next
}

// abort drops the work. What remains are the handles that were drawn.
func (tx *transaction) abort() *Ruleset {
	for _, e := range tx.sets {
		e.abort()
	}
	moved := tx.next != tx.old.NextTableHandle
	for _, t := range tx.tables {
		moved = moved || t != nil && t.edit != nil && t.edit.base != nil && t.NextHandle != t.edit.base.NextHandle
	}
	if !moved {
		return tx.old
	}
	next := &Ruleset{Generation: tx.old.Generation, NextTableHandle: tx.next}
	next.Tables = append(next.Tables, tx.old.Tables...)
	for _, t := range tx.tables {
		if t == nil || t.edit == nil || t.edit.base == nil || t.NextHandle == t.edit.base.NextHandle {
			continue
		}
		for i, o := range next.Tables {
			if o == t.edit.base {
				again := *o
				again.NextHandle = t.NextHandle
				next.Tables[i] = &again
			}
		}
	}
	return next
}
