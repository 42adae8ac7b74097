package decompile

import (
	"strconv"
	"time"

	"verdict/nft/syntax"
)

const secondsPerDay = 24 * 60 * 60

// date writes nanoseconds since 1970 as local time.
func (o *Options) date(ns uint64) *syntax.Literal {
	t := time.Unix(int64(ns/1e9), 0).In(o.location())
	return quoted(t.Format("2006-01-02 15:04:05"))
}

// hour writes a second of the UTC day as local time of day.
func (o *Options) hour(second uint64) *syntax.Literal {
	s := (int64(second%secondsPerDay) + o.zoneOffset()) % secondsPerDay
	if s < 0 {
		s += secondsPerDay
	}
	b := make([]byte, 0, 8)
	b = appendTwo(b, s/3600)
	b = append(b, ':')
	b = appendTwo(b, s/60%60)
	if s%60 != 0 {
		b = append(b, ':')
		b = appendTwo(b, s%60)
	}
	return quoted(string(b))
}

func appendTwo(b []byte, n int64) []byte {
	return append(b, byte('0'+n/10), byte('0'+n%10))
}

// duration writes a time in the units d, h, m, s and ms; with numeric times
// whole seconds.
func (o *Options) duration(f *format, n uint64, w wording) *syntax.Literal {
	if f.typ.Seconds {
		n *= 1000
	}
	if w == plain || o.NumericTime {
		return word_(strconv.FormatUint(n/1000, 10) + "s")
	}
	return word_(durationText(n))
}

func durationText(ms uint64) string {
	if ms == 0 {
		return "0s"
	}
	b := make([]byte, 0, 20)
	for _, unit := range [...]struct {
		ms   uint64
		name string
	}{{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}} {
		if n := ms / unit.ms; n != 0 {
			b = append(strconv.AppendUint(b, n, 10), unit.name...)
			ms %= unit.ms
		}
	}
	return string(b)
}

// span is a duration of a statement, set or element.
func (o *Options) span(ms uint64) *syntax.Duration {
	return &syntax.Duration{Milliseconds: ms, Seconds: o.NumericTime}
}
