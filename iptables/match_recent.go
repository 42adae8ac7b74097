package iptables

import (
	"fmt"
	"net/netip"
)

func init() {
	registerMatch(&extension{name: "recent", match: func(f family) Match {
		return &recentMatch{family: f, name: "DEFAULT", mask: lengthMask(f, zeroAddr(f).BitLen())}
	}, options: []option{
		optNot("set", 0, func(x *recentMatch, s *setting) { x.choose(s, "set") }),
		optNot("rcheck", 0, func(x *recentMatch, s *setting) { x.choose(s, "rcheck") }),
		optNot("update", 0, func(x *recentMatch, s *setting) { x.choose(s, "update") }),
		optNot("remove", 0, func(x *recentMatch, s *setting) { x.choose(s, "remove") }),
		opt("seconds", 1, func(x *recentMatch, s *setting) { x.seconds = uint32(s.uint(1<<32 - 1)) }),
		opt("reap", 0, func(x *recentMatch, s *setting) { x.reap = true }),
		opt("hitcount", 1, func(x *recentMatch, s *setting) { x.hits = uint32(s.uint(65535)) }),
		opt("rttl", 0, func(x *recentMatch, s *setting) { x.ttl = true }),
		opt("name", 1, func(x *recentMatch, s *setting) {
			if x.name = s.word(0); len(x.name) > 199 || x.name == "" {
				s.fail("the name of a list has 1 to 199 bytes")
			}
		}),
		opt("rsource", 0, func(x *recentMatch, s *setting) { x.destination = false }),
		opt("rdest", 0, func(x *recentMatch, s *setting) { x.destination = true }),
		opt("mask", 1, func(x *recentMatch, s *setting) { x.mask = s.address(s.word(0)) }),
	}, finish: finishing(func(x *recentMatch, _ *Rule, _ family) string {
		plain := x.seconds == 0 && x.hits == 0 && !x.reap && !x.ttl
		switch {
		case x.mode == "":
			return "one of --set, --rcheck, --update, --remove is missing"
		case (x.mode == "set" || x.mode == "remove") && !plain:
			return "--" + x.mode + " takes neither --seconds, --hitcount, --rttl nor --reap"
		case x.reap && x.seconds == 0:
			return "--reap needs --seconds"
		}
		return ""
	})})
}

// recentMatch is -m recent. Ref: xt_recent.c.
type recentMatch struct {
	family      family
	mode        string
	not         bool
	seconds     uint32
	hits        uint32
	reap, ttl   bool
	name        string
	destination bool
	mask        netip.Addr
}

func (x *recentMatch) choose(s *setting, mode string) {
	if x.mode != "" {
		s.fail("one of --set, --rcheck, --update, --remove is possible")
		return
	}
	x.mode, x.not = mode, s.not
}

func (x *recentMatch) uses(u *Uses) bool {
	u.TTL = u.TTL || x.ttl
	return false
}

func (x *recentMatch) Name() string { return "recent" }

func (x *recentMatch) appendSave(b []byte) []byte {
	b = append(append(appendNot(b, x.not), " --"...), x.mode...)
	if x.seconds != 0 {
		b = fmt.Appendf(b, " --seconds %d", x.seconds)
	}
	if x.reap {
		b = append(b, " --reap"...)
	}
	if x.hits != 0 {
		b = fmt.Appendf(b, " --hitcount %d", x.hits)
	}
	if x.ttl {
		b = append(b, " --rttl"...)
	}
	side := "rsource"
	if x.destination {
		side = "rdest"
	}
	return fmt.Appendf(b, " --name %s --mask %s --%s", word(x.name), x.mask, side)
}

func (x *recentMatch) translate(t *translator) bool {
	return t.fail("nft has no list of recent addresses")
}

// recentEntries is how many addresses a list holds; the oldest make room.
const recentEntries = 100

// recentList is shared by the rules that give its name.
type recentList struct {
	mask    netip.Addr
	stamps  int // ring size
	entries map[netip.Addr]*recentEntry
	order   []*recentEntry // least recently used first
}

