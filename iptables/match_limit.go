package iptables

import (
	"fmt"
	"strconv"
	"strings"
)

func init() {
	registerMatch(
		&extension{name: "limit", match: func(family) Match { return &limitMatch{avg: limitScale * 3600 / 3, burst: defaultBurst} }, options: []option{
			opt("limit", 1, (*limitMatch).readRate),
			opt("limit-burst", 1, func(x *limitMatch, s *setting) { x.burst = uint32(s.uint(10000)) }),
		}, finish: finishing(func(x *limitMatch, _ *Rule, _ family) string {
			if cost, limit := credits(x.avg), credits(x.avg*x.burst); x.burst == 0 || limit < cost {
				return "the kernel cannot count this rate with this burst"
			}
			return ""
		})},
		&extension{name: "quota", match: made[quotaMatch](), options: []option{
			optNot("quota", 1, func(x *quotaMatch, s *setting) { x.bytes, x.not, x.given = s.uint(1<<64-1), s.not, true }),
		}, finish: finishing(func(x *quotaMatch, _ *Rule, _ family) string { return needed(x.given, "--quota") })},
	)
}

// Rates of limit are periods: how long one packet takes, in units of a second
// divided by limitScale.
const (
	limitScale   = 10000
	defaultBurst = 5
)

// jiffy is the length of the kernel's tick in nanoseconds, of a kernel with 250
// ticks a second, and creditsPerJiffy how many credits it brings: the highest
// power of two that does not overflow in a day.
// Ref: xt_limit.c, CREDITS_PER_JIFFY.
const (
	ticks           = 250
	jiffy           = 1e9 / ticks
	creditsPerJiffy = 128
)

// credits turns a period into credits. Ref: xt_limit.c, user2credits.
func credits(user uint32) uint32 {
	if user > 0xffffffff/(ticks*creditsPerJiffy) {
		return user / limitScale * ticks * creditsPerJiffy
	}
	return user * ticks * creditsPerJiffy / limitScale
}

var units = []struct {
	name, long string
	seconds    uint32
}{{"day", "day", 86400}, {"hour", "hour", 3600}, {"min", "minute", 60}, {"sec", "second", 1}}

// limitMatch is -m limit. Ref: xt_limit.c.
type limitMatch struct{ avg, burst uint32 }

// readUnit splits "10/second" into number and seconds of the unit; the unit may
// be shortened to any length.
func readUnit(text string) (number string, seconds uint32, ok bool) {
	number, unit, two := strings.Cut(text, "/")
	if !two {
		return number, 1, true
	}
	for _, u := range units {
		if unit != "" && strings.HasPrefix(u.long, strings.ToLower(unit)) {
			return number, u.seconds, true
		}
	}
	return number, 0, false
}

func (x *limitMatch) readRate(s *setting) {
	number, seconds, ok := readUnit(s.word(0))
	n, err := strconv.ParseUint(number, 10, 32)
	switch {
	case !ok || err != nil || n == 0:
		s.fail("bad rate %q", s.word(0)).Hint = "write a number and second, minute, hour or day: 10/minute"
	case n > uint64(limitScale*seconds):
		s.fail("the rate %s is too fast", s.word(0))
	default:
		x.avg = limitScale * seconds / uint32(n)
	}
}

// rateText prints a period in the shortest unit in which it is a whole rate.
// Ref: libxt_limit.c, print_rate.
func rateText(period, scale uint64, long bool) string {
	i := 1
	for ; i < len(units); i++ {
		if unit := scale * uint64(units[i].seconds); period > unit || unit/period < unit%period {
			break
		}
	}
	u := units[i-1]
	name := u.name
	if long {
		name = u.long
	}
	return fmt.Sprintf("%d/%s", scale*uint64(u.seconds)/period, name)
}

func (x *limitMatch) Name() string { return "limit" }

func (x *limitMatch) appendSave(b []byte) []byte {
	b = fmt.Appendf(b, " --limit %s", rateText(uint64(x.avg), limitScale, false))
	if x.burst != defaultBurst {
		b = fmt.Appendf(b, " --limit-burst %d", x.burst)
	}
	return b
}

func (x *limitMatch) translate(t *translator) bool {
	text := "limit rate " + rateText(uint64(x.avg), limitScale, true)
	if x.burst != 0 {
		text += fmt.Sprintf(" burst %d packets", x.burst)
	}
	t.add(text)
	return true
}

type limitState struct {
	tick   int64
	credit uint32
}

func (x *limitMatch) newState(m *Machine) any {
	return &limitState{tick: -1, credit: credits(x.avg * x.burst)}
}

func (x *limitMatch) matches(m *Machine) result {
	s := m.own().(*limitState)
	now := m.Now / jiffy
	if s.tick < 0 {
		s.tick = now
	}
	s.credit += uint32(now-s.tick) * creditsPerJiffy
	s.tick = now
	s.credit = min(s.credit, credits(x.avg*x.burst))
	if cost := credits(x.avg); s.credit >= cost {
		s.credit -= cost
		return resultTrue
	}
	return resultFalse
}

// quotaMatch is -m quota. Ref: xt_quota.c.
type quotaMatch struct {
	bytes uint64
	not   bool
	given bool
}

func (x *quotaMatch) Name() string { return "quota" }

func (x *quotaMatch) appendSave(b []byte) []byte {
	return fmt.Appendf(appendNot(b, x.not), " --quota %d", x.bytes)
}

func (x *quotaMatch) translate(t *translator) bool {
	if !t.reference && !x.not {
		return t.fail("a quota of nft lets the packet through that uses it up and later small ones too")
	}
	over := ""
	if x.not {
		over = "over "
	}
	if !t.reference {
		return t.fail("a quota of nft counts the packet that no longer fits")
	}
	t.addf("quota %s%d bytes", over, x.bytes)
	return true
}

func (x *quotaMatch) newState(*Machine) any {
	left := x.bytes
	return &left
}

func (x *quotaMatch) matches(m *Machine) result {
	left := m.own().(*uint64)
	fits := *left >= uint64(m.pkt.Length)
	if fits {
		*left -= uint64(m.pkt.Length)
	} else {
		*left = 0
	}
	return truth(fits != x.not)
}
