package bench

import (
	"fmt"

	"verdict/set"
	"verdict/set/elem"
)

// spare is how many elements beyond those of a set are added and deleted.
const spare = 512

// change measures transactions of one element.
func (r *setRun) change() error {
	r.tell("%s, %d elements: changes", r.shape.Name, r.n)
	if err := r.peerChange(); err != nil {
		return err
	}
	defer prioritize()()
	var added, deleted samples
	const perRound = 16
	for round := range r.Rounds {
		for i := range perRound {
			es := r.shape.entry(r.n + (round*perRound+i)%spare)
			var err error
			added = append(added, timed(func() { err = insert(r.built, es) }))
			if err != nil {
				return fmt.Errorf("add: %w", err)
			}
			deleted = append(deleted, timed(func() { err = remove(r.built, es) }))
			if err != nil {
				return fmt.Errorf("delete: %w", err)
			}
		}
	}
	r.add(AddOne, Time, added, r.peerAdd)
	r.add(DeleteOne, Time, deleted, r.peerDelete)
	return nil
}

func insert(s *set.Set, es []*set.Entry) error {
	for _, e := range es {
		if _, err := s.Insert(e, 0); err != nil {
			s.Abort()
			return err
		}
	}
	s.Commit(0)
	return nil
}

func remove(s *set.Set, es []*set.Entry) error {
	for _, e := range es {
		if _, err := s.Delete(e, 0); err != nil {
			s.Abort()
			return err
		}
	}
	s.Commit(0)
	return nil
}

// peerRounds is how often the peer changes a set: the nft command reads a
// large set of ranges for twenty seconds before it changes it.
func (r *setRun) peerRounds() int {
	if r.shape.ends && r.n > 100_000 {
		return 1
	}
	return min(5, r.Rounds)
}

// peerChange measures the kernel's own time for the same changes.
func (r *setRun) peerChange() error {
	if r.Peer == nil || r.text == nil {
		return nil
	}
	if !r.peerLoaded {
		if err := r.peerReady(); err != nil {
			return err
		}
	}
	for i := range r.peerRounds() {
		element := string(r.shape.series.AppendElement(nil, r.n+i))
		for _, c := range []struct {
			verb string
			to   *samples
		}{{"add", &r.peerAdd}, {"delete", &r.peerDelete}} {
			a, err := r.Peer.change(fmt.Sprintf("%s element inet bench s { %s }", c.verb, element))
			if err != nil {
				return err
			}
			*c.to = append(*c.to, a.KernelNS)
		}
	}
	return nil
}

// expiring is how many elements expire at once.
const expiring = 100_000

// expire measures the commit at which many elements of a large set expire.
func (r *setRun) expire() error {
	if r.n < 2*expiring || len(r.shape.Desc.Fields) == 0 {
		return nil
	}
	r.tell("%s, %d elements: expiry", r.shape.Name, r.n)
	const expires, later = 1_000, 10_000_000_000
	timeouts := *r.shape
	timeouts.Desc.Flags |= elem.Timeout
	var took samples
	for range min(3, r.Rounds) {
		entries := r.shape.entries(r.n)
		for _, e := range entries[:expiring] {
			e.SetTimeout(expires, expires)
		}
		built, err := timeouts.build(entries)
		if err != nil {
			return err
		}
		var gone []*set.Entry
		took = append(took, timedLoad(func() {
			_, err = built.Insert(r.shape.entry(r.n)[0], later)
			gone = built.Commit(later)
		}))
		if err != nil {
			return err
		}
		if len(gone) != expiring {
			return fmt.Errorf("%d elements expired, not %d", len(gone), expiring)
		}
	}
	r.add(ExpireMany, Time, took, nil)
	return nil
}
