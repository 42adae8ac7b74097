package decompile

import (
	"encoding/hex"
	"math/big"
	"strconv"

	"verdict/catalog"
	"verdict/nft/syntax"
)

// wording says how a value is written where it stands.
type wording uint8

const (
	symbolic wording = iota // with names
	plain                   // as numbers: the ends of ranges
)

// literal writes a value, given in register bytes.
func (o *Options) literal(f *format, v []byte) syntax.Expr {
	return o.write(f, bigEndian(f, v), symbolic)
}

// bound writes an end of a range: names of symbols, users, services and hosts
// are not used there.
func (o *Options) bound(f *format, v []byte) syntax.Expr {
	return o.write(f, bigEndian(f, v), plain)
}

// write writes a value whose bytes are most significant first.
func (o *Options) write(f *format, v []byte, w wording) syntax.Expr {
	if f.shift != 0 {
		v = shifted(v, f.shift)
	}
	if o.json && len(v) <= 8 {
		if l, ok := o.jsonLiteral(f, uint64Of(v), w); ok {
			return l
		}
	}
	switch f.form {
	case catalog.FormIPv4, catalog.FormIPv6:
		return o.address(f, v, w)
	case catalog.FormMAC:
		return macAddress(v)
	case catalog.FormString:
		return quotedString(v, f.bits/8)
	case catalog.FormDate:
		return o.date(uint64Of(v))
	case catalog.FormHour:
		return o.hour(uint64Of(v))
	case catalog.FormDuration:
		return o.duration(f, uint64Of(v), w)
	case catalog.FormLabel:
		return o.labels(v)
	case catalog.FormBitmask:
		if w == symbolic {
			return o.flags(f, uint64Of(v))
		}
		return hexNumber(uint64Of(v), 0)
	}
	if len(v) > 8 && !isZero(v[:len(v)-8]) {
		return bigNumber(f, v)
	}
	return o.number(f, uint64Of(v), w)
}

// number writes the values that fit 64 bits.
func (o *Options) number(f *format, n uint64, w wording) syntax.Expr {
	switch f.form {
	case catalog.FormProtocol:
		if w == symbolic && !o.NumericProtocol {
			return o.symbol(f, n)
		}
		return decimal(n)
	case catalog.FormService:
		if w == symbolic && o.ServiceNames {
			if name := o.serviceName(uint16(n)); name != "" {
				return quoted(name)
			}
		}
		return decimal(n)
	case catalog.FormEtherType:
		return o.symbolOrHex(f, n, w, 4)
	case catalog.FormMark:
		if w == symbolic && o.MarkName != nil {
			if name := o.MarkName(uint32(n)); name != "" {
				return quoted(name)
			}
		}
		return hexNumber(n, 8)
	case catalog.FormIfIndex:
		return o.ifIndex(uint32(n), w)
	case catalog.FormUID:
		return o.owner(o.UserName, n, w)
	case catalog.FormGID:
		return o.owner(o.GroupName, n, w)
	case catalog.FormClassID:
		return o.classID(uint32(n))
	case catalog.FormHex:
		return o.symbolOrHex(f, n, w, f.hexDigits())
	}
	if w == symbolic && !o.NumericSymbols && !f.numeric && len(f.typ.Symbols) > 0 {
		return o.symbol(f, n)
	}
	return decimal(n)
}

// hexDigits is the width of hexadecimal numbers of the type, 0 for as many
// digits as needed.
func (f *format) hexDigits() int {
	if f.typ.Bits == 0 {
		return 0
	}
	return (f.typ.Bits + 7) / 8 * 2
}

func (o *Options) symbol(f *format, n uint64) syntax.Expr {
	if s, ok := f.typ.SymbolByValue(n); ok {
		if f.typ.QuotedSymbols {
			return quoted(s)
		}
		return word_(s)
	}
	return decimal(n)
}

func (o *Options) symbolOrHex(f *format, n uint64, w wording, digits int) syntax.Expr {
	if w == symbolic && !o.NumericSymbols {
		if s, ok := f.typ.SymbolByValue(n); ok {
			return word_(s)
		}
	}
	return hexNumber(n, digits)
}

func (o *Options) serviceName(port uint16) string {
	if o.ServiceName != nil {
		return o.ServiceName(port)
	}
	name, _ := catalog.InetService.SymbolByValue(uint64(port))
	return name
}

func (o *Options) ifIndex(index uint32, w wording) syntax.Expr {
	if w == symbolic && o.InterfaceName != nil {
		if name := o.InterfaceName(index); name != "" {
			return quoted(name)
		}
	}
	return decimal(uint64(index))
}

func (o *Options) owner(names func(uint32) string, id uint64, w wording) syntax.Expr {
	if w == symbolic && o.UserNames && names != nil {
		if name := names(uint32(id)); name != "" {
			return quoted(name)
		}
	}
	return decimal(id)
}

// classID writes a traffic class: major and minor number in hexadecimal.
func (o *Options) classID(n uint32) syntax.Expr {
	if s, ok := catalog.ClassID.SymbolByValue(uint64(n)); ok {
		return word_(s)
	}
	b := strconv.AppendUint(nil, uint64(n>>16), 16)
	b = append(b, ':')
	return word_(string(strconv.AppendUint(b, uint64(n&0xffff), 16)))
}

func word_(s string) *syntax.Literal { return &syntax.Literal{Kind: syntax.LitWord, Text: s} }

func name(s string) *syntax.Literal { return word_(s) }

func quoted(s string) *syntax.Literal { return &syntax.Literal{Kind: syntax.LitQuoted, Text: s} }

func decimal(n uint64) *syntax.Literal {
	return &syntax.Literal{Kind: syntax.LitNumber, Text: strconv.FormatUint(n, 10), Value: n}
}

func hexNumber(n uint64, digits int) *syntax.Literal {
	b := make([]byte, 0, 18)
	b = append(b, "0x"...)
	for shift := digits*4 - 4; shift > 0 && n>>shift == 0; shift -= 4 {
		b = append(b, '0')
	}
	return &syntax.Literal{Kind: syntax.LitNumber, Text: string(strconv.AppendUint(b, n, 16)), Value: n}
}

// bigNumber writes numbers of more than 64 bits.
func bigNumber(f *format, v []byte) *syntax.Literal {
	l := &syntax.Literal{Kind: syntax.LitNumber, Value: uint64Of(v)}
	if f.form == catalog.FormHex {
		digits := hex.EncodeToString(v)
		for digits[0] == '0' {
			digits = digits[1:]
		}
		l.Text = "0x" + digits
		return l
	}
	l.Text = new(big.Int).SetBytes(v).String()
	return l
}

// quotedString writes a string value up to its first null byte. One that is
// shorter than its field and has none is a prefix: `"eth*"`. A literal star at
// the end is escaped.
func quotedString(v []byte, field int) *syntax.Literal {
	end := len(v)
	for i, b := range v {
		if b == 0 {
			end = i
			break
		}
	}
	s := string(v[:end])
	switch {
	case end == len(v) && len(v) < field:
		s += "*"
	case end > 0 && s[end-1] == '*':
		s = s[:end-1] + `\*`
	}
	return quoted(s)
}
