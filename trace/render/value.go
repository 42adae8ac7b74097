package render

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"verdict/catalog"
	"verdict/packet"
)

// load reads a header field as the bytes that hold it, shifted down so that
// the field's last bit is the last bit.
func load(v *packet.View, base packet.Base, f *catalog.Field) ([]byte, bool) {
	offset, length := f.Bytes()
	raw := make([]byte, length)
	if v.Load(base, offset, length, raw) != packet.OK {
		return nil, false
	}
	shift := 8*(offset+length) - (f.Offset + f.Bits)
	if f.Bits > 64 || (shift == 0 && f.Bits == 8*length) {
		return raw, true
	}
	value := number(raw) >> shift & (1<<f.Bits - 1)
	for i := range raw {
		raw[length-1-i] = byte(value >> (8 * i))
	}
	return raw, true
}

func number(b []byte) uint64 {
	var n uint64
	for _, x := range b {
		n = n<<8 | uint64(x)
	}
	return n
}

// format prints a field's value in the form of its type.
func format(f *catalog.Field, value []byte) string {
	n := number(value)
	switch f.NumberForm() {
	case catalog.FormIPv4, catalog.FormIPv6:
		if a, ok := netip.AddrFromSlice(value); ok {
			return a.String()
		}
	case catalog.FormMAC:
		parts := make([]string, len(value))
		for i, b := range value {
			parts[i] = fmt.Sprintf("%02x", b)
		}
		return strings.Join(parts, ":")
	case catalog.FormBitmask:
		return "== " + flags(f.Type, n)
	case catalog.FormHex:
		return fmt.Sprintf("0x%0*x", (f.Bits+3)/4, n)
	}
	if name, ok := f.Type.SymbolByValue(n); ok && f.Type.Form != catalog.FormService {
		return name
	}
	return strconv.FormatUint(n, 10)
}

// flags prints the names of set bits, ascending.
func flags(t *catalog.Type, n uint64) string {
	var names []string
	for bit := uint64(1); bit != 0 && bit <= n; bit <<= 1 {
		if n&bit == 0 {
			continue
		}
		if name, ok := t.SymbolByValue(bit); ok {
			names = append(names, name)
		} else {
			names = append(names, fmt.Sprintf("0x%x", bit))
		}
	}
	if len(names) == 0 {
		return "0x0"
	}
	return strings.Join(names, " | ")
}
