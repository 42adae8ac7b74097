package workload

import (
	"bytes"
	"fmt"
	"testing"

	"verdict"
	"verdict/set"
	"verdict/set/elem"
)

// sets are all shapes.
var sets = append([]*ElementShape{Disjoint, Shared, Addresses, Ranges, Ranges6}, KernelShapes...)

// Every element of a series is accepted by a set, keys that shall be in it
// are, and keys that shall not are not.
func TestElementShapes(t *testing.T) {
	const n = 5000
	for _, s := range sets {
		t.Run(s.Name, func(t *testing.T) {
			rules, err := verdict.Parse(string(s.Text(n, 1)))
			if err != nil {
				t.Fatal(err)
			}
			stored := rules.Rules().Tables[0].Set("s").Elements
			if got := stored.Count(); got != n {
				t.Fatalf("%d elements in the set, want %d", got, n)
			}
			for _, hit := range []bool{true, false} {
				keys := s.Keys(n, 1000, hit, 2)
				for k := range bytesOf(keys, s.KeyLen()) {
					if found := stored.Lookup(k, 0) != nil; found != hit {
						t.Fatalf("key %x: found %v, want %v", k, found, hit)
					}
				}
			}
		})
	}
}

func bytesOf(keys []byte, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for ; len(keys) > 0; keys = keys[size:] {
			if !yield(keys[:size]) {
				return
			}
		}
	}
}

// The bounds in binary are those of the text.
func TestElementBounds(t *testing.T) {
	for _, s := range sets {
		if s.Exact || len(s.Fields) == 1 {
			continue
		}
		d := elem.Desc{KeyLen: s.KeyLen(), Flags: elem.Interval | elem.Concat}
		for _, f := range s.Fields {
			d.Fields = append(d.Fields, uint8(f.Len))
		}
		built, err := set.New(d)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			low, high := s.AppendBounds(nil, nil, i)
			if _, err := built.Insert(elem.New(low, high), 0); err != nil {
				t.Fatalf("%s: element %d: %v", s.Name, i, err)
			}
		}
		built.Commit(0)
		for k := range bytesOf(s.Keys(1000, 1000, true, 3), d.KeyLen) {
			if built.Lookup(k, 0) == nil {
				t.Fatalf("%s: %x is in no element", s.Name, k)
			}
		}
	}
}

// A frame has the values of its key, and the rule of the text finds it.
func TestElementFrames(t *testing.T) {
	for _, s := range sets {
		length := 0
		for k := range bytesOf(s.Keys(100, 50, true, 4), s.KeyLen()) {
			frame := s.Frame(k)
			if length == 0 {
				length = len(frame)
			}
			if len(frame) != length {
				t.Fatalf("%s: frames of %d and %d bytes", s.Name, length, len(frame))
			}
			if got := s.keyOf(frame); !bytes.Equal(got, k) {
				t.Fatalf("%s: the frame has %x, the key is %x", s.Name, got, k)
			}
		}
	}
}

// keyOf reads the fields of a key from a frame.
func (s *ElementShape) keyOf(frame []byte) []byte {
	six := frame[12] == 0x86
	var key []byte
	for _, f := range s.Fields {
		var value []byte
		switch {
		case f == fieldAddr4:
			value = frame[26:30]
		case f == fieldAddr6:
			value = frame[22:38]
		case f == fieldMAC:
			value = frame[6:12]
		case f == fieldPort && six:
			value = frame[56:58]
		case f == fieldPort:
			value = frame[36:38]
		case f == fieldProto && six:
			value = frame[20:21]
		case f == fieldProto:
			value = frame[23:24]
		default:
			panic(fmt.Sprint("field ", f))
		}
		key = append(key, value...)
		if len(s.Fields) > 1 {
			key = append(key, make([]byte, (f.Len+3)&^3-f.Len)...)
		}
	}
	return key
}

func TestOrder(t *testing.T) {
	seen := map[int]bool{}
	for _, i := range Order(1000, 7) {
		if i < 0 || i >= 1000 || seen[i] {
			t.Fatal(i)
		}
		seen[i] = true
	}
}
