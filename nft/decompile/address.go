package decompile

import (
	"net/netip"

	"verdict/catalog"
	"verdict/nft/syntax"
)

const hexDigitsText = "0123456789abcdef"

func (o *Options) address(f *format, v []byte, w wording) syntax.Expr {
	var a netip.Addr
	if f.form == catalog.FormIPv4 {
		a = netip.AddrFrom4([4]byte(padLeft(v, 4)))
	} else {
		a = netip.AddrFrom16([16]byte(padLeft(v, 16)))
	}
	if w == symbolic && o.HostNames && o.HostName != nil {
		if name := o.HostName(a); name != "" {
			return word_(name)
		}
	}
	return word_(addressText(a))
}

// addressText writes an address as the C library does: RFC 5952, and with
// dotted quads for IPv4-compatible addresses (::10.0.0.1) as for mapped ones.
func addressText(a netip.Addr) string {
	if a.Is4() {
		return a.String()
	}
	b := a.As16()
	if [12]byte(b[:12]) == ([12]byte{}) && (b[12] != 0 || b[13] != 0) {
		return "::" + netip.AddrFrom4([4]byte(b[12:])).String()
	}
	return a.String()
}

func padLeft(v []byte, length int) []byte {
	if len(v) == length {
		return v
	}
	if len(v) > length {
		return v[len(v)-length:]
	}
	out := make([]byte, length)
	copy(out[length-len(v):], v)
	return out
}

func macAddress(v []byte) *syntax.Literal {
	b := make([]byte, 0, 3*len(v))
	for i, x := range v {
		if i > 0 {
			b = append(b, ':')
		}
		b = append(b, hexDigitsText[x>>4], hexDigitsText[x&15])
	}
	return word_(string(b))
}

// prefix writes the addresses that share the leading bits of v, which may
// hold no more bytes than the prefix needs.
func (o *Options) prefix(f *format, v []byte, length int) *syntax.Prefix {
	full := *f
	full.shift = 0
	return &syntax.Prefix{Base: o.write(&full, padded(v, f.typ.Bytes()), plain), Length: decimal(uint64(length))}
}