type recentEntry struct {
	address netip.Addr
	ttl     uint8
	index   int
	count   int
	stamps  []int64 // ticks
}

// defaultStamps is the ring's size where no rule asks for a hit count.
const defaultStamps = 32

func (x *recentMatch) newState(m *Machine) any {
	key := fmt.Sprintf("recent %d %s", x.family, x.name)
	l, ok := m.shared[key].(*recentList)
	if !ok {
		l = &recentList{mask: x.mask, stamps: defaultStamps, entries: map[netip.Addr]*recentEntry{}}
		m.shared[key] = l
	}
	if x.hits > 0 {
		size := 1
		for size < int(x.hits)+1 && size <= int(x.hits) {
			size *= 2
		}
		l.stamps = max(l.stamps, size)
	}
	return l
}

func (x *recentMatch) matches(m *Machine) result {
	l := m.own().(*recentList)
	address := m.pkt.View.SrcAddr()
	if x.destination {
		address = m.pkt.View.DstAddr()
	}
	address = maskAddr(address, l.mask)
	ttl := m.ttl()
	if m.pkt.Meta.OIF.Exists() && m.pkt.Hook != hookOutput { // forwarding has lowered it
		ttl++
	}
	e := l.find(address, ttl, x.ttl)
	now := m.Now / jiffy
	if e == nil {
		if x.mode != "set" {
			return truth(x.not)
		}
		l.add(address, ttl, now)
		return truth(!x.not)
	}
	hit := true
	switch x.mode {
	case "remove":
		l.remove(e)
		return truth(!x.not)
	case "rcheck", "update":
		hit = x.check(e, now)
		if x.reap && now-e.last() > int64(x.seconds)*ticks {
			l.reap(now, int64(x.seconds)*ticks)
		}
	}
	hit = hit != x.not
	if x.mode == "set" || x.mode == "update" && hit {
		l.touch(e, now)
		e.ttl = ttl
	}
	return truth(hit)
}

// check counts the stamps that are young enough.
func (x *recentMatch) check(e *recentEntry, now int64) bool {
	count := uint32(0)
	for _, stamp := range e.stamps[:e.count] {
		if x.seconds != 0 && now-stamp > int64(x.seconds)*ticks {
			continue
		}
		if count++; x.hits == 0 || count >= x.hits {
			return true
		}
	}
	return false
}

func (l *recentList) find(a netip.Addr, ttl uint8, exact bool) *recentEntry {
	e := l.entries[a]
	if e != nil && exact && e.ttl != ttl && e.ttl != 0 && ttl != 0 {
		return nil
	}
	return e
}

func (l *recentList) add(a netip.Addr, ttl uint8, now int64) {
	if len(l.entries) >= recentEntries {
		l.remove(l.order[0])
	}
	e := &recentEntry{address: a, ttl: ttl, index: 1 % l.stamps, count: 1, stamps: make([]int64, l.stamps)}
	e.stamps[0] = now
	l.entries[a] = e
	l.order = append(l.order, e)
}

func (l *recentList) remove(e *recentEntry) {
	delete(l.entries, e.address)
	l.unlink(e)
}

func (l *recentList) unlink(e *recentEntry) {
	for i, other := range l.order {
		if other == e {
			l.order = append(l.order[:i], l.order[i+1:]...)
			return
		}
	}
}

// touch adds a stamp and makes the entry the youngest.
func (l *recentList) touch(e *recentEntry, now int64) {
	e.stamps[e.index] = now
	e.count = max(e.count, e.index+1)
	e.index = (e.index + 1) % l.stamps
	l.unlink(e)
	l.order = append(l.order, e)
}

// reap removes the least recently used entry if its last stamp is too old.
func (l *recentList) reap(now, age int64) {
	if e := l.order[0]; now-e.last() > age {
		l.remove(e)
	}
}

// last is the entry's youngest stamp.
func (e *recentEntry) last() int64 {
	return e.stamps[(e.index+len(e.stamps)-1)%len(e.stamps)]
}
