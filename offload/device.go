package offload

import (
	"errors"
	"fmt"
	"syscall"
)

// Device is a piece of hardware with rules in it. The zero Device is not
// usable; NewDevice makes one.
type Device struct {
	Model Model
	// HWPackets is what each question for statistics adds to a rule's
	// counters, a hundred bytes a packet, besides what Process counted.
	HWPackets uint32
	// Share, if set, is a count of rules that several devices have in
	// common, bounded by Model.MaxRules.
	Share *int

	rules    map[uint64]*entry
	order    entryList
	chains   map[uint32]int
	tables   []int
	failures []failure
	calls    int
	gone     bool
}

type entry struct {
	rule       Rule
	table      int
	stats      Stats
	prev, next *entry
}

// entryList is the entries in the order in which they came.
type entryList struct{ first, last *entry }

func (l *entryList) add(e *entry) {
	if e.prev = l.last; e.prev != nil {
		e.prev.next = e
	} else {
		l.first = e
	}
	l.last = e
}

func (l *entryList) remove(e *entry) {
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		l.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		l.last = e.prev
	}
}

// putBack reverses remove, the entries beside e being those of then.
func (l *entryList) putBack(e *entry) {
	if e.prev != nil {
		e.prev.next = e
	} else {
		l.first = e
	}
	if e.next != nil {
		e.next.prev = e
	} else {
		l.last = e
	}
}

type failure struct {
	call  int
	errno syscall.Errno
	text  string
}

// NewDevice makes a device without rules.
func NewDevice(m Model) *Device {
	return &Device{Model: m, rules: map[uint64]*entry{}, chains: map[uint32]int{}, tables: make([]int, len(m.Tables))}
}

// FailAt makes the nth call from now that adds a rule fail, counting from 1.
func (d *Device) FailAt(n int, errno syscall.Errno, message string) {
	d.failures = append(d.failures, failure{call: d.calls + n, errno: errno, text: message})
}

// Disappear takes the device away: every further call fails with ENODEV.
func (d *Device) Disappear() { d.gone = true }

// Len is the number of rules in the device.
func (d *Device) Len() int { return len(d.rules) }

// Has reports whether a rule is in the device.
func (d *Device) Has(cookie uint64) bool { return d.rules[cookie] != nil }

// Cookies lists the rules in the order in which they came.
func (d *Device) Cookies() []uint64 {
	l := make([]uint64, 0, len(d.rules))
	for e := d.order.first; e != nil; e = e.next {
		l = append(l, e.rule.Cookie)
	}
	return l
}

// Clear forgets all rules.
func (d *Device) Clear() {
	if d.Share != nil {
		*d.Share -= len(d.rules)
	}
	d.rules, d.order, d.chains = map[uint64]*entry{}, entryList{}, map[uint32]int{}
	d.tables = make([]int, len(d.Model.Tables))
}

// Replace adds a rule, or changes the one with the same cookie. The error is
// a *Refusal; then nothing changed.
func (d *Device) Replace(r Rule) error {
	d.calls++
	if err := d.reachable(); err != nil {
		return err
	}
	for _, f := range d.failures {
		if f.call == d.calls {
			return &Refusal{Errno: f.errno, Message: f.text, Driver: d.Model.Driver, Reason: "a failure was asked for at this call"}
		}
	}
	if err := d.Check(&r); err != nil {
		return err
	}
	if old := d.rules[r.Cookie]; old != nil {
		old.rule = r
		return nil
	}
	table, err := d.place(&r)
	if err != nil {
		return err
	}
	e := &entry{rule: r, table: table}
	d.order.add(e)
	d.count(e, 1)
	return nil
}

// reachable is the error of a device that is gone.
func (d *Device) reachable() error {
	if d.gone {
		return &Refusal{Errno: syscall.ENODEV, Driver: d.Model.Driver, Reason: "the device is gone"}
	}
	return nil
}

func (d *Device) missing() error {
	return &Refusal{Errno: syscall.ENOENT, Driver: d.Model.Driver, Reason: "no such rule"}
}

// count enters a rule into what is found by cookie and counted, or takes it
// out.
func (d *Device) count(e *entry, by int) {
	if by > 0 {
		d.rules[e.rule.Cookie] = e
	} else {
		delete(d.rules, e.rule.Cookie)
	}
	if d.chains[e.rule.Chain] += by; d.chains[e.rule.Chain] == 0 {
		delete(d.chains, e.rule.Chain)
	}
	if e.table >= 0 {
		d.tables[e.table] += by
	}
	if d.Share != nil {
		*d.Share += by
	}
}

func (d *Device) unlink(e *entry) {
	d.order.remove(e)
	d.count(e, -1)
}

// relink reverses unlink, later changes having been undone.
func (d *Device) relink(e *entry) {
	d.order.putBack(e)
	d.count(e, 1)
}

// Destroy takes a rule out. The error is ENOENT where it is not there.
func (d *Device) Destroy(cookie uint64) error {
	e := d.rules[cookie]
	if e == nil {
		return d.missing()
	}
	d.unlink(e)
	return nil
}

