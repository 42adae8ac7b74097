package conntrack

import (
	"errors"
	"slices"
	"time"

	"verdict/catalog"
)

// Expectation announces a connection that belongs to another one. Its source
// may be open: any address, any port.
type Expectation struct {
	Tuple      Tuple
	AnySrc     bool // Tuple.Src does not matter
	AnySrcPort bool // Tuple.SrcPort does not matter
	Class      uint8
	Permanent  bool   // it is not consumed by its first connection
	Inactive   bool   // it never matches
	Helper     Helper // that the expected connection gets; nil for none
	Master     *Conn
	// FollowMaster gives the expected connection translations that fit its
	// master's: it was announced by a packet of a direction, whose sender
	// really listens at a port.
	FollowMaster bool
	AnnouncedBy  Direction
	RealPort     uint16

	expires int64
	zone    uint16
}

// ExpectPolicy bounds the expectations of one class.
type ExpectPolicy struct {
	Max     int // per master
	Timeout time.Duration
}

// noHelperPolicy is that of masters whose expectations come from rules.
var noHelperPolicy = ExpectPolicy{Max: 255}

// Errors of Table.Expect.
// Ref: nf_conntrack_expect.c, __nf_ct_expect_check.
var (
	ErrExpectExists = errors.New("an expectation of another class has this tuple")
	ErrExpectBusy   = errors.New("an expectation overlaps this one")
	ErrExpectFull   = errors.New("the host has too many expectations")
	ErrExpectMaster = errors.New("the connection cannot be the master of expectations")
)

// expectKey is the part of an expectation that is never open.
type expectKey struct {
	dst      [16]byte
	dstPort  uint16
	family   catalog.Family
	protocol uint8
}

func expectKeyOf(t *Tuple) expectKey { return expectKey{t.Dst, t.DstPort, t.Family, t.Protocol} }

// expectations holds all of a table, the newest first among those of one key.
type expectations struct {
	byKey map[expectKey][]*Expectation
	count int
}

// Expect enters an expectation. One that is there already, of the same master
// and class, is refreshed. A master that has as many of the class as its helper
// allows loses the oldest. The master must have been given a helper or, for
// expectations of rules, MayExpect. It costs a visit to the expectations of the
// destination and of the master.
// Ref: nf_conntrack_expect.c, nf_ct_expect_related_report.
func (t *Table) Expect(e *Expectation, timeout time.Duration, now int64) error {
	m := e.Master
	if m == nil || m.Status&StatusHelper == 0 || m.Status&StatusDying != 0 {
		return ErrExpectMaster
	}
	e.zone = m.Zone.ID
	x := &t.expected
	for _, old := range slices.Clone(x.byKey[expectKeyOf(&e.Tuple)]) {
		switch {
		case now >= old.expires:
			x.remove(old)
		case old.zone != e.zone:
		case old.sameAs(e):
			if old.Class != e.Class {
				return ErrExpectExists
			}
			x.remove(old)
		case old.overlaps(e):
			return ErrExpectBusy
		}
	}
	policy := noHelperPolicy
	if m.rare != nil && m.rare.helper != nil {
		policy = m.rare.helper.Policy()
	}
	t.evict(m, e.Class, policy.Max, now)
	if x.count >= t.config.MaxExpect {
		return ErrExpectFull
	}
	e.expires = now + int64(policy.Timeout+timeout)
	x.add(e)
	return nil
}

// MayExpect prepares a connection to be the master of expectations that rules
// make. Ref: nft_ct.c, nft_ct_expect_obj_eval.
func (t *Table) MayExpect(c *Conn) { c.Status |= StatusHelper }

// Expectations is the number of a master's expectations that have not expired.
func (c *Conn) Expectations(now int64) int {
	n := 0
	if c.rare != nil {
		for _, e := range c.rare.expectations {
			if now < e.expires {
				n++
			}
		}
	}
	return n
}

