package compile

import (
	"net/netip"
	"strings"

	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/syntax"
)

// word is a resolved literal.
type word struct {
	n       num
	partial bool // a string with a trailing *; bits says how much of it counts
	bits    int
}

// literal resolves a literal by the type of what it stands for. ok is false
// where an error was reported.
func (c *compiler) literal(l *syntax.Literal, t vtype) (w word, ok bool) {
	w.bits = t.bits
	if t.typ == nil {
		c.diags.Errorf(l.Span, "compile/untyped", "cannot tell what type '%s' has", l.Text)
		return w, false
	}
	if t.isString() {
		return c.stringLiteral(l, t)
	}
	if l.Kind == syntax.LitNumber {
		n, valid, fits := parseNum(l.Text)
		if !valid {
			n, fits = small(l.Value), true
		}
		if !fits {
			c.diags.Errorf(l.Span, "compile/range", "Value %s exceeds valid range 0-%s", l.Text, ones(t.bits).decimal())
			return w, false
		}
		w.n, ok = c.numberLiteral(l, n, t)
		return w, ok
	}
	w.n, ok = c.wordLiteral(l, t)
	return w, ok
}

// numberLiteral gives a plain number the meaning that its type has for it.
func (c *compiler) numberLiteral(l *syntax.Literal, n num, t vtype) (num, bool) {
	switch t.typ.Form {
	case catalog.FormIPv6, catalog.FormMAC:
		return c.wordLiteral(l, t)
	case catalog.FormDuration:
		if t.typ.Seconds {
			break
		}
		n = small(n.lo * 1000)
	case catalog.FormDate:
		n = small(n.lo * 1e9)
	case catalog.FormHour:
		n = small(uint64(c.utcSecond(int(n.lo % 86400))))
	case catalog.FormLabel:
		if n.cmp(small(127)) > 0 {
			c.diags.Errorf(l.Span, "compile/range", "Value %s exceeds valid range 0-127", n.decimal())
			return n, false
		}
		n = small(1).shl(int(n.lo))
	case catalog.FormService:
		if n.width() > 16 {
			c.diags.Errorf(l.Span, "compile/range", "Service out of range")
			return n, false
		}
	}
	return n, c.fits(l.Span, n, t)
}

// fits checks that a number is in the range of its type.
func (c *compiler) fits(at diag.Span, n num, t vtype) bool {
	most := ones(t.bits)
	if t.limit != 0 {
		most = small(t.limit)
	}
	if n.cmp(most) <= 0 {
		return true
	}
	c.diags.Errorf(at, "compile/range", "Value %s exceeds valid range 0-%s", n.decimal(), most.decimal())
	return false
}

// stringLiteral places a string at the start of its field.
func (c *compiler) stringLiteral(l *syntax.Literal, t vtype) (w word, ok bool) {
	text, wild := l.Text, false
	if text == "" {
		c.diags.Errorf(l.Span, "compile/string", "Empty string is not allowed")
		return w, false
	}
	switch {
	case strings.HasSuffix(text, `\*`):
		text = text[:len(text)-2] + "*"
	case strings.HasSuffix(text, "*") && t.typ != catalog.String:
		text, wild = text[:len(text)-1], true
		if text == "" {
			c.diags.Errorf(l.Span, "compile/string", "All-wildcard strings are not supported")
			return w, false
		}
	}
	size := t.bytes()
	if size == 0 {
		size = 16
	}
	if len(text) >= size {
		c.diags.Errorf(l.Span, "compile/string", "String exceeds maximum length of %d", size)
		return w, false
	}
	w.n = numFromBytes([]byte(text)).shl(8 * (size - len(text)))
	w.bits = 8 * size
	if wild {
		w.partial, w.bits = true, 8*len(text)
	}
	return w, true
}

// wordLiteral resolves a word: a symbol of the type, or its own notation.
func (c *compiler) wordLiteral(l *syntax.Literal, t vtype) (num, bool) {
	text := l.Text
	switch t.typ.Form {
	case catalog.FormIPv4:
		if n, ok := parseIPv4(text); ok {
			return n, true
		}
		return c.unresolved(l, t)
	case catalog.FormIPv6:
		if a, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil && a.Is6() && a.Zone() == "" {
			b := a.As16()
			return numFromBytes(b[:]), true
		}
		return c.unresolved(l, t)
	case catalog.FormMAC:
		if n, size, ok := parseMAC(text); ok && size == t.bytes() {
			return n, true
		}
		c.diags.Errorf(l.Span, "compile/literal", "Could not parse %s", t.typ.Description)
		return num{}, false
	}
	if v, ok := t.typ.SymbolByName(text); ok {
		return c.symbolValue(v, t), true
	}
	if c.opts.Names != nil {
		if v, ok := c.opts.Names(t.typ, text); ok {
			return c.symbolValue(v, t), c.fits(l.Span, small(v), t)
		}
	}
	if n, ok, known := c.notation(l, t); known {
		return n, ok
	}
	if n, valid, fits := parseNum(text); valid && fits {
		return c.numberLiteral(l, n, t)
	}
	return c.unresolved(l, t)
}

func (c *compiler) symbolValue(v uint64, t vtype) num {
	if t.typ.Form == catalog.FormLabel {
		return small(1).shl(int(v & 127))
	}
	return small(v)
}

