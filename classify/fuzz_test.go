package classify

import "testing"

// bytesOf hands out the bytes of a fuzzer's input, zeros at the end.
type bytesOf struct{ left []byte }

func (b *bytesOf) next() byte {
	if len(b.left) == 0 {
		return 0
	}
	x := b.left[0]
	b.left = b.left[1:]
	return x
}

// value is a value of a field with few different bytes.
func (b *bytesOf) value(f Field) []byte {
	v := make([]byte, (f.Bits+7)/8)
	for i := range v {
		v[i] = []byte{0, 1, 0x80, 0xff}[b.next()&3]
	}
	if extra := 8*len(v) - f.Bits; extra > 0 {
		v[0] &= 0xff >> extra
	}
	return v
}

// FuzzTable makes rules and keys of any bytes and compares a table and a live
// one with the plain definition.
func FuzzTable(f *testing.F) {
	f.Add([]byte{3, 0x10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	f.Add([]byte{40, 0, 0, 1, 1, 2, 2, 3, 3, 0x81, 0x82, 0x83, 0xff, 0xfe, 0xfd})
	fields := []Field{{"a", 32}, {"b", 16}, {"c", 40}, {"d", 5}}
	l, err := NewLayout(fields...)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := &bytesOf{data}
		var rules model
		for i := range int(b.next()) {
			r := Rule{Order: uint32(2 * i)}
			for range b.next() & 3 {
				form := b.next()
				at := int(form & 3)
				c := Constraint{Field: at, From: b.value(fields[at]), To: b.value(fields[at]), Inverted: form&0x80 != 0}
				switch form >> 4 & 3 {
				case 0:
					c.To = c.From
				case 1:
					c.Mask = b.value(fields[at])
				case 2:
					c = Prefix(at, c.From, int(b.next()&63))
				}
				r.Match = append(r.Match, c)
			}
			if _, err := l.Parts(&r); err == nil {
				rules = append(rules, r)
			}
		}
		table, err := New(l, rules, Options{VectorMemory: 1 << 12})
		if err != nil {
			return // too many columns
		}
		live, err := NewLive(l, rules[:len(rules)/2], Options{})
		if err != nil {
			return
		}
		for _, r := range rules[len(rules)/2:] {
			if live.Add(r) != nil {
				return
			}
		}
		for range 20 {
			k, values := l.NewKey(), make([][]byte, len(fields))
			for i := range fields {
				values[i] = b.value(fields[i])
				l.Set(k, i, values[i])
			}
			for from := uint32(0); ; {
				want := rules.next(values, from)
				if got := table.Next(k, from); got != want {
					t.Fatalf("from %d: rule %d, want %d (%v)", from, got, want, table.Stats())
				}
				if got := live.View().Next(k, from); got != want {
					t.Fatalf("live, from %d: rule %d, want %d", from, got, want)
				}
				if want == None {
					break
				}
				from = want + 1
			}
		}
	})
}