// sameAs reports whether two expectations of one master have the same tuple and
// the same open parts.
func (e *Expectation) sameAs(o *Expectation) bool {
	return e.Master == o.Master && e.Tuple == o.Tuple && e.AnySrc == o.AnySrc && e.AnySrcPort == o.AnySrcPort
}

// overlaps reports whether some connection would match both.
func (e *Expectation) overlaps(o *Expectation) bool {
	return expectKeyOf(&e.Tuple) == expectKeyOf(&o.Tuple) &&
		(e.AnySrc || o.AnySrc || e.Tuple.Src == o.Tuple.Src) &&
		(e.AnySrcPort || o.AnySrcPort || e.Tuple.SrcPort == o.Tuple.SrcPort)
}

func (e *Expectation) matches(t *Tuple) bool {
	return (e.AnySrc || e.Tuple.Src == t.Src) && (e.AnySrcPort || e.Tuple.SrcPort == t.SrcPort)
}

// evict makes room within a master's class: expired ones, else the oldest.
func (t *Table) evict(m *Conn, class uint8, most int, now int64) {
	if m.rare == nil {
		return
	}
	n := 0
	var oldest *Expectation
	for _, e := range slices.Clone(m.rare.expectations) {
		switch {
		case now >= e.expires:
			t.expected.remove(e)
		case e.Class == class:
			if oldest == nil {
				oldest = e
			}
			n++
		}
	}
	if n >= most && oldest != nil {
		t.expected.remove(oldest)
	}
}

func (x *expectations) add(e *Expectation) {
	if x.byKey == nil {
		x.byKey = map[expectKey][]*Expectation{}
	}
	key := expectKeyOf(&e.Tuple)
	x.byKey[key] = slices.Insert(x.byKey[key], 0, e)
	r := e.Master.rarely()
	r.expectations = append(r.expectations, e)
	x.count++
}

func (x *expectations) remove(e *Expectation) {
	key := expectKeyOf(&e.Tuple)
	list := x.byKey[key]
	i := slices.Index(list, e)
	if i < 0 {
		return
	}
	if list = slices.Delete(list, i, i+1); len(list) == 0 {
		delete(x.byKey, key)
	} else {
		x.byKey[key] = list
	}
	x.count--
	r := e.Master.rare
	if i = slices.Index(r.expectations, e); i >= 0 {
		r.expectations = slices.Delete(r.expectations, i, i+1)
	}
}

// forget removes a master's expectations.
func (x *expectations) forget(m *Conn) {
	for _, e := range slices.Clone(m.rare.expectations) {
		x.remove(e)
	}
}

// find returns the expectation of a new connection: the first that fits
// decides, even if its master cannot take the connection any more.
// Ref: nf_conntrack_expect.c, nf_ct_find_expectation.
func (x *expectations) find(t *Tuple, zone uint16, now int64) *Expectation {
	for _, e := range x.byKey[expectKeyOf(t)] {
		if now >= e.expires || e.Inactive || e.zone != zone || !e.matches(t) {
			continue
		}
		if e.Master.Status&(StatusConfirmed|StatusDying) != StatusConfirmed || now >= e.Master.expires {
			return nil
		}
		return e
	}
	return nil
}

// expect makes a new connection the child of the one that announced it.
// Ref: nf_conntrack_core.c, init_conntrack.
func (t *Table) expect(c *Conn, now int64) {
	e := t.expected.find(&c.Tuples[Original], c.Zone.ID, now)
	if e == nil {
		return
	}
	c.Status |= StatusExpected
	c.Master = e.Master
	c.Master.refs++
	c.Mark, c.Secmark = e.Master.Mark, e.Master.Secmark
	if e.Helper != nil {
		c.setHelper(e.Helper)
	}
	if !e.Permanent {
		t.expected.remove(e)
	}
	if e.FollowMaster {
		t.bindLikeMaster(c, e, now)
	}
}
