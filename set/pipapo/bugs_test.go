package pipapo_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"verdict/set/elem"
)

// Each test here is a mistake that the kernel's code once made, by the number
// that docs/semantics/sets.md lists it under.

func TestBug01FlushAndAddInOtherOrder(t *testing.T) {
	each(t, shape("net,port"), func(t *testing.T, s elem.Backend) {
		texts := []string{"10.0.0.1-10.0.0.9 . 80", "10.0.1.0-10.0.1.255 . 1-100", "10.0.2.1 . 443"}
		for _, x := range texts {
			add(t, s, 0, el(x))
		}
		s.Commit(0)
		s.Flush()
		var es []*elem.Entry
		for _, i := range []int{2, 0, 1} {
			es = append(es, el(texts[i]))
		}
		add(t, s, 0, es...)
		s.Commit(0)
		hit(t, s, "10.0.2.1 . 443", 0, es[0])
		hit(t, s, "10.0.0.5 . 80", 0, es[1])
		hit(t, s, "10.0.1.7 . 99", 0, es[2])
		if s.Live().Len() != 3 {
			t.Errorf("%d elements", s.Live().Len())
		}
	})
}

func TestBug02IdenticalIsNotPartial(t *testing.T) {
	each(t, shape("net,port"), func(t *testing.T, s elem.Backend) {
		one := el("10.0.0.0-10.0.0.255 . 80-90")
		add(t, s, 0, one)
		if old := refuse(t, s, el("10.0.0.0-10.0.0.255 . 80-90"), elem.ErrExist); old != one {
			t.Error("the existing element is not handed back")
		}
		refuse(t, s, el("10.0.0.0-10.0.0.255 . 80-91"), elem.ErrNotEmpty)
		refuse(t, s, el("10.0.0.1-10.0.0.2 . 85"), elem.ErrNotEmpty)
	})
}

// 3, 21: a lookup's scratch maps must not be another's. 15: nor another set's.
func TestBug03And15And21ScratchMaps(t *testing.T) {
	d := shape("net,port")
	each(t, d, func(t *testing.T, a elem.Backend) {
		b, err := forms[0].new(&d)
		if err != nil {
			t.Fatal(err)
		}
		var ea, eb []*elem.Entry
		for i := range 600 {
			ea = append(ea, el(fmt.Sprintf("10.0.%d.%d . %d", i/250, i%250, i)))
			eb = append(eb, el(fmt.Sprintf("10.1.%d.%d-10.1.%d.%d . %d-%d", i/100, i%100*2, i/100, i%100*2+1, i, i+3)))
		}
		add(t, a, 0, ea...)
		add(t, b, 0, eb[:40]...)
		a.Commit(0)
		b.Commit(0)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i := range 600 {
					if got := a.Lookup([]byte(ea[i].Key()), 0); got != ea[i] {
						t.Errorf("first set, element %d: %v", i, got)
					}
					if got := b.Lookup([]byte(ea[i].Key()), 0); got != nil {
						t.Errorf("second set has element %d of the first", i)
					}
					if got := b.Lookup([]byte(eb[i%40].Last()), 0); got != eb[i%40] {
						t.Errorf("second set, element %d: %v", i%40, got)
					}
				}
			})
		}
		wg.Wait()
	})
}

// 5 and 24: an octet of a field did not matter. Every byte of every key
// matters, in each shape, with few rules and with many.
func TestBug05And24EveryOctetCounts(t *testing.T) {
	for _, name := range []string{"net,port", "port,net", "net6,port", "port,proto", "net6,port,mac", "net6,port,mac,proto", "net,mac"} {
		d := shape(name)
		each(t, d, func(t *testing.T, s elem.Backend) {
			k := make([]byte, d.KeyLen)
			var at []int // places of key bytes that are not padding
			o := 0
			for _, n := range d.Fields {
				for i := range int(n) {
					k[o+i] = byte(0xd0 + len(at))
					at = append(at, o+i)
				}
				o += elem.Padded(int(n))
			}
			e := elem.New(k, nil)
			add(t, s, 0, e)
			for i := range 300 { // others, to widen the buckets
				x := append([]byte(nil), k...)
				x[at[0]], x[at[1]] = byte(i%100), byte(i/100)
				add(t, s, 0, elem.New(x, nil))
			}
			s.Commit(0)
			if s.Lookup(k, 0) != e {
				t.Fatal("not found")
			}
			for _, i := range at {
				for bit := range 8 {
					x := append([]byte(nil), k...)
					x[i] ^= 1 << bit
					if got := s.Lookup(x, 0); got == e {
						t.Fatalf("%s: byte %d is ignored", name, i)
					}
				}
			}
		})
	}
}

