package offload

// Change is one rule that a batch adds to all devices, or takes out.
type Change struct {
	Rule   Rule
	Remove bool
}

// Commit makes a batch of changes on several devices. If one refuses, what was
// done is undone in reverse order, and the refusal is returned: the devices
// hold what they held before, in the same order, with the same counters.
//
// Ref: nf_tables_offload.c, nft_flow_rule_offload_commit
func Commit(devices []*Device, changes []Change) error {
	var done []step
	for _, c := range changes {
		for _, d := range devices {
			s, err := d.apply(c)
			if err == nil {
				done = append(done, s)
				continue
			}
			for i := len(done) - 1; i >= 0; i-- {
				done[i].undo()
			}
			return err
		}
	}
	return nil
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
func (d *Device) apply(c Change) (step, error) {
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
