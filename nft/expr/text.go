package expr

import (
	"strconv"

	"verdict/catalog"
)

const hexDigits = "0123456789abcdef"

// AppendValue appends a constant as bytecode text shows it: most significant
// byte first, in words of four bytes, each with 0x. Network-order values are
// in that order already; those with Host are reversed.
func AppendValue(b []byte, v Value) []byte {
	n := len(v.Bytes)
	for i := range n {
		if i%4 == 0 {
			if i > 0 {
				b = append(b, ' ')
			}
			b = append(b, "0x"...)
		}
		b = appendHexByte(b, v.at(i))
	}
	return b
}

// at is the i-th byte in the order of text.
func (v Value) at(i int) byte {
	if v.Host {
		return v.Bytes[len(v.Bytes)-1-i]
	}
	return v.Bytes[i]
}

func appendHexByte(b []byte, x byte) []byte {
	return append(b, hexDigits[x>>4], hexDigits[x&15])
}

// AppendElementValue appends a value as element lines of sets show it: as
// AppendValue, but without 0x.
func AppendElementValue(b []byte, v Value) []byte {
	for i := range v.Bytes {
		if i%4 == 0 && i > 0 {
			b = append(b, ' ')
		}
		b = appendHexByte(b, v.at(i))
	}
	return b
}

// ElementField is one part of a concatenated key or data.
type ElementField struct {
	Len  int  // bytes, without the padding to whole registers
	Host bool // a little-endian number, shown most significant byte first
}

// AppendElementFields appends a concatenation as element lines show it: the
// parts at their own width, joined by ` . `. Every part takes whole registers
// of four bytes in key. Bytes that are missing in key are left out.
func AppendElementFields(b, key []byte, fields []ElementField) []byte {
	for i, f := range fields {
		if i > 0 {
			b = append(b, " . "...)
		}
		part := key[:min(f.Len, len(key))]
		b = AppendElementValue(b, Value{Bytes: part, Host: f.Host})
		key = key[min((f.Len+3)&^3, len(key)):]
	}
	return b
}

// AppendVerdict appends a verdict: accept, or jump -> chain.
func AppendVerdict(b []byte, v Verdict) []byte {
	b = append(b, v.Kind.String()...)
	if v.Kind == catalog.VerdictJump || v.Kind == catalog.VerdictGoto {
		b = append(b, " -> "...)
		b = append(b, v.Chain...)
	}
	return b
}

// AppendData appends what an immediate or a map element holds, in the form of
// element lines.
func AppendData(b []byte, d Data) []byte {
	if d.Verdict != nil {
		return AppendVerdict(b, *d.Verdict)
	}
	return AppendElementValue(b, d.Value)
}

// AppendRule appends the instructions of a rule, each on a line of its own in
// brackets after two blanks.
func AppendRule(b []byte, rule []Expr) []byte {
	for _, e := range rule {
		b = append(b, "  [ "...)
		b = e.AppendText(b)
		b = append(b, " ]\n"...)
	}
	return b
}

// appendReg appends ` reg N` after what is there.
func appendReg(b []byte, r Reg) []byte {
	b = append(b, "reg "...)
	return appendUint(b, uint64(r))
}

func appendUint(b []byte, n uint64) []byte { return strconv.AppendUint(b, n, 10) }

func appendHex(b []byte, n uint64) []byte {
	return strconv.AppendUint(append(b, "0x"...), n, 16)
}

// appendNamed appends ` name N`.
func appendNamed(b []byte, name string, n uint64) []byte {
	b = append(append(b, ' '), name...)
	return appendUint(append(b, ' '), n)
}

// appendNamedReg appends ` name reg N` if the register is there.
func appendNamedReg(b []byte, name string, r Reg, present bool) []byte {
	if !present {
		return b
	}
	b = append(append(b, ' '), name...)
	return appendReg(append(b, ' '), r)
}

// appendFlags appends ` flags 0x2` unless there are none.
func appendFlags(b []byte, flags uint32) []byte {
	if flags == 0 {
		return b
	}
	return appendHex(append(b, " flags "...), uint64(flags))
}