func TestBug06AddToEmptiedSet(t *testing.T) {
	each(t, shape("net,port"), func(t *testing.T, s elem.Backend) {
		add(t, s, 0, el("10.0.0.1 . 80"))
		s.Commit(0)
		s.Flush()
		s.Commit(0)
		hit(t, s, "10.0.0.1 . 80", 0, nil)
		e := el("10.0.0.2 . 80")
		add(t, s, 0, e)
		s.Commit(0)
		hit(t, s, "10.0.0.2 . 80", 0, e)
	})
}

// 7, 9, 17: an aborted transaction leaves nothing behind and loses nothing.
func TestBug07And09And17Abort(t *testing.T) {
	each(t, shape("net,port"), func(t *testing.T, s elem.Backend) {
		one := el("10.0.0.1 . 80")
		add(t, s, 0, one)
		s.Commit(0)
		add(t, s, 0, el("10.0.0.2 . 80"), el("10.0.0.3-10.0.0.7 . 1-9"))
		if _, err := s.Delete(el("10.0.0.1 . 80"), 0); err != nil {
			t.Fatal(err)
		}
		hit(t, s, "10.0.0.1 . 80", 0, one)
		hit(t, s, "10.0.0.2 . 80", 0, nil)
		s.Abort()
		hit(t, s, "10.0.0.1 . 80", 0, one)
		hit(t, s, "10.0.0.2 . 80", 0, nil)
		if got := s.Commit(0); len(got) != 0 || s.Live().Len() != 1 {
			t.Errorf("collected %v, %d elements", got, s.Live().Len())
		}
		add(t, s, 0, el("10.0.0.2 . 80"))
	})
}

func TestBug08StartAboveEndInLaterField(t *testing.T) {
	each(t, shape("net6,port,mac,proto"), func(t *testing.T, s elem.Backend) {
		for _, x := range []string{
			"2001:db8::9-2001:db8::1 . 80 . 02:00:00:00:00:01 . p6",
			"2001:db8::1 . 80-79 . 02:00:00:00:00:01 . p6",
			"2001:db8::1 . 80 . 02:00:00:00:00:02-02:00:00:00:00:01 . p6",
			"2001:db8::1 . 80 . 02:00:00:00:00:01 . p7-p6",
		} {
			refuse(t, s, el(x), elem.ErrInvalid)
		}
		if s.Next().Len() != 0 {
			t.Error("something was added")
		}
	})
}

// The overlap tests come before the test for a start above its end.
func TestOverlapIsFoundBeforeInvalid(t *testing.T) {
	each(t, shape("net,port"), func(t *testing.T, s elem.Backend) {
		add(t, s, 0, el("10.0.0.0-10.0.0.9 . 80"))
		refuse(t, s, el("10.0.0.5-10.0.0.3 . 80"), elem.ErrNotEmpty)
	})
}

// 10, 14, 18: a walk of the prepared state leaves out what was deleted, one
// of the live state does not see the transaction.
func TestBug10And14And18Walk(t *testing.T) {
	each(t, shape("net,port"), func(t *testing.T, s elem.Backend) {
		a, b, c := el("10.0.0.1 . 80"), el("10.0.0.2-10.0.0.7 . 80-99"), el("10.0.0.9 . 80")
		add(t, s, 0, a, b)
		s.Commit(0)
		view := s.Live()
		if _, err := s.Delete(a, 0); err != nil {
			t.Fatal(err)
		}
		add(t, s, 0, c)
		want := func(v elem.View, es ...*elem.Entry) {
			t.Helper()
			got := listed(v)
			if len(got) != len(es) {
				t.Fatalf("visits %d, want %d", len(got), len(es))
			}
			for i, e := range es {
				if got[i] != e.Key() {
					t.Errorf("element %d is %x, want %x", i, got[i], e.Key())
				}
			}
		}
		want(s.Live(), a, b)
		want(s.Next(), b, c)
		s.Commit(0)
		want(s.Live(), b, c)
		want(view, a, b)
	})
}

