package classify

import (
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"verdict/internal/workload"
)

// TestLiveAgreesWithTheModel adds and deletes rules and asks after each change.
func TestLiveAgreesWithTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := []Field{{Bits: 32}, {Bits: 16}}
		l, _ := NewLayout(fields...)
		rules := model(drawRules(t, l, fields, 100))
		live, err := NewLive(l, rules, Options{})
		stored(t, err)
		next := uint32(1) // an order that is free
		for range rapid.IntRange(1, 2*pendingLimit).Draw(t, "changes") {
			if len(rules) > 0 && rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
				i := rapid.IntRange(0, len(rules)-1).Draw(t, "which")
				if err := live.Delete(rules[i].Order); err != nil {
					t.Fatal(err)
				}
				rules = append(rules[:i:i], rules[i+1:]...)
			} else {
				if rapid.IntRange(0, 5).Draw(t, "again") == 0 && next > 3 { // an order that was in use
					if free := next - 2; !slices.ContainsFunc(rules, func(r Rule) bool { return r.Order == free }) {
						next = free
					}
				}
				r := Rule{Order: next, Match: []Constraint{drawConstraint(t, fields)}}
				for next++; slices.ContainsFunc(rules, func(r Rule) bool { return r.Order == next }); {
					next++
				}
				if err := live.Add(r); err != nil {
					t.Fatal(err)
				}
				rules = append(rules[:len(rules):len(rules)], r)
			}
			if rapid.IntRange(0, 20).Draw(t, "wait") == 0 {
				if err := live.Wait(); err != nil {
					t.Fatal(err)
				}
			}
			k, values := drawKey(t, l, fields)
			v := live.View()
			var found [1]uint32
			v.LookupBatch(k, found[:])
			for from := uint32(0); ; {
				want, got := rules.next(values, from), v.Next(k, from)
				if got != want || (from == 0 && found[0] != want) {
					t.Fatalf("from %d: rule %d, in a batch %d, want %d", from, got, found[0], want)
				}
				if want == None {
					break
				}
				from = want + 1
			}
		}
		if err := live.Delete(next); err != ErrNoRule {
			t.Fatalf("deleting what is not there: %v", err)
		}
	})
}

// The change that begins a build is in the built table, and nowhere else: the
// rule could not be deleted afterwards.
func TestLiveDeletesTheRuleThatBeganABuild(t *testing.T) {
	l, _ := NewLayout(Field{Bits: 32})
	live, err := NewLive(l, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint32(pendingLimit) {
		if err := live.Add(Rule{Order: i, Match: []Constraint{Exact(0, be32(i))}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := live.Wait(); err != nil {
		t.Fatal(err)
	}
	k, last := l.NewKey(), uint32(pendingLimit-1)
	l.Set(k, 0, be32(last))
	if err := live.Delete(last); err != nil {
		t.Fatal(err)
	}
	if order, found := live.View().Lookup(k); found {
		t.Errorf("rule %d is deleted and still matches", order)
	}
}

// Readers see a rule as soon as Add returns, and go on while rules change.
func TestLiveReadersDoNotWait(t *testing.T) {
	l := fiveTupleLayout()
	list := workload.FiveTuples("acl", 10000, 1)
	rules := fiveTupleRules(list)
	for i := range rules {
		rules[i].Order = uint32(i+1) << 8
	}
	live, err := NewLive(l, rules, Options{})
	if err != nil {
		t.Fatal(err)
	}
	keys := fiveTupleKeys(l, workload.Headers(list, 4096, 2))
	stop := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() {
		for i := 0; ; i = (i + 1) % 4096 {
			select {
			case <-stop:
				return
			default:
			}
			live.View().Next(keys[i*l.Stride():][:l.Stride()], 0)
		}
	})
	var worst time.Duration
	for i := range 600 {
		r := Rule{Order: uint32(i)<<8 | 1, Match: []Constraint{Exact(0, be32(uint32(i)))}}
		started := time.Now()
		if err := live.Add(r); err != nil {
			t.Fatal(err)
		}
		worst = max(worst, time.Since(started))
		k := l.NewKey()
		l.Set(k, 0, be32(uint32(i)))
		if order, _ := live.View().Lookup(k); order != r.Order {
			t.Fatalf("rule %d is not seen: %d", r.Order, order)
		}
		if err := live.Delete(rules[i].Order); err != nil {
			t.Fatal(err)
		}
	}
	if err := live.Wait(); err != nil {
		t.Fatal(err)
	}
	close(stop)
	readers.Wait()
	t.Logf("slowest Add %v", worst)
}
