package compile

import (
	"strconv"
	"strings"
	"time"

	"verdict/catalog"
)

func (c *compiler) location() *time.Location {
	if c.opts.Location == nil {
		return time.UTC
	}
	return c.opts.Location
}

// date reads a date with an optional time of day, in the host's time zone,
// as nanoseconds since 1970.
func (c *compiler) date(text string) (num, bool) {
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, text, c.location()); err == nil {
			return small(uint64(t.Unix()) * 1e9), true
		}
	}
	return num{}, false
}

// hour reads HH:MM[:SS] of the host's time zone as the second of the UTC day.
func (c *compiler) hour(text string) (num, bool) {
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return num{}, false
	}
	limits := [3]int{23, 59, 60}
	second := 0
	for i := range 3 {
		v := 0
		if i < len(parts) {
			n, err := strconv.Atoi(parts[i])
			if err != nil || n < 0 || n > limits[i] || len(parts[i]) > 2 {
				return num{}, false
			}
			v = n
		}
		second = second*60 + v
	}
	return small(uint64(c.utcSecond(second))), true
}

// utcSecond converts a second of the local day to one of the UTC day.
func (c *compiler) utcSecond(second int) int {
	_, offset := c.opts.Now.In(c.location()).Zone()
	return ((second-offset)%86400 + 86400) % 86400
}

func dayByName(t *catalog.Type, text string) (num, bool) {
	for _, s := range t.Symbols {
		if strings.EqualFold(s.Name, text) || (len(text) == 3 && strings.EqualFold(s.Name[:3], text)) {
			return small(s.Value), true
		}
	}
	return num{}, false
}

// parseDuration reads 1d2h3m4s5ms, any of them in that order, as milliseconds.
func parseDuration(text string) (ms uint64, ok bool) {
	units := []struct {
		name string
		ms   uint64
	}{{"w", 604800000}, {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}}
	next := 0
	for text != "" {
		i := 0
		var v uint64
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			v = v*10 + uint64(text[i]-'0')
			i++
		}
		j := i
		for j < len(text) && (text[j] < '0' || text[j] > '9') {
			j++
		}
		if i == 0 || i > 15 || i == j {
			return 0, false
		}
		found := false
		for k := next; k < len(units); k++ {
			if units[k].name == text[i:j] {
				ms += v * units[k].ms
				next, found = k+1, true
				break
			}
		}
		if !found {
			return 0, false
		}
		text = text[j:]
	}
	return ms, next > 0
}