// 11: an element without an upper end is removed wholly.
func TestBug11RemoveSingleValue(t *testing.T) {
	each(t, shape("net,port"), func(t *testing.T, s elem.Backend) {
		add(t, s, 0, el("10.0.0.1 . 80"), el("10.0.0.2 . 80"))
		s.Commit(0)
		for _, x := range []string{"10.0.0.1 . 80", "10.0.0.2 . 80"} {
			if _, err := s.Delete(el(x), 0); err != nil {
				t.Fatal(err)
			}
		}
		s.Commit(0)
		hit(t, s, "10.0.0.1 . 80", 0, nil)
		if got := s.Stats(); got.Elements != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// 12, 19: an expired element is neither in the way of a new one nor deleted or
// returned in its place; both may be in the tables at a time.
func TestBug12And19ExpiredTwin(t *testing.T) {
	d := shape("net,port")
	d.GCInterval = 1 << 40
	each(t, d, func(t *testing.T, s elem.Backend) {
		s.Commit(1 << 40)
		now := int64(1<<40 + 1)
		old := el("10.0.0.1-10.0.0.9 . 80")
		old.SetTimeout(10, now+10)
		add(t, s, now, old)
		s.Commit(now)
		now += 10
		if _, err := s.Delete(el("10.0.0.1 . 80"), now); !errors.Is(err, elem.ErrNoEntry) {
			t.Errorf("delete of an expired element: %v", err)
		}
		if s.Get(el("10.0.0.1 . 80"), now) != nil {
			t.Error("get returns an expired element")
		}
		again := el("10.0.0.1-10.0.0.9 . 80")
		add(t, s, now, again)
		s.Commit(now)
		hit(t, s, "10.0.0.5 . 80", now, again)
		got, err := s.Delete(el("10.0.0.1 . 80"), now)
		if got != again || err != nil {
			t.Errorf("deleted %v, %v", got, err)
		}
		s.Commit(now)
		hit(t, s, "10.0.0.5 . 80", now, nil)
		hit(t, s, "10.0.0.5 . 80", now-5, old)
	})
}

// 16: whether an element is expired does not change within a transaction.
func TestBug16FrozenTime(t *testing.T) {
	each(t, shape("net,port"), func(t *testing.T, s elem.Backend) {
		e := until(el("10.0.0.1 . 80"), 100)
		add(t, s, 0, e)
		s.Commit(0)
		if got, err := s.Delete(el("10.0.0.1 . 80"), 99); got != e || err != nil {
			t.Fatal(got, err)
		}
		if gone := s.Commit(99); len(gone) != 0 {
			t.Errorf("collected %v: deleted elements are the caller's", gone)
		}
		if s.Live().Len() != 0 {
			t.Error("still there")
		}
	})
}

// 20: false matches when the first field is not the widest.
func TestBug20FirstFieldNarrower(t *testing.T) {
	each(t, shape("port,net"), func(t *testing.T, s elem.Backend) {
		var es []*elem.Entry
		for i := range 60 { // one rule each in the first field, dozens in the second
			es = append(es, el(fmt.Sprintf("%d . 10.%d.0.1-10.%d.255.254", i, i, i)))
		}
		add(t, s, 0, es...)
		s.Commit(0)
		for i, e := range es {
			hit(t, s, fmt.Sprintf("%d . 10.%d.3.4", i, i), 0, e)
			hit(t, s, fmt.Sprintf("%d . 10.%d.3.4", i, (i+1)%60), 0, nil)
			hit(t, s, fmt.Sprintf("%d . 10.%d.3.4", i+1000, i), 0, nil)
		}
	})
}

// 25, 26: an empty set, and lookups while a transaction is prepared.
func TestBug25And26EmptyAndPrepared(t *testing.T) {
	each(t, shape("net,port"), func(t *testing.T, s elem.Backend) {
		hit(t, s, "10.0.0.1 . 80", 0, nil)
		s.Flush()
		s.Commit(0)
		hit(t, s, "10.0.0.1 . 80", 0, nil)
		e := el("10.0.0.1 . 80")
		add(t, s, 0, e)
		hit(t, s, "10.0.0.1 . 80", 0, nil)
		s.Commit(0)
		s.Flush()
		hit(t, s, "10.0.0.1 . 80", 0, e)
		add(t, s, 0, el("10.0.0.1 . 80"))
		hit(t, s, "10.0.0.1 . 80", 0, e)
	})
}

// 27, 31: after an expired candidate the search goes on with the next one that
// matches, and never returns one that does not.
func TestBug27And31SkipExpired(t *testing.T) {
	each(t, shape("net,port"), func(t *testing.T, s elem.Backend) {
		wide := until(el("10.0.0.2-10.0.0.4 . 1-100"), 50)
		tall := until(el("10.0.0.1-10.0.0.9 . 40-60"), 80)
		last := el("10.0.0.0-10.0.0.20 . 30-70")
		add(t, s, 0, wide, tall, last)
		for i := range 300 {
			add(t, s, 0, until(el(fmt.Sprintf("10.9.%d.%d . 50", i/200, i%200)), 40))
		}
		s.Commit(0)
		hit(t, s, "10.0.0.3 . 50", 49, wide)
		hit(t, s, "10.0.0.3 . 50", 50, tall)
		hit(t, s, "10.0.0.3 . 50", 80, last)
		hit(t, s, "10.0.0.3 . 90", 60, nil)
		hit(t, s, "10.9.0.7 . 50", 40, nil)
	})
}

// 28: only the first register was compared.
func TestBug28LaterFieldDiffers(t *testing.T) {
	each(t, shape("net6,port"), func(t *testing.T, s elem.Backend) {
		add(t, s, 0, el("2001:db8::1 . 80-90"))
		refuse(t, s, el("2001:db8::1 . 80-95"), elem.ErrNotEmpty)
		refuse(t, s, el("2001:db8::1 . 80-90"), elem.ErrExist)
	})
}

// 29: sixteen fields.
func TestBug29SixteenFields(t *testing.T) {
	d := elem.Desc{Flags: elem.Interval | elem.Concat, KeyLen: 64}
	for range 16 {
		d.Fields = append(d.Fields, 1)
	}
	each(t, d, func(t *testing.T, s elem.Backend) {
		var es []*elem.Entry
		for i := range 20 {
			low, high := make([]byte, 64), make([]byte, 64)
			for f := range 16 {
				low[4*f], high[4*f] = byte(10*i), byte(10*i+f%3)
			}
			es = append(es, elem.New(low, high))
		}
		add(t, s, 0, es...)
		s.Commit(0)
		for i := 0; i < 20; i += 3 {
			if got, err := s.Delete(es[i], 0); got != es[i] || err != nil {
				t.Fatal(got, err)
			}
		}
		s.Commit(0)
		for i, e := range es {
			want := e
			if i%3 == 0 {
				want = nil
			}
			if got := s.Lookup([]byte(e.Last()), 0); got != want {
				t.Errorf("element %d: %v, want %v", i, got, want)
			}
		}
	})
}

// 30: expired elements leave the live state before they are handed out.
func TestBug30CollectAfterPublish(t *testing.T) {
	each(t, shape("net,port"), func(t *testing.T, s elem.Backend) {
		e := until(el("10.0.0.1 . 80"), 100)
		add(t, s, 0, e)
		s.Commit(0)
		add(t, s, 2_000_000_000, el("10.0.0.2 . 80"))
		gone := s.Commit(2_000_000_000)
		if len(gone) != 1 || gone[0] != e {
			t.Fatalf("collected %v", gone)
		}
		s.Live().Walk(func(x *elem.Entry) bool {
			if x == e {
				t.Error("still reachable")
			}
			return true
		})
		hit(t, s, "10.0.0.1 . 80", 0, nil)
	})
}

// The cases that the kernel's own self test names insert_overlap.
func TestCornerOverlaps(t *testing.T) {
	d := elem.Desc{Flags: elem.Interval | elem.Concat, KeyLen: 8, Fields: []uint8{4, 4}}
	each(t, d, func(t *testing.T, s elem.Backend) {
		first := el("1.2.3.4 . 1.2.4.1")
		add(t, s, 0, first)
		refuse(t, s, el("1.2.3.0-1.2.3.4 . 1.2.4.1"), elem.ErrNotEmpty)
		second := el("1.2.3.0-1.2.3.4 . 1.2.4.2")
		add(t, s, 0, second)
		refuse(t, s, el("1.2.3.4 . 1.2.4.1-1.2.4.2"), elem.ErrNotEmpty)
		// Boxes that contain or cross others without a corner in them.
		around := el("1.2.0.0-1.2.255.255 . 1.2.0.0-1.2.255.255")
		add(t, s, 0, around)
		s.Commit(0)
		hit(t, s, "1.2.3.4 . 1.2.4.1", 0, first)
		hit(t, s, "1.2.3.4 . 1.2.4.2", 0, second)
		hit(t, s, "1.2.3.4 . 1.2.4.3", 0, around)
	})
}

// Deletion looks for the start alone.
func TestDeleteIgnoresTheEnd(t *testing.T) {
	each(t, shape("net,port"), func(t *testing.T, s elem.Backend) {
		e := el("10.0.0.1-10.0.0.3 . 5")
		add(t, s, 0, e)
		if got, err := s.Delete(el("10.0.0.2-10.0.0.200 . 5"), 0); got != e || err != nil {
			t.Errorf("deleted %v, %v", got, err)
		}
		if _, err := s.Delete(el("10.0.0.2 . 5"), 0); !errors.Is(err, elem.ErrNoEntry) {
			t.Errorf("deleted twice: %v", err)
		}
		again := el("10.0.0.1-10.0.0.3 . 5")
		add(t, s, 0, again)
		s.Commit(0)
		hit(t, s, "10.0.0.2 . 5", 0, again)
	})
}
