package syntax

// digits scans a token that starts with a digit: a number, an address, a
// time, a classid or a word such as 8021q.
func (l *lexer) digits(start int) token {
	text := l.text
	end := start + 1
	for end < len(text) && isDigit(text[end]) {
		end++
	}
	if end == len(text) {
		return l.make(numberKind(text[start:end]), start, end)
	}
	switch c := text[end]; {
	case c == '.':
		if v4 := ipv4End(text, start); v4 > 0 {
			return l.make(kindValue, start, v4)
		}
	case c == ':' || isHex(c):
		if a := addressEnd(text, start); a > 0 {
			return l.make(kindValue, start, a)
		}
	}
	if !isLetter(text[end]) {
		return l.make(numberKind(text[start:end]), start, end)
	}
	for end < len(text) && (isLetter(text[end]) || isDigit(text[end])) {
		end++
	}
	if isHexNumber(text[start:end]) {
		return l.make(kindNumber, start, end)
	}
	return l.make(kindValue, start, end)
}

// numberKind tells numbers from runs of digits that are none, such as 08.
func numberKind(text string) kind {
	if text[0] != '0' {
		return kindNumber
	}
	for i := 1; i < len(text); i++ {
		if text[i] > '7' {
			return kindValue
		}
	}
	return kindNumber
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isHex(c byte) bool { return c-'0' <= 9 || (c|0x20)-'a' <= 5 }

func isLetter(c byte) bool { return (c|0x20)-'a' <= 25 || c == '_' }

func isHexNumber(text string) bool {
	if len(text) < 3 || text[0] != '0' || text[1]|0x20 != 'x' {
		return false
	}
	for i := 2; i < len(text); i++ {
		if !isHex(text[i]) {
			return false
		}
	}
	return true
}

// parseNumber reads a kindNumber's text; ok is false when it needs more than
// 64 bits.
func parseNumber(text string) (value uint64, ok bool) {
	base, i := uint64(10), 0
	switch {
	case isHexNumber(text):
		base, i = 16, 2
	case len(text) > 1 && text[0] == '0':
		base, i = 8, 1
	}
	for ; i < len(text); i++ {
		digit := uint64(text[i] - '0')
		if digit > 9 {
			digit = uint64(text[i]|0x20-'a') + 10
		}
		if value > (^uint64(0)-digit)/base {
			return 0, false
		}
		value = value*base + digit
	}
	return value, true
}

// ipv4End is the end of the dotted quad that starts at i, or -1.
func ipv4End(text string, i int) int {
	for group := 0; ; group++ {
		start := i
		for i < len(text) && i < start+3 && isDigit(text[i]) {
			i++
		}
		if i == start {
			return -1
		}
		if group == 3 {
			return i
		}
		if i == len(text) || text[i] != '.' {
			return -1
		}
		i++
	}
}

// addressEnd is the end of the longest IPv6 address, MAC address or classid
// that starts at i, or -1.
func addressEnd(text string, i int) int {
	return max(ipv6End(text, i), macEnd(text, i), classidEnd(text, i))
}

// hexGroup is the end of at most limit hex digits from i.
func hexGroup(text string, i, limit int) int {
	end := i
	for end < len(text) && end < i+limit && isHex(text[end]) {
		end++
	}
	return end
}

// ipv6End is the end of the longest IPv6 address that starts at i, or -1.
func ipv6End(text string, i int) int {
	groups, compressed, end := 0, false, -1
	if i+1 < len(text) && text[i] == ':' {
		if text[i+1] != ':' {
			return -1
		}
		compressed = true
		i += 2
		end = i
	}
	for {
		stop := hexGroup(text, i, 4)
		if stop == i || (stop < len(text) && isHex(text[stop])) {
			return end
		}
		if stop < len(text) && text[stop] == '.' {
			if v4 := ipv4End(text, i); v4 > 0 && (groups == 6 || compressed && groups < 6) {
				return v4
			}
		}
		groups++
		if groups == 8 {
			if compressed {
				return end
			}
			return stop
		}
		if compressed {
			end = stop
		}
		i = stop
		if i == len(text) || text[i] != ':' {
			return end
		}
		i++
		if i < len(text) && text[i] == ':' {
			if compressed || groups > 7 {
				return end
			}
			compressed = true
			i++
			end = i
		}
	}
}

// macEnd is the end of six colon-separated bytes from i, or -1.
func macEnd(text string, i int) int {
	for group := 0; ; group++ {
		end := hexGroup(text, i, 2)
		if end == i {
			return -1
		}
		if group == 5 {
			return end
		}
		if end == len(text) || text[end] != ':' {
			return -1
		}
		i = end + 1
	}
}

// classidEnd is the end of a traffic class MAJOR:MINOR from i, or -1. It is
// one only when something that cannot continue it follows.
func classidEnd(text string, i int) int {
	colon := hexGroup(text, i, 4)
	if colon == i || colon == len(text) || text[colon] != ':' {
		return -1
	}
	end := hexGroup(text, colon+1, 4)
	if end == colon+1 {
		return -1
	}
	if end < len(text) {
		switch text[end] {
		case ' ', '\t', '\r', '\n', ':', '-', '}', ',', ';':
		default:
			return -1
		}
	}
	return end
}
