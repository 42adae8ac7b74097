package syntax

import "strings"

// number takes an unsigned number of up to 64 bits; nil after an error.
func (p *parser) number(what string) *Number { return p.numberUpTo(what, 1<<64-1) }

// numberUpTo takes an unsigned number up to a limit; nil after an error.
func (p *parser) numberUpTo(what string, limit uint64) *Number {
	if !p.at(kindNumber) {
		p.unexpected(what)
		return nil
	}
	value, ok := parseNumber(p.str(p.tok))
	if !ok || value > limit {
		p.fail(p.tokSpan(p.tok), codeNumber, "%s is too large for %s, at most %d", p.describe(p.tok), what, limit)
		return nil
	}
	n := &Number{At: At{p.tokSpan(p.tok)}, Value: value}
	p.next()
	return n
}

// boundedNumber is numberUpTo for fields that keep the value alone.
func (p *parser) boundedNumber(what string, limit uint64) uint64 {
	if n := p.numberUpTo(what, limit); n != nil {
		return n.Value
	}
	return 0
}

// timeUnits are the units of times in milliseconds, in the order in which
// they must stand.
var timeUnits = []struct {
	name         string
	milliseconds uint64
}{{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}}

// parseTime reads 1d2h3m4s5ms, any of the parts in this order, or a plain
// number of seconds.
func parseTime(text string) (milliseconds uint64, ok bool) {
	unit := 0
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && isDigit(text[i]) {
			i++
		}
		value, good := parseDecimal(text[start:i])
		if !good {
			return 0, false
		}
		nameStart := i
		for i < len(text) && !isDigit(text[i]) {
			i++
		}
		name := text[nameStart:i]
		if name == "" && start == 0 {
			name = "s"
		}
		for unit < len(timeUnits) && timeUnits[unit].name != name {
			unit++
		}
		if unit == len(timeUnits) {
			return 0, false
		}
		scale := timeUnits[unit].milliseconds
		if value > (^uint64(0)-milliseconds)/scale {
			return 0, false
		}
		milliseconds += value * scale
		unit++
	}
	return milliseconds, text != ""
}

func parseDecimal(text string) (value uint64, ok bool) {
	for i := 0; i < len(text); i++ {
		digit := uint64(text[i] - '0')
		if digit > 9 || value > (^uint64(0)-digit)/10 {
			return 0, false
		}
		value = value*10 + digit
	}
	return value, text != ""
}

// duration takes a time such as 1d2h or 300s, a number of seconds, or a
// variable; nil after an error.
func (p *parser) duration() *Duration {
	switch p.tok.kind {
	case kindDollar:
		v := p.variable()
		if v == nil {
			return nil
		}
		return &Duration{At: v.At, Variable: v}
	case kindNumber, kindValue, kindQuoted:
		text := strings.Trim(p.str(p.tok), `"`)
		ms, ok := parseTime(text)
		if !ok {
			d := p.fail(p.tokSpan(p.tok), codeTime, "%s is not a time", p.describe(p.tok))
			d.Hint = "write times as 1d2h3m4s"
			return nil
		}
		d := &Duration{At: At{p.tokSpan(p.tok)}, Milliseconds: ms}
		p.next()
		return d
	}
	p.unexpected("a time")
	return nil
}

// byteUnits are the units of quotas and byte rates.
var byteUnits = map[string]uint64{"bytes": 1, "kbytes": 1 << 10, "mbytes": 1 << 20}

var byteUnitNames = []string{"bytes", "kbytes", "mbytes"}

// rateUnits are the units of time of rates, in seconds.
var rateUnits = map[string]uint64{"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}

var rateUnitNames = []string{"second", "minute", "hour", "day", "week"}

// quantity takes NUMBER, and splits NUMBERUNIT, as in 10mbytes, into both.
func (p *parser) quantity() (value uint64, unit string) {
	text := p.str(p.tok)
	switch p.tok.kind {
	case kindNumber:
		return p.boundedNumber("a number", 1<<64-1), ""
	case kindValue:
		digits := 0
		for digits < len(text) && isDigit(text[digits]) {
			digits++
		}
		value, ok := parseDecimal(text[:digits])
		if _, isUnit := byteUnits[text[digits:]]; ok && isUnit {
			p.next()
			return value, text[digits:]
		}
	}
	p.unexpected("a number")
	return 0, ""
}

// byteCount takes NUMBER UNIT in bytes.
func (p *parser) byteCount() uint64 {
	start := p.tok.start
	value, unit := p.quantity()
	if unit == "" {
		if !p.at(kindWord) || byteUnits[p.str(p.tok)] == 0 {
			p.unexpectedOf("", byteUnitNames)
			return 0
		}
		unit = p.str(p.tok)
		p.next()
	}
	return p.scaled(start, value, unit)
}

// scaled converts a number with a byte unit to bytes.
func (p *parser) scaled(start int32, value uint64, unit string) uint64 {
	if value > ^uint64(0)/byteUnits[unit] {
		p.fail(p.since(start).Span, codeNumber, "%d %s is too large", value, unit)
		return 0
	}
	return value * byteUnits[unit]
}
