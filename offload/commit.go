package offload

// Change is one rule that a batch adds to devices, or takes out.
type Change struct {
	Devices []*Device
	Rule    Rule
	Remove  bool
	// Err, if set, is why the batch fails when it is this change's turn.
	Err error
}

// Commit makes a batch of changes. If one fails, what was done is undone in
// reverse order: the devices hold what they held before, in the same order,
// with the same counters. It returns the change that failed and its error.
//
// Ref: nf_tables_offload.c, nft_flow_rule_offload_commit
func Commit(changes []Change) (failed int, err error) {
	var done []step
	undo := func() {
		for i := len(done) - 1; i >= 0; i-- {
			done[i].undo()
		}
	}
	for i := range changes {
		c := &changes[i]
		if c.Err != nil {
			undo()
			return i, c.Err
		}
		for _, d := range c.Devices {
			s, err := d.apply(c)
			if err != nil {
				undo()
				return i, err
			}
			done = append(done, s)
		}
	}
	return 0, nil
}

// step is a change that was made, with what undoes it: the entry that was
// removed, the rule that an entry had, or, with neither, the rule's addition.
type step struct {
	device  *Device
	cookie  uint64
	removed *entry
	changed bool
	before  Rule
}

// apply makes one change.
func (d *Device) apply(c *Change) (step, error) {
	s := step{device: d, cookie: c.Rule.Cookie}
	old := d.rules[c.Rule.Cookie]
	if c.Remove {
		if err := d.reachable(); err != nil {
			return s, err
		}
		if old == nil {
			return s, d.missing()
		}
		d.unlink(old)
		s.removed = old
		return s, nil
	}
	if old != nil {
		s.changed, s.before = true, old.rule
	}
	return s, d.Replace(c.Rule)
}

// undo takes a step back. The device is asked nothing: it held the same before.
func (s *step) undo() {
	d := s.device
	switch {
	case s.removed != nil:
		d.relink(s.removed)
	case s.changed:
		d.rules[s.cookie].rule = s.before
	default:
		d.unlink(d.rules[s.cookie])
	}
}
