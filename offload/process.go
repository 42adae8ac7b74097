package offload

import "sort"

// Fate is what hardware did with a packet.
type Fate uint8

// The fates.
const (
	FateMiss    Fate = iota // no rule decided: software gets the packet
	FateAccept              // a rule accepts: software gets the packet
	FateDrop                // dropped
	FateForward             // sent on by hardware
	FateTrap                // handed to software by a rule
)

// String names the fate.
func (f Fate) String() string {
	return [...]string{"miss", "accept", "drop", "forward", "trap"}[f]
}

// Verdict is the result of a packet's way through hardware.
type Verdict struct {
	Fate  Fate
	Chain uint32   // the chain that had no match
	Rules []Rule   // that matched, in order
	To    []Action // redirections and copies
	Mark  uint32
}

// MaxHops bounds how often a packet changes the chain.
const MaxHops = 16

// Process runs a packet through the rules: in each chain the matching rule of
// the lowest priority counts, the first of those that are equal. protocol is
// the outer EtherType. The packet is not changed; who wants the changes that
// rules make to be seen by later chains takes the way with Match, chain by
// chain.
func (d *Device) Process(packet *Key, protocol uint16, length int, now int64) Verdict {
	var v Verdict
	for range MaxHops {
		r, ok := d.Match(packet, protocol, v.Chain, length, now)
		if !ok {
			return v
		}
		v.Rules = append(v.Rules, r)
		next, done := v.apply(&r)
		if v.Fate == FateDrop {
			d.CountDrop(r.Cookie)
		}
		if done {
			return v
		}
		v.Chain = next
	}
	return v
}

// Match finds the rule that counts in a chain, and counts the packet in it.
func (d *Device) Match(packet *Key, protocol uint16, chain uint32, length int, now int64) (Rule, bool) {
	if d.gone {
		return Rule{}, false
	}
	e := d.match(packet, protocol, chain)
	if e == nil {
		return Rule{}, false
	}
	e.stats.Packets++
	e.stats.Bytes += uint64(length)
	e.stats.LastUsed = now
	return e.rule, true
}

// CountDrop counts that a rule dropped a packet.
func (d *Device) CountDrop(cookie uint64) {
	if e := d.rules[cookie]; e != nil {
		e.stats.Drops++
	}
}

// apply carries out a rule's actions; next is the chain to go on with.
func (v *Verdict) apply(r *Rule) (next uint32, done bool) {
	for _, a := range r.Actions {
		switch a.ID {
		case ActDrop:
			v.Fate = FateDrop
			return 0, true
		case ActAccept:
			v.Fate = FateAccept
			return 0, true
		case ActTrap:
			v.Fate = FateTrap
			return 0, true
		case ActGoto:
			return a.Chain, false
		case ActRedirect, ActRedirectIngress:
			v.To = append(v.To, a)
			v.Fate = FateForward
			return 0, true
		case ActMirror, ActMirrorIngress:
			v.To = append(v.To, a)
		case ActMark:
			v.Mark = a.Mark
		}
	}
	v.Fate = FateAccept
	return 0, true
}

// match finds the rule that counts in a chain.
func (d *Device) match(packet *Key, protocol uint16, chain uint32) *entry {
	var best *entry
	for e := d.order.first; e != nil; e = e.next {
		r := &e.rule
		if r.Chain != chain || r.Protocol != protocol && r.Protocol != 3 || best != nil && r.Priority >= best.rule.Priority {
			continue
		}
		if r.Match.Matches(packet) {
			best = e
		}
	}
	return best
}

// Rules lists the rules by chain and priority.
func (d *Device) Rules() []Rule {
	l := make([]Rule, 0, len(d.rules))
	for e := d.order.first; e != nil; e = e.next {
		l = append(l, e.rule)
	}
	sort.SliceStable(l, func(i, j int) bool {
		if l[i].Chain != l[j].Chain {
			return l[i].Chain < l[j].Chain
		}
		return l[i].Priority < l[j].Priority
	})
	return l
}