// notation reads the notations of types other than symbols and numbers; known
// is false where the type has none or the word is none.
func (c *compiler) notation(l *syntax.Literal, t vtype) (n num, ok, known bool) {
	text := l.Text
	switch t.typ.Form {
	case catalog.FormIfIndex:
		if c.opts.Interface != nil {
			if index, found := c.opts.Interface(text); found {
				return small(uint64(index)), true, true
			}
		}
		if _, number, _ := parseNum(text); number {
			return num{}, false, false
		}
		c.diags.Errorf(l.Span, "compile/interface", "Interface does not exist")
		return num{}, false, true
	case catalog.FormUID:
		return c.account(l, c.opts.User, "User does not exist")
	case catalog.FormGID:
		return c.account(l, c.opts.Group, "Group does not exist")
	case catalog.FormClassID:
		n, ok = parseClassID(text)
		return n, ok, ok
	case catalog.FormDuration:
		ms, valid := parseDuration(text)
		if !valid {
			return num{}, false, false
		}
		if t.typ.Seconds {
			ms /= 1000
		}
		return small(ms), c.fits(l.Span, small(ms), t), true
	case catalog.FormDate:
		n, ok = c.date(text)
		return n, ok, ok
	case catalog.FormHour:
		n, ok = c.hour(text)
		return n, ok, ok
	case catalog.FormDay:
		n, ok = dayByName(t.typ, text)
		return n, ok, ok
	case catalog.FormCgroup2:
		if c.opts.Cgroup != nil {
			if id, found := c.opts.Cgroup(text); found {
				return small(id), true, true
			}
		}
		c.diags.Errorf(l.Span, "compile/cgroup", "cgroupv2 path fails: No such file or directory")
		return num{}, false, true
	}
	return num{}, false, false
}

func (c *compiler) account(l *syntax.Literal, find func(string) (uint32, bool), message string) (n num, ok, known bool) {
	if find != nil {
		if id, found := find(l.Text); found {
			return small(uint64(id)), true, true
		}
	}
	if _, number, _ := parseNum(l.Text); number {
		return num{}, false, false
	}
	c.diags.Errorf(l.Span, "compile/account", "%s", message)
	return num{}, false, true
}

// unresolved reports a word that its type does not know.
func (c *compiler) unresolved(l *syntax.Literal, t vtype) (num, bool) {
	var d *diag.Diagnostic
	switch t.typ.Form {
	case catalog.FormIPv4, catalog.FormIPv6:
		if _, err := netip.ParseAddr(l.Text); err == nil {
			c.diags.Errorf(l.Span, "compile/literal", "Could not resolve hostname: Address family for hostname not supported")
		} else {
			c.diags.Errorf(l.Span, "compile/literal", "Could not resolve hostname: Name or service not known").
				Hint = "host names are not resolved; write the address"
		}
		return num{}, false
	case catalog.FormService:
		d = c.diags.Errorf(l.Span, "compile/literal", "Could not resolve service: Servname not supported for ai_socktype")
	case catalog.FormDate:
		d = c.diags.Errorf(l.Span, "compile/literal", "Cannot parse date")
		d.Expected = []string{"YYYY-MM-DD [HH:MM[:SS]]", "seconds since 1970"}
		return num{}, false
	case catalog.FormHour:
		d = c.diags.Errorf(l.Span, "compile/literal", "wrong time format")
		d.Expected = []string{"HH:MM[:SS]"}
		return num{}, false
	case catalog.FormProtocol:
		d = c.diags.Errorf(l.Span, "compile/literal", "Could not resolve protocol name")
	default:
		d = c.diags.Errorf(l.Span, "compile/literal", "Could not parse %s", t.typ.Description)
	}
	names := make([]string, len(t.typ.Symbols))
	for i, s := range t.typ.Symbols {
		names[i] = s.Name
	}
	if near := diag.Nearest(l.Text, names); near != "" {
		d.Message += " expression; did you you mean `" + near + "`?"
	}
	return num{}, false
}

// parseIPv4 reads a dotted quad.
func parseIPv4(text string) (num, bool) {
	var v, part uint64
	dots, digits := 0, 0
	for i := 0; i < len(text); i++ {
		ch := text[i]
		switch {
		case ch >= '0' && ch <= '9':
			part = part*10 + uint64(ch-'0')
			digits++
			if digits > 3 || part > 255 {
				return num{}, false
			}
		case ch == '.' && digits > 0 && dots < 3:
			v = v<<8 | part
			part, digits = 0, 0
			dots++
		default:
			return num{}, false
		}
	}
	if dots != 3 || digits == 0 {
		return num{}, false
	}
	return small(v<<8 | part), true
}

// parseMAC reads bytes in hexadecimal between colons.
func parseMAC(text string) (n num, size int, ok bool) {
	for _, part := range strings.Split(text, ":") {
		if len(part) == 0 || len(part) > 2 || size == 16 {
			return num{}, 0, false
		}
		var b uint64
		for i := 0; i < len(part); i++ {
			d := digitValue(part[i])
			if d > 15 {
				return num{}, 0, false
			}
			b = b<<4 | d
		}
		n = n.shl(8)
		n.lo |= b
		size++
	}
	return n, size, size > 1
}

// parseClassID reads MAJOR:MINOR in hexadecimal.
func parseClassID(text string) (num, bool) {
	major, minor, found := strings.Cut(text, ":")
	if !found {
		return num{}, false
	}
	a, ok := parseHex16(major)
	b, ok2 := parseHex16(minor)
	return small(a<<16 | b), ok && ok2
}

func parseHex16(text string) (uint64, bool) {
	var v uint64
	for i := 0; i < len(text); i++ {
		d := digitValue(text[i])
		if d > 15 || i >= 4 {
			return 0, false
		}
		v = v<<4 | d
	}
	return v, true
}
