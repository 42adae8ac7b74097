package build

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"verdict/diag"
)

// parseNumber reads a decimal, hexadecimal (0x) or octal (0) number that
// fits into bits.
func parseNumber(w word, bits int) (uint64, *Error) {
	value, err := strconv.ParseUint(w.text, 0, 64)
	limit := uint64(math.MaxUint64)
	if bits < 64 {
		limit = 1<<bits - 1
	}
	if errors.Is(err, strconv.ErrRange) || err == nil && value > limit {
		return 0, w.errorf("%s does not fit into %d bits: at most %d", w.text, bits, limit)
	}
	if err != nil {
		return 0, w.errorf("%q is not a number", w.text)
	}
	return value, nil
}

func (w word) errorf(format string, args ...any) *Error {
	return &Error{Offset: w.offset, Length: w.length, Message: fmt.Sprintf(format, args...)}
}

// suggest adds the nearest candidate to an error about the word.
func (w word) suggest(err *Error, candidates []string) *Error {
	err.Suggestion = diag.Nearest(w.text, candidates)
	return err
}

// symbolOrNumber reads one of the symbols, or a number.
func symbolOrNumber(w word, names symbols, bits int) (uint64, *Error) {
	if value, ok := names.value(w.text); ok {
		return value, nil
	}
	if c := w.text; c == "" || c[0] < '0' || c[0] > '9' {
		if names == nil {
			return 0, w.errorf("%q is not a number", w.text)
		}
		return 0, w.suggest(w.errorf("unknown value %q", w.text), names.names())
	}
	return parseNumber(w, bits)
}

// parseFlags reads flags joined by commas or bars.
func parseFlags(w word, names symbols, bits int) (uint64, *Error) {
	var value uint64
	start := w.offset
	if w.quoted {
		start++
	}
	for at := 0; at < len(w.text); at++ {
		n := strings.IndexAny(w.text[at:], ",|")
		if n < 0 {
			n = len(w.text) - at
		}
		if n == 0 {
			continue
		}
		bit, err := symbolOrNumber(word{text: w.text[at : at+n], offset: start + at, length: n}, names, bits)
		if err != nil {
			return 0, err
		}
		value |= bit
		at += n
	}
	return value, nil
}

// parseValue reads the value of a field as bytes, most significant first,
// right-aligned in whole bytes.
func (f *field) parseValue(w word) ([]byte, *Error) {
	switch f.kind {
	case ipv4Addr, ipv6Addr:
		a, err := netip.ParseAddr(w.text)
		if err != nil || a.Zone() != "" {
			return nil, w.errorf("%q is not an address", w.text)
		}
		if a.Is4() != (f.kind == ipv4Addr) {
			if a.Is4() {
				return nil, w.errorf("%s is an IPv4 address, %s wants IPv6", w.text, f.name)
			}
			return nil, w.errorf("%s is an IPv6 address, %s wants IPv4", w.text, f.name)
		}
		return a.AsSlice(), nil
	case etherAddr:
		a, err := net.ParseMAC(w.text)
		if err != nil || len(a) != 6 {
			return nil, w.errorf("%q is not a link-layer address", w.text)
		}
		return a, nil
	}
	var value uint64
	var err *Error
	switch f.kind {
	case flags:
		value, err = parseFlags(w, f.symbols, f.bits)
	case port:
		value, err = symbolOrNumber(w, services, f.bits)
	default:
		value, err = symbolOrNumber(w, f.symbols, f.bits)
	}
	if err != nil {
		return nil, err
	}
	b := make([]byte, (f.bits+7)/8)
	setBits(b, len(b)*8-f.bits, f.bits, value)
	return b, nil
}

// put writes a parsed value into a header.
func (f *field) put(b, value []byte) {
	if f.bit%8 == 0 && f.bits%8 == 0 {
		copy(b[f.bit/8:], value)
		return
	}
	setBits(b, f.bit, f.bits, getBits(value, len(value)*8-f.bits, f.bits))
}

// format writes the field's value as parseValue reads it.
func (f *field) format(b []byte) string {
	switch f.kind {
	case ipv4Addr:
		return netip.AddrFrom4([4]byte(b[f.bit/8 : f.bit/8+4])).String()
	case ipv6Addr:
		return netip.AddrFrom16([16]byte(b[f.bit/8 : f.bit/8+16])).String()
	case etherAddr:
		return net.HardwareAddr(b[f.bit/8 : f.bit/8+6]).String()
	}
	value := getBits(b, f.bit, f.bits)
	if f.kind == flags {
		return formatFlags(value, f.symbols)
	}
	if name, ok := f.symbols.name(value); ok {
		return name
	}
	if f.hex {
		return fmt.Sprintf("0x%0*x", (f.bits+3)/4, value)
	}
	return strconv.FormatUint(value, 10)
}

func formatFlags(value uint64, names symbols) string {
	if value == 0 {
		return "0x0"
	}
	var set []string
	for _, s := range names {
		if value&s.value != 0 {
			set = append(set, s.name)
		}
	}
	return strings.Join(set, ",")
}

// parseBytes reads raw bytes: a quoted string as it is, or 0x and hex.
func parseBytes(w word) ([]byte, *Error) {
	if w.quoted {
		return []byte(w.text), nil
	}
	digits, ok := strings.CutPrefix(w.text, "0x")
	if !ok {
		return nil, w.errorf("bytes are written as \"text\" or 0x0011, not %q", w.text)
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		return nil, w.errorf("%q is not a whole number of hexadecimal bytes", w.text)
	}
	return b, nil
}
