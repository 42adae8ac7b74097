package tc

import (
	"math"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// words is a cursor over the words of a command.
type words struct {
	list []string
	at   int
}

func (w *words) more() bool { return w.at < len(w.list) }
func (w *words) left() int  { return len(w.list) - w.at }

// peek is the current word, "" at the end.
func (w *words) peek() string {
	if !w.more() {
		return ""
	}
	return w.list[w.at]
}

func (w *words) skip() { w.at++ }

// take returns the current word and goes on.
func (w *words) take() (string, *ToolError) {
	if !w.more() {
		return "", incomplete()
	}
	w.at++
	return w.list[w.at-1], nil
}

// value goes over the current word and takes the one behind it.
func (w *words) value() (string, *ToolError) {
	w.at++
	return w.take()
}

// is reports whether the current word is exactly this.
func (w *words) is(word string) bool { return w.more() && w.peek() == word }

// matches reports whether the current word is a prefix of any of these.
func (w *words) matches(full ...string) bool {
	if !w.more() {
		return false
	}
	for _, f := range full {
		if prefix(w.peek(), f) {
			return true
		}
	}
	return false
}

// prefix is tc's comparison of keywords: an abbreviation matches.
func prefix(word, full string) bool { return word != "" && strings.HasPrefix(full, word) }

// number reads an unsigned number as strtoul does: base 0 takes 0x and a
// leading 0.
func number(s string, base, bits int) (uint64, bool) {
	s = strings.TrimPrefix(s, "+")
	switch {
	case base == 16:
		s = strings.TrimPrefix(strings.TrimPrefix(s, "0x"), "0X")
	case base == 0 && len(s) > 1 && s[0] == '0' && s[1] != 'x' && s[1] != 'X':
		s, base = s[1:], 8
	case base == 0 && !strings.HasPrefix(strings.ToLower(s), "0x"):
		base = 10
	}
	if strings.ContainsRune(s, '_') {
		return 0, false
	}
	n, err := strconv.ParseUint(s, base, bits)
	return n, err == nil
}

func number32(s string, base int) (uint32, bool) {
	n, ok := number(s, base, 32)
	return uint32(n), ok
}

func number16(s string, base int) (uint16, bool) {
	n, ok := number(s, base, 16)
	return uint16(n), ok
}

func number8(s string, base int) (uint8, bool) {
	n, ok := number(s, base, 8)
	return uint8(n), ok
}

// masked reads N or N/M; without a mask it is full.
func masked(s string, bits int) (value, mask uint64, ok bool) {
	v, m, has := strings.Cut(s, "/")
	if value, ok = number(v, 0, bits); !ok {
		return 0, 0, false
	}
	mask = 1<<bits - 1
	if has {
		mask, ok = number(m, 0, bits)
	}
	return value, mask, ok
}

// handleText reads a classid: maj:min in hexadecimal, root, none, or a bare
// number.
//
// Ref: tc(8), classid
func classID(s string) (uint32, bool) {
	switch s {
	case "root":
		return handleRoot, true
	case "none":
		return 0, true
	}
	maj, min, has := strings.Cut(s, ":")
	if !has {
		n, ok := looseHex(s)
		return n, ok
	}
	var h uint32
	if maj != "" {
		n, ok := number(maj, 16, 64)
		if !ok || n >= 1<<16 {
			return 0, false
		}
		h = uint32(n) << 16
	}
	if min != "" {
		n, ok := number(min, 16, 64)
		if !ok || n >= 1<<16 {
			return 0, false
		}
		h |= uint32(n)
	}
	return h, true
}

// looseHex keeps the low 32 bits of a hexadecimal number, as tc does.
func looseHex(s string) (uint32, bool) {
	n, ok := number(s, 16, 64)
	return uint32(n), ok
}

// qdiscHandle reads the handle of a qdisc, "1:" or "1".
func qdiscHandle(s string) (uint32, bool) {
	if s == "none" {
		return 0, true
	}
	maj, rest, _ := strings.Cut(s, ":")
	n, ok := number(maj, 16, 64)
	if !ok || n >= 1<<16 || rest != "" {
		return 0, false
	}
	return uint32(n) << 16, true
}

// macAddress reads an address with missing bytes as zero.
func macAddress(s string) (a [6]byte, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) > 6 {
		return a, false
	}
	for i, p := range parts {
		n, good := number(p, 16, 8)
		if !good {
			return a, false
		}
		a[i] = byte(n)
	}
	return a, true
}

