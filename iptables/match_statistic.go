package iptables

import (
	"fmt"
	"math"
	"strconv"
)

func init() {
	registerMatch(&extension{name: "statistic", match: made[statisticMatch](), options: []option{
		opt("mode", 1, func(x *statisticMatch, s *setting) {
			i := s.choice(s.word(0), []string{"random", "nth"}, "mode")
			x.nth, x.given = i == 1, true
		}),
		optNot("probability", 1, func(x *statisticMatch, s *setting) {
			p, err := strconv.ParseFloat(s.word(0), 64)
			if err != nil || p < 0 || p > 1 {
				s.fail("a probability is a number from 0 to 1")
				return
			}
			x.threshold, x.not, x.hasProbability = uint32(int64(math.RoundToEven(p*(1<<31)))), s.not, true
		}),
		optNot("every", 1, func(x *statisticMatch, s *setting) {
			if x.every, x.not = uint32(s.uint(1<<32-1)), s.not; x.every == 0 {
				s.fail("every 0th packet cannot be")
			}
		}),
		opt("packet", 1, func(x *statisticMatch, s *setting) { x.packet = uint32(s.uint(1<<32 - 1)) }),
	}, finish: finishing(func(x *statisticMatch, _ *Rule, _ family) string {
		switch {
		case !x.given:
			return "--mode is missing"
		case x.nth && x.every == 0:
			return "--every is missing"
		case x.nth && x.packet >= x.every:
			return "--packet must be less than --every"
		case !x.nth && !x.hasProbability:
			return "--probability is missing"
		case !x.nth && x.every != 0, x.nth && x.hasProbability:
			return "the options do not belong to the mode"
		}
		return ""
	})})
}

// statisticMatch is -m statistic. Ref: xt_statistic.c.
type statisticMatch struct {
	nth, given     bool
	threshold      uint32 // of 31 random bits
	hasProbability bool
	every, packet  uint32
	not            bool
}

func (x *statisticMatch) uses(u *Uses) bool {
	u.Random = u.Random || !x.nth
	return false
}

func (x *statisticMatch) Name() string { return "statistic" }

func (x *statisticMatch) appendSave(b []byte) []byte {
	if x.nth {
		return fmt.Appendf(appendNot(append(b, " --mode nth"...), x.not), " --every %d --packet %d", x.every, x.packet)
	}
	return fmt.Appendf(appendNot(append(b, " --mode random"...), x.not), " --probability %.11f", float64(x.threshold)/(1<<31))
}

func (x *statisticMatch) translate(t *translator) bool {
	switch {
	case x.nth:
		t.addf("numgen inc mod %d %s%d", x.every, t.not(x.not), x.packet)
	case x.not:
		t.addf("meta random & 2147483647 >= %d", x.threshold)
	default:
		t.addf("meta random & 2147483647 < %d", x.threshold)
	}
	return true
}

func (x *statisticMatch) newState(*Machine) any {
	count := uint32(0)
	if x.nth {
		count = x.every - 1 - x.packet
	}
	return &count
}

func (x *statisticMatch) matches(m *Machine) result {
	if !x.nth {
		return truth((m.Rand.Uint32()&0x7fffffff < x.threshold) != x.not)
	}
	count := m.own().(*uint32)
	hit := *count == x.every-1
	if hit {
		*count = 0
	} else {
		*count++
	}
	return truth(hit != x.not)
}
