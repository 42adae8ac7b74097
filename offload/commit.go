package offload

// Change is one rule that a batch adds to all devices, or takes out.
type Change struct {
	Rule   Rule
	Remove bool
}

// Commit makes a batch of changes on several devices. If one refuses, what was
// done is undone in reverse order, and the refusal is returned: the devices
// hold what they held before.
//
// Ref: nf_tables_offload.c, nft_flow_rule_offload_commit
func Commit(devices []*Device, changes []Change) error {
	type step struct {
		device *Device
		undo   Change
	}
	var done []step
	for _, c := range changes {
		for _, d := range devices {
			var err error
			undo := Change{Rule: c.Rule, Remove: !c.Remove}
			if c.Remove {
				if e := d.rules[c.Rule.Cookie]; e != nil {
					undo.Rule = e.rule
				}
				err = d.Destroy(c.Rule.Cookie)
			} else {
				if e := d.rules[c.Rule.Cookie]; e != nil {
					undo = Change{Rule: e.rule}
				}
				err = d.Replace(c.Rule)
			}
			if err == nil {
				done = append(done, step{d, undo})
				continue
			}
			for i := len(done) - 1; i >= 0; i-- {
				done[i].device.restore(done[i].undo)
			}
			return err
		}
	}
	return nil
}

// restore undoes one change; the room that it needs was free before.
func (d *Device) restore(c Change) {
	if c.Remove {
		_ = d.Destroy(c.Rule.Cookie) // it was added by this batch
		return
	}
	failures, gone := d.failures, d.gone
	d.failures, d.gone = nil, false
	_ = d.Replace(c.Rule) // it was there before this batch
	d.failures, d.gone = failures, gone
}