// Stats takes the counters of a rule since the last question, and whether the
// device has it and counts at all.
func (d *Device) Stats(cookie uint64) (Stats, bool) {
	e := d.rules[cookie]
	if e == nil || !d.Model.Counts {
		return Stats{}, false
	}
	s := e.stats
	s.Packets += uint64(d.HWPackets)
	s.Bytes += uint64(d.HWPackets) * 100
	e.stats.Packets, e.stats.Bytes, e.stats.Drops = 0, 0, 0
	return s, true
}

// Check tells whether the device can do a rule, regardless of how full it is.
// The error is a *Refusal whose Reason names what does not fit.
func (d *Device) Check(r *Rule) error {
	m := &d.Model
	no := func(message, reason string, args ...any) error {
		return &Refusal{Errno: syscall.EOPNOTSUPP, Message: message, Driver: m.Driver, Reason: fmt.Sprintf(reason, args...)}
	}
	switch {
	case !m.takesKind(r.Kind):
		return &Refusal{Errno: syscall.EOPNOTSUPP, Driver: m.Driver, Reason: fmt.Sprintf("the device takes no %s filters", r.Kind)}
	case r.Chain != 0 && m.MaxChain == 0:
		return no("only chain 0", "the device has chain 0 only")
	case r.Chain > m.MaxChain:
		return no("chain index exceeds maximum", "chain %d is beyond the device's last chain %d", r.Chain, m.MaxChain)
	case m.MaxChains > 0 && d.chains[r.Chain] == 0 && len(d.chains) >= m.MaxChains:
		return no("too many chains", "the device has only %d chains", m.MaxChains)
	case r.Priority < m.MinPriority || m.MaxPriority != 0 && r.Priority > m.MaxPriority:
		return no("unsupported priority", "priority %d is outside %d to %d", r.Priority, m.MinPriority, m.MaxPriority)
	}
	if extra := r.Match.Used &^ m.Keys; r.Match.Mask != nil && extra != 0 {
		return no("unsupported key", "the device cannot match on %s", extra)
	}
	if err := m.checkMasks(r); err != "" {
		return no("unsupported mask", "%s", err)
	}
	for _, a := range r.Actions {
		if !m.Actions.Has(a.ID) {
			return no("unsupported action", "the device cannot do %s", a)
		}
		if a.ID == ActGoto && a.Chain > m.MaxChain && !m.AnyGoto {
			return no("goto chain is not supported", "chain %d is beyond the device's last chain %d", a.Chain, m.MaxChain)
		}
	}
	return nil
}

// checkMasks says which mask the hardware cannot do.
func (m *Model) checkMasks(r *Rule) string {
	if r.Match.Mask == nil || len(m.Masks) == 0 {
		return ""
	}
	for _, f := range fields {
		if !r.Match.Mask.IsSet(f) {
			continue
		}
		id := f.ID
		if id == KeyIPv6 && r.Match.Used.Has(KeyIPv4) {
			id = KeyIPv4
		}
		b := r.Match.Mask.Get(f)
		if id == KeyIPv4 {
			b = b[:4]
		}
		switch rule := m.Masks[id.String()]; {
		case rule == MaskExact && leading(b) != 8*len(b) && f != FieldVLANID && f != FieldVLANPrio,
			rule == MaskPrefix && leading(b) < 0:
			return fmt.Sprintf("the mask of %s is not %s", f.Name, rule)
		}
	}
	return ""
}

// leading counts the bits of a prefix mask; -1 where the mask is none.
func leading(mask []byte) int {
	n := 0
	for i, b := range mask {
		for bit := 7; bit >= 0; bit-- {
			set := b>>bit&1 != 0
			if set && n < i*8+7-bit {
				return -1
			}
			if set {
				n++
			}
		}
	}
	return n
}

// place finds the table for a new rule, -1 where the model has none.
func (d *Device) place(r *Rule) (int, error) {
	full := &Refusal{Errno: syscall.ENOSPC, Message: "table full", Driver: d.Model.Driver}
	total := len(d.rules)
	if d.Share != nil {
		total = *d.Share
	}
	if total >= d.Model.MaxRules {
		full.Reason = fmt.Sprintf("all %d places are taken", d.Model.MaxRules)
		return 0, full
	}
	if len(d.Model.Tables) == 0 {
		return -1, nil
	}
	full.Reason = "no table has this key shape"
	for i, t := range d.Model.Tables {
		if r.Match.Mask != nil && r.Match.Used&^t.keySet != 0 || r.Chain != 0 && !t.Chained {
			continue
		}
		if d.tables[i] < t.Rules {
			return i, nil
		}
		full.Reason = fmt.Sprintf("the table for this key shape has %d places, all taken", t.Rules)
	}
	return 0, full
}

// ErrnoOf gives the errno of a refusal, EINVAL for other errors.
func ErrnoOf(err error) syscall.Errno {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Errno
	}
	return syscall.EINVAL
}
