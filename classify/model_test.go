package classify

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"verdict/internal/simd"
)

// model is the plain definition: rules in order, compared one by one.
type model []Rule

func (m model) next(values [][]byte, from uint32) uint32 {
	best := uint32(None)
	for i := range m {
		if r := &m[i]; r.Order >= from && r.Order < best && r.Matches(values) {
			best = r.Order
		}
	}
	return best
}

// drawFields draws a layout.
func drawFields(t *rapid.T) []Field {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Field {
		return Field{Bits: rapid.SampledFrom([]int{1, 4, 8, 9, 16, 24, 32, 33, 48, 64, 128}).Draw(t, "bits")}
	}), 1, 5).Draw(t, "fields")
}

// drawValue draws a value of a field; few different ones, so that rules meet.
func drawValue(t *rapid.T, f Field) []byte {
	b := make([]byte, (f.Bits+7)/8)
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		for i := range b {
			b[i] = rapid.Byte().Draw(t, "byte")
		}
	case 1:
		for i := range b {
			b[i] = 0xff
		}
	default:
		b[0] = rapid.SampledFrom([]byte{0, 1, 10, 0x80}).Draw(t, "first")
		b[len(b)-1] = rapid.SampledFrom([]byte{0, 1, 2, 3, 0xfe, 0xff}).Draw(t, "last")
	}
	if extra := 8*len(b) - f.Bits; extra > 0 {
		b[0] &= 0xff >> extra
	}
	return b
}

func drawConstraint(t *rapid.T, fields []Field) Constraint {
	i := rapid.IntRange(0, len(fields)-1).Draw(t, "field")
	f := fields[i]
	a, b := drawValue(t, f), drawValue(t, f)
	var c Constraint
	switch rapid.IntRange(0, 3).Draw(t, "form") {
	case 0:
		c = Exact(i, a)
	case 1:
		c = Prefix(i, a, rapid.IntRange(0, 8*len(a)).Draw(t, "length"))
	case 2:
		c = Between(i, a, b)
	case 3:
		c = Masked(i, a, b)
		if rapid.Bool().Draw(t, "range") {
			c.To = drawValue(t, f)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "inverted") == 0 {
		c = Not(c)
	}
	return c
}

// drawRules draws rules that can be stored.
func drawRules(t *rapid.T, l *Layout, fields []Field, most int) []Rule {
	n := rapid.IntRange(0, most).Draw(t, "rules")
	var rules []Rule
	for i := range n {
		r := Rule{Order: uint32(i * 2), Match: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Constraint { return drawConstraint(t, fields) }), 0, 3).Draw(t, "match")}
		if _, err := l.alternatives(&r); err == nil {
			rules = append(rules, r)
		}
	}
	return rules
}

func drawKey(t *rapid.T, l *Layout, fields []Field) (Key, [][]byte) {
	k, values := l.NewKey(), make([][]byte, len(fields))
	for i, f := range fields {
		values[i] = drawValue(t, f)
		l.Set(k, i, values[i])
	}
	return k, values
}

func eachLevel(t *testing.T, test func(t *testing.T)) {
	for level := simd.Generic; level <= simd.Supported(); level++ {
		t.Run(level.String(), func(t *testing.T) {
			defer simd.Set(level)()
			test(t)
		})
	}
}

// TestTablesAgreeWithTheModel draws layouts, rules and keys, and asks for all
// rules that match, in order.
func TestTablesAgreeWithTheModel(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			fields := drawFields(t)
			l, err := NewLayout(fields...)
			if err != nil {
				t.Fatal(err)
			}
			rules := drawRules(t, l, fields, rapid.SampledFrom([]int{3, 20, 200}).Draw(t, "most"))
			table, err := New(l, rules, Options{VectorMemory: rapid.SampledFrom([]int{0, 1000}).Draw(t, "memory")})
			stored(t, err)
			for range 20 {
				k, values := drawKey(t, l, fields)
				agree(t, table, rules, k, values)
			}
		})
	})
}

// stored passes over drawn rules that look at more words than a table holds.
// Any other error is a fault.
func stored(t *rapid.T, err error) {
	var limit *LayoutError
	if errors.As(err, &limit) {
		t.Skip(limit)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func agree(t *rapid.T, table *Table, rules model, k Key, values [][]byte) {
	for from := uint32(0); ; {
		want, got := rules.next(values, from), table.Next(k, from)
		if got != want {
			t.Fatalf("%v: from %d on: rule %d, want %d (%v)", values, from, got, want, table.Stats())
		}
		if want == None {
			return
		}
		from = want + 1
	}
}

// Every structure alone agrees with the model, whatever the shape chosen.
func TestStructuresAgreeWithTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := []Field{{Bits: 32}, {Bits: 16}}
		l, _ := NewLayout(fields...)
		rules := drawRules(t, l, fields, 150)
		r, err := l.rowsOf(rules)
		if err != nil {
			t.Fatal(err)
		}
		if r.count() == 0 {
			t.Skip("no rows drawn")
		}
		table := &Table{layout: l}
		lanes, err := table.place(r)
		stored(t, err)
		tables, rest := newTables(r, lanes, table.lines)
		left := newScan(r.some(rest), lanes)
		ways := map[string]func(k []uint32, from uint32) uint32{
			"scan":    func(k []uint32, from uint32) uint32 { return newScan(r, lanes).next(k, from, None) },
			"vectors": func(k []uint32, from uint32) uint32 { return newVectors(r, lanes, 1<<30).next(k, from, None) },
			"tables": func(k []uint32, from uint32) uint32 {
				return left.next(k, from, tables.next(k, from, None))
			},
		}
		for range 8 {
			k, values := drawKey(t, l, fields)
			var scratch [8 * maxLines]uint32
			table.expand(scratch[:], k)
			from := uint32(rapid.IntRange(0, 60).Draw(t, "from"))
			want := model(rules).next(values, from)
			for name, next := range ways {
				if got := next(scratch[:8*table.lines], from); got != want {
					t.Fatalf("%s: %v from %d: rule %d, want %d", name, values, from, got, want)
				}
			}
		}
	})
}

// Constraints and the boxes made of them agree.
func TestBoxesAgreeWithConstraints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t)
		l, err := NewLayout(fields...)
		if err != nil {
			t.Fatal(err)
		}
		c := drawConstraint(t, fields)
		d, err := c.boxes(&l.fields[c.Field])
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			k, values := drawKey(t, l, fields)
			got := slices.ContainsFunc(d, func(b box) bool {
				for _, x := range b {
					if !x.Contains(k[lane(x.word)] & x.mask) {
						return false
					}
				}
				return true
			})
			if want := c.Matches(values[c.Field]); got != want {
				t.Fatalf("%+v on %x: %v, want %v; boxes %+v", c, values[c.Field], got, want, d)
			}
		}
	})
}

// be32 and be16 are values of fields.
func be32(x uint32) []byte { return binary.BigEndian.AppendUint32(nil, x) }

func be16(x uint16) []byte { return binary.BigEndian.AppendUint16(nil, x) }
