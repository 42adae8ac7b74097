package set

import (
	"errors"
	"testing"

	"verdict/set/elem"
)

func TestSelect(t *testing.T) {
	port := []uint8{4, 2}
	for _, c := range []struct {
		name string
		d    Desc
		want Kind
	}{
		{"address", Desc{KeyLen: 4}, Rhash},
		{"address with size", Desc{KeyLen: 4, Size: 10}, HashFast},
		{"mac with size", Desc{KeyLen: 6, Size: 10}, Hash},
		{"map with size", Desc{KeyLen: 4, Size: 10, Flags: elem.Map}, HashFast},
		{"timeout", Desc{KeyLen: 4, Size: 10, Flags: elem.Timeout}, Rhash},
		{"dynamic", Desc{KeyLen: 4, Size: 10, Flags: elem.Eval}, Rhash},
		{"port", Desc{KeyLen: 2}, Bitmap},
		{"port with size", Desc{KeyLen: 2, Size: 10}, Bitmap},
		{"port map", Desc{KeyLen: 2, Flags: elem.Map}, Rhash},
		{"port map with size", Desc{KeyLen: 2, Size: 4, Flags: elem.Map}, Hash},
		{"port with counter", Desc{KeyLen: 2, Exprs: 1}, Rhash},
		{"few ports, little memory", Desc{KeyLen: 2, Size: 10, Policy: elem.Memory}, Hash},
		{"many ports, little memory", Desc{KeyLen: 2, Size: 60000, Policy: elem.Memory}, Bitmap},
		{"ports, little memory, no size", Desc{KeyLen: 2, Policy: elem.Memory}, Bitmap},
		{"protocol, little memory", Desc{KeyLen: 1, Size: 1, Policy: elem.Memory}, Hash},
		{"protocols, little memory", Desc{KeyLen: 1, Size: 10, Policy: elem.Memory}, Bitmap},
		{"range", Desc{KeyLen: 4, Flags: elem.Interval}, Rbtree},
		{"port range", Desc{KeyLen: 2, Flags: elem.Interval}, Rbtree},
		{"range map with timeout", Desc{KeyLen: 4, Flags: elem.Interval | elem.Map | elem.Timeout}, Rbtree},
		{"concatenation", Desc{KeyLen: 8, Fields: port, Flags: elem.Concat}, Rhash},
		{"concatenation with size", Desc{KeyLen: 8, Fields: port, Size: 1, Flags: elem.Concat}, Hash},
		{"ranges in a concatenation", Desc{KeyLen: 8, Fields: port, Flags: elem.Concat | elem.Interval}, Pipapo},
		{"the same with size", Desc{KeyLen: 8, Fields: port, Size: 5, Flags: elem.Concat | elem.Interval}, Pipapo},
		{"the same, little memory", Desc{KeyLen: 8, Fields: port, Size: 5, Policy: elem.Memory, Flags: elem.Concat | elem.Interval}, Pipapo},
	} {
		got, err := Select(&c.d)
		if err != nil || got != c.want {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

func TestSelectErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		d    Desc
		want error
	}{
		{"no key", Desc{}, elem.ErrInvalid},
		{"long key", Desc{KeyLen: 65}, elem.ErrInvalid},
		{"17 fields", Desc{KeyLen: 64, Fields: make([]uint8, 17), Flags: elem.Concat}, elem.ErrTooBig},
		{"empty field", Desc{KeyLen: 8, Fields: []uint8{4, 0}, Flags: elem.Concat}, elem.ErrInvalid},
		{"fields without concat", Desc{KeyLen: 8, Fields: []uint8{4, 2}}, elem.ErrInvalid},
		{"concat without fields", Desc{KeyLen: 8, Flags: elem.Concat}, elem.ErrInvalid},
		{"22: fields shorter than the key", Desc{KeyLen: 12, Fields: []uint8{4, 2}, Flags: elem.Concat}, elem.ErrInvalid},
		{"22: fields longer than the key", Desc{KeyLen: 8, Fields: []uint8{4, 2, 1}, Flags: elem.Concat}, elem.ErrInvalid},
		{"dynamic ranges", Desc{KeyLen: 4, Flags: elem.Interval | elem.Eval}, elem.ErrUnsupported},
		{"17-byte field with ranges", Desc{KeyLen: 24, Fields: []uint8{17, 2}, Flags: elem.Concat | elem.Interval}, elem.ErrUnsupported},
		{"map and objects", Desc{KeyLen: 4, Flags: elem.Map | elem.Object}, elem.ErrUnsupported},
		{"constant with timeout", Desc{KeyLen: 4, Flags: elem.Constant | elem.Timeout}, elem.ErrUnsupported},
		{"policy", Desc{KeyLen: 4, Policy: 2}, elem.ErrUnsupported},
		{"unknown flag", Desc{KeyLen: 4, Flags: 1 << 20}, elem.ErrUnsupported},
	} {
		if _, err := Select(&c.d); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// Facts 7.2, 48: the bucket count overflowed.
func TestBug48HashBuckets(t *testing.T) {
	for _, c := range []struct {
		size uint32
		want uint64
	}{{1, 1}, {3, 4}, {4, 8}, {12, 16}, {13, 32}, {0x40000000, 1 << 31}, {0xffffffff, 1 << 31}} {
		if got := hashBuckets(c.size); got != c.want {
			t.Errorf("size %#x: %d buckets, want %d", c.size, got, c.want)
		}
	}
}
