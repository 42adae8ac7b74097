package netlink

import (
	"testing"
	"time"

	"verdict"
	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/ruleset"
)

// now is the time of the tests' transactions.
const now = int64(time.Second)

// loaded is a ruleset with the batches that made it.
type loaded struct {
	rules   *ruleset.Ruleset
	batches [][]ruleset.Change
	bases   []*ruleset.Ruleset
}

// load loads a text; ok is false if it is refused.
func load(name, dir string, text []byte) (l loaded, err error) {
	rs, found := verdict.LoadSources(verdict.LoadOptions{
		Now: now, Files: testdata.Beside(dir),
		Batch: func(base *ruleset.Ruleset, batch []ruleset.Change) {
			l.bases, l.batches = append(l.bases, base), append(l.batches, batch)
		},
	}, diag.NewSource(name, text))
	if rs == nil {
		return l, found.Err()
	}
	l.rules = rs.Rules()
	return l, nil
}

func mustLoad(t testing.TB, text string) loaded {
	t.Helper()
	l, err := load("test", "", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// roundTrip writes a ruleset as a dump, with headers, and reads it back.
func roundTrip(t testing.TB, rs *ruleset.Ruleset) *Dump {
	t.Helper()
	messages, err := AppendDump(nil, rs, now)
	if err != nil {
		t.Fatal(err)
	}
	messages, err = ParseMessages(AppendBatch(nil, messages, 1, 7))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Decode(messages, now)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// check writes ruleset and batches, and reads them back.
func (l loaded) check(t testing.TB) {
	t.Helper()
	d := roundTrip(t, l.rules)
	for _, u := range d.Unknown {
		t.Errorf("not understood: %s", u)
	}
	if diff := Difference(l.rules, d.Rules, now); diff != "" {
		t.Errorf("read back: %s", diff)
	}
	for i, batch := range l.batches {
		messages, err := Batch(batch, BatchOptions{Base: l.bases[i]})
		if err != nil {
			t.Error(err)
			return
		}
		again, err := ParseMessages(AppendBatch(nil, messages, 1, 0))
		if err != nil {
			t.Error(err)
			return
		}
		if len(again) != len(messages) {
			t.Errorf("%d messages instead of %d", len(again), len(messages))
		}
	}
}
