package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"verdict/nft/ruleset"
)

// TestFollow: a follower hears of each transaction once, across folded files
// and however late it looks.
func TestFollow(t *testing.T) {
	now := second
	path := filepath.Join(t.TempDir(), "state")
	writer, reader := open(path, &now), open(path, &now)
	var heard []uint64
	follow := func(tx *Transaction, events []ruleset.Event, _ []Interface) {
		heard = append(heard, reader.state.Sequence)
		if len(events) != 1 || events[0].Table.Name != fmt.Sprintf("t%d", reader.state.Sequence) {
			t.Errorf("transaction %d: %v", reader.state.Sequence, events)
		}
	}
	if err := reader.Follow(follow); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, some := range []int{1, 0, 5, maxRecords - 7, 1, 1, 1, maxRecords - 1, 2, maxRecords - 1, 100} {
		for range some {
			n++
			update(t, writer, fmt.Sprintf("add table ip t%d", n))
		}
		if err := reader.CatchUp(); err != nil {
			t.Fatalf("after %d: %v", n, err)
		}
		if len(heard) != n {
			t.Fatalf("heard of %d transactions of %d", len(heard), n)
		}
	}
	for range 2*maxRecords + 1 {
		n++
		update(t, writer, fmt.Sprintf("add table ip t%d", n))
	}
	if err := reader.CatchUp(); !errors.Is(err, ErrMissed) {
		t.Errorf("two files later: %v", err)
	}
}
