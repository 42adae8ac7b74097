package pipapo_test

import (
	"errors"
	"fmt"
	"net/netip"

	"verdict/set/elem"
	"verdict/set/pipapo"
)

// bounds makes the ends of a range of addresses and a range of ports.
func bounds(first, last string, low, high uint16) (from, to []byte) {
	end := func(a string, p uint16) []byte {
		return append(netip.MustParseAddr(a).AsSlice(), byte(p>>8), byte(p), 0, 0)
	}
	return end(first, low), end(last, high)
}

func Example() {
	s, err := pipapo.New(&elem.Desc{
		KeyLen: 8, Fields: []uint8{4, 2}, Flags: elem.Interval | elem.Concat,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	web := elem.New(bounds("192.0.2.0", "192.0.2.127", 80, 443))
	web.Ext = "web"
	if _, err := s.Insert(web, 0); err != nil {
		fmt.Println(err)
	}
	s.Commit(0)

	key, _ := bounds("192.0.2.7", "192.0.2.7", 80, 80)
	fmt.Println(s.Lookup(key, 0).Ext)
	key, _ = bounds("192.0.2.200", "192.0.2.200", 80, 80)
	fmt.Println(s.Lookup(key, 0) == nil)
	// Output:
	// web
	// true
}

// The errors carry the kernel's numbers.
func ExampleSet_Insert() {
	s, err := pipapo.New(&elem.Desc{
		KeyLen: 8, Fields: []uint8{4, 2}, Flags: elem.Interval | elem.Concat,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	insert := func(e *elem.Entry) {
		_, err := s.Insert(e, 0)
		fmt.Println(elem.Errno(err), errors.Is(err, elem.ErrNotEmpty))
	}
	insert(elem.New(bounds("192.0.2.0", "192.0.2.127", 80, 443)))
	insert(elem.New(bounds("192.0.2.0", "192.0.2.127", 80, 443)))
	insert(elem.New(bounds("192.0.2.9", "192.0.2.255", 80, 80)))
	// Output:
	// 0 false
	// 17 false
	// 39 true
}

// Changes are seen by readers when they are committed, all at once.
func ExampleSet_Commit() {
	s, err := pipapo.New(&elem.Desc{
		KeyLen: 8, Fields: []uint8{4, 2}, Flags: elem.Interval | elem.Concat | elem.Timeout,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	e := elem.New(bounds("192.0.2.0", "192.0.2.127", 80, 443))
	e.SetTimeout(60, 60)
	if _, err := s.Insert(e, 0); err != nil {
		fmt.Println(err)
	}
	fmt.Println(s.Lookup([]byte(e.Key()), 0) != nil)
	s.Commit(0)
	fmt.Println(s.Lookup([]byte(e.Key()), 0) != nil)
	fmt.Println(s.Lookup([]byte(e.Key()), 60) != nil)
	// Output:
	// false
	// true
	// false
}
