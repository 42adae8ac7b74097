package store

import (
	"fmt"

	"verdict/nft/ruleset"
)

// Transaction is a batch of changes with its result, to be kept.
type Transaction struct {
	// Batch is what Next was made with from the state's ruleset, by
	// ruleset.Apply with these values of Time and Owner. Without any change
	// only the handles that Next has drawn are kept.
	Batch []ruleset.Change
	Next  *ruleset.Ruleset
	Time  int64 // nanoseconds since the epoch
	Owner string
	// Released says that the program ended with the batch, so that its tables
	// were released (ruleset.Release); Next is what remained.
	Released bool
	// Interfaces are those that were made up for the batch.
	Interfaces []Interface
	// PID and Command name the process to those who follow the file.
	PID     uint32
	Command string
}

// empty tells whether there is nothing to keep.
func (t *Transaction) empty(s *State) bool {
	return t.Next == s.Rules
}

// record writes the transaction.
func (t *Transaction) record(b []byte) []byte {
	if len(t.Batch) == 0 && !t.Released {
		h := handlesRecord{NextTableHandle: t.Next.NextTableHandle}
		for _, table := range t.Next.Tables {
			h.Tables = append(h.Tables, tableHandles{table.Family, table.Name, table.NextHandle})
		}
		return appendRecord(b, recordHandles, encode(nil, &h))
	}
	content := encode(nil, &batchRecord{
		Time: t.Time, PID: t.PID, Command: t.Command, Owner: t.Owner, Generation: t.Next.Generation,
		Released: t.Released, Interfaces: t.Interfaces, Changes: t.Batch,
	})
	return appendRecord(b, recordBatch, content)
}

// Follower is told each transaction that is read from the journal: what it
// did, and the interfaces that were made up by then.
type Follower func(t *Transaction, events []ruleset.Event, made []Interface)

// replay applies a record of the journal to a state.
func (s *State) replay(kind recordKind, content []byte, schema *fileSchema, follow Follower) error {
	d := newDecoder(content, schema)
	switch kind {
	case recordBatch:
		var r batchRecord
		if decodeInto(d, &r); d.err != nil {
			return d.err
		}
		return s.replayBatch(&r, follow)
	case recordHandles:
		var r handlesRecord
		if decodeInto(d, &r); d.err != nil {
			return d.err
		}
		s.moveHandles(&r)
		return nil
	}
	return fmt.Errorf("a record of kind %d does not belong into the journal", kind)
}

func (s *State) replayBatch(r *batchRecord, follow Follower) error {
	options := ruleset.Options{Now: r.Time, Owner: r.Owner}
	var events []ruleset.Event
	if follow != nil {
		options.Notify = func(e ruleset.Event) { events = append(events, e) }
	}
	next, errs := ruleset.Apply(s.Rules, r.Changes, options)
	if len(errs) > 0 {
		return fmt.Errorf("a batch that was accepted is refused: %w", errs[0])
	}
	if next.Generation != r.Generation {
		return fmt.Errorf("a batch led to generation %d, now to %d", r.Generation, next.Generation)
	}
	if r.Released {
		next = next.Release(r.Owner)
	}
	s.Rules = next
	s.Interfaces = append(s.Interfaces[:len(s.Interfaces):len(s.Interfaces)], r.Interfaces...)
	s.Sequence++
	if follow != nil {
		follow(&Transaction{
			Batch: r.Changes, Next: next, Time: r.Time, Owner: r.Owner, Released: r.Released, Interfaces: r.Interfaces, PID: r.PID, Command: r.Command,
		}, events, s.Interfaces)
	}
	return nil
}

// moveHandles moves the counters of handles on.
func (s *State) moveHandles(r *handlesRecord) {
	next := &ruleset.Ruleset{Generation: s.Rules.Generation, NextTableHandle: r.NextTableHandle}
	for _, t := range s.Rules.Tables {
		for _, h := range r.Tables {
			if h.Family == t.Family && h.Name == t.Name && h.NextHandle != t.NextHandle {
				again := *t
				again.NextHandle = h.NextHandle
				t = &again
			}
		}
		next.Tables = append(next.Tables, t)
	}
	s.Rules = next
	s.Sequence++
}