// macMask reads MAC, MAC/bits or MAC/mask.
func macMask(s string) (a, m [6]byte, ok bool) {
	addr, mask, has := strings.Cut(s, "/")
	if a, ok = macAddress(addr); !ok {
		return a, m, false
	}
	if !has {
		return a, [6]byte{255, 255, 255, 255, 255, 255}, true
	}
	if n, good := number(mask, 10, 8); good && !strings.Contains(mask, ":") {
		if n > 48 {
			return a, m, false
		}
		copy(m[:], prefixMask(int(n), 6))
		return a, m, true
	}
	m, ok = macAddress(mask)
	return a, m, ok
}

// address4 reads an IPv4 address, short forms filled with zeros.
func address4(s string) (netip.Addr, bool) {
	var b [4]byte
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	for i, p := range parts {
		n, ok := number(p, 0, 8)
		if !ok {
			return netip.Addr{}, false
		}
		b[i] = byte(n)
	}
	return netip.AddrFrom4(b), true
}

// ipPrefix reads ADDR, ADDR/N, ADDR/MASK, "any", "all" or "default".
func ipPrefix(s string, six bool) (netip.Addr, int, bool) {
	bits := 32
	zero := netip.IPv4Unspecified()
	if six {
		bits, zero = 128, netip.IPv6Unspecified()
	}
	switch s {
	case "any", "all", "default":
		return zero, 0, true
	}
	text, mask, has := strings.Cut(s, "/")
	var addr netip.Addr
	ok := false
	if six {
		a, err := netip.ParseAddr(text)
		addr, ok = a, err == nil && a.Is6() && !a.Is4In6() && a.Zone() == ""
	} else {
		addr, ok = address4(text)
	}
	if !ok {
		return addr, 0, false
	}
	if !has {
		return addr, bits, true
	}
	if n, good := number(mask, 0, 16); good {
		return addr, int(n), n <= uint64(bits)
	}
	m, good := address4(mask)
	if six || !good {
		return addr, 0, false
	}
	b := m.As4()
	ones, size := net.IPMask(b[:]).Size()
	return addr, ones, size == 32
}

// prefixMask is the mask of n leading bits.
func prefixMask(n, bytes int) []byte {
	m := make([]byte, bytes)
	for i := range n {
		m[i/8] |= 0x80 >> (i % 8)
	}
	return m
}

var rateUnits = map[string]float64{
	"bit": 1, "kibit": 1024, "kbit": 1e3, "mibit": 1 << 20, "mbit": 1e6, "gibit": 1 << 30, "gbit": 1e9,
	"tibit": 1 << 40, "tbit": 1e12, "bps": 8, "kibps": 8 << 10, "kbps": 8e3, "mibps": 8 << 20, "mbps": 8e6,
	"gibps": 8 << 30, "gbps": 8e9, "tibps": 8 << 40, "tbps": 8e12,
}

// rate reads a rate and returns bytes a second.
func rate(s string) (uint64, bool) {
	value, unit, ok := splitUnit(s)
	if !ok {
		return 0, false
	}
	factor := 1.0
	if unit != "" {
		if factor, ok = rateUnits[strings.ToLower(unit)]; !ok {
			return 0, false
		}
	}
	r := value * factor / 8
	return uint64(r), r >= 0 && r < math.MaxUint64
}

var sizeUnits = map[string]float64{
	"b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30, "gb": 1 << 30,
	"kbit": 1024 / 8, "mbit": 1 << 20 / 8, "gbit": 1 << 30 / 8,
}

// size reads a number of bytes.
func size(s string) (uint32, bool) {
	value, unit, ok := splitUnit(s)
	if !ok {
		return 0, false
	}
	if unit != "" {
		factor, known := sizeUnits[strings.ToLower(unit)]
		if !known {
			return 0, false
		}
		value *= factor
	}
	return uint32(value), value >= 0 && value <= math.MaxUint32
}

func splitUnit(s string) (value float64, unit string, ok bool) {
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	value, err := strconv.ParseFloat(s[:i], 64)
	return value, s[i:], err == nil
}
