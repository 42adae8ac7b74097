package pipapo_test

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"verdict/set/elem"
	"verdict/set/settest"
)

// forms are the implementations that must behave alike.
var forms = []struct {
	name string
	new  func(d *elem.Desc) (elem.Backend, error)
}{
	{"plain", newPlain},
	{"set", newSet},
}

// each runs a test with an empty set of each form.
func each(t *testing.T, d elem.Desc, test func(t *testing.T, s elem.Backend)) {
	t.Helper()
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			s, err := f.new(&d)
			if err != nil {
				t.Fatal(err)
			}
			test(t, s)
		})
	}
}

// shape returns the description of one of settest's shapes.
func shape(name string) elem.Desc {
	for _, s := range settest.Shapes {
		if s.Name == name {
			return s.Desc()
		}
	}
	panic("no shape " + name)
}

// el makes an element from text: fields separated by " . ", each a value or
// "low-high", being addresses, MAC addresses or two-byte numbers; a number
// with a leading "p" has one byte.
func el(text string) *elem.Entry {
	var low, high []byte
	ranged := false
	for part := range strings.SplitSeq(text, " . ") {
		a, b, both := strings.Cut(part, "-")
		if !both {
			b = a
		}
		ranged = ranged || both
		low, high = append(low, val(a)...), append(high, val(b)...)
	}
	if !ranged {
		return elem.New(low, nil)
	}
	return elem.New(low, high)
}

// key makes a key from the text of an element of single values.
func key(text string) []byte { return []byte(el(text).Key()) }

func val(text string) []byte {
	pad := func(b []byte) []byte { return append(b, make([]byte, elem.Padded(len(b))-len(b))...) }
	if p, ok := strings.CutPrefix(text, "p"); ok {
		n, _ := strconv.Atoi(p)
		return pad([]byte{byte(n)})
	}
	if n, err := strconv.Atoi(text); err == nil {
		return pad([]byte{byte(n >> 8), byte(n)})
	}
	if strings.Count(text, ":") == 5 && !strings.Contains(text, "::") {
		var mac []byte
		for o := range strings.SplitSeq(text, ":") {
			n, _ := strconv.ParseUint(o, 16, 8)
			mac = append(mac, byte(n))
		}
		return pad(mac)
	}
	return netip.MustParseAddr(text).AsSlice()
}

// add inserts elements and fails on any error.
func add(t *testing.T, s elem.Backend, now int64, es ...*elem.Entry) {
	t.Helper()
	for _, e := range es {
		if _, err := s.Insert(e, now); err != nil {
			t.Fatalf("insert %x-%x: %v", e.Key(), e.Last(), err)
		}
	}
}

// refuse inserts an element and expects an error.
func refuse(t *testing.T, s elem.Backend, e *elem.Entry, want error) *elem.Entry {
	t.Helper()
	old, err := s.Insert(e, 0)
	if !errors.Is(err, want) {
		t.Errorf("insert %x-%x: %v, want %v", e.Key(), e.Last(), err, want)
	}
	return old
}

// hit expects a lookup in the live state to return want.
func hit(t *testing.T, s elem.Backend, text string, now int64, want *elem.Entry) {
	t.Helper()
	if got := s.Lookup(key(text), now); got != want {
		t.Errorf("lookup %s at %d: %v, want %v", text, now, got, want)
	}
}

// until gives an element a timeout.
func until(e *elem.Entry, at int64) *elem.Entry {
	e.SetTimeout(at, at)
	return e
}

// listed returns the keys that a walk of a view visits, as text.
func listed(v elem.View) []string {
	var keys []string
	v.Walk(func(e *elem.Entry) bool {
		keys = append(keys, e.Key())
		return true
	})
	return keys
}
