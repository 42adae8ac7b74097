package elem

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestEntryKeys(t *testing.T) {
	for _, n := range []int{1, 2, 4, 8, 12, 16, 20, 33, 64} {
		batch := NewBatch(n)
		low, high := []byte(strings.Repeat("a", n)), []byte(strings.Repeat("b", n))
		for i, e := range []*Entry{New(low, high), batch.New(low, high)} {
			first, last := e.Bounds()
			if e.Key() != string(low) || e.KeyEnd() != string(high) || !e.HasEnd() || e.Last() != string(high) || first != e.Key() || last != e.Last() {
				t.Errorf("%d bytes, %d: %q-%q", n, i, e.Key(), e.KeyEnd())
			}
		}
		for i, e := range []*Entry{New(low, nil), batch.New(low, nil)} {
			first, last := e.Bounds()
			if e.Key() != string(low) || e.KeyEnd() != "" || e.HasEnd() || e.Last() != string(low) || first != last {
				t.Errorf("%d bytes, %d: %q-%q", n, i, e.Key(), e.KeyEnd())
			}
		}
		low[0] = 'x'
		if e := batch.New(low, nil); e.Key()[0] != 'x' {
			t.Error("the batch keeps an old key")
		}
	}
}

// Entries of a batch do not share their keys' memory.
func TestBatchKeysAreApart(t *testing.T) {
	batch := NewBatch(3)
	var es []*Entry
	for i := range 1000 {
		es = append(es, batch.New([]byte(fmt.Sprintf("%03d", i)), []byte(fmt.Sprintf("%03d", 999-i))))
	}
	for i, e := range es {
		if e.Key() != fmt.Sprintf("%03d", i) || e.KeyEnd() != fmt.Sprintf("%03d", 999-i) {
			t.Fatalf("entry %d is %q-%q", i, e.Key(), e.KeyEnd())
		}
	}
	if e := batch.New([]byte("longer"), nil); e.Key() != "longer" {
		t.Errorf("a key of another length became %q", e.Key())
	}
}

func TestExpiry(t *testing.T) {
	e := New([]byte("k"), nil)
	if e.Expired(1 << 62) {
		t.Error("an element without a timeout expires")
	}
	e.SetTimeout(10, 110)
	if e.Expired(109) || !e.Expired(110) {
		t.Error("it must expire at 110")
	}
	if e.Refresh(200); e.Expired(199) || !e.Expired(200) || e.Timeout() != 10 {
		t.Error("refreshed until 200")
	}
}

func TestErrno(t *testing.T) {
	wrapped := fmt.Errorf("element 3: %w", fmt.Errorf("%w: it starts inside", ErrNotEmpty))
	if Errno(wrapped) != 39 || !errors.Is(wrapped, ErrNotEmpty) || Errno(nil) != 0 || Errno(errors.New("other")) != 0 {
		t.Error("numbers of errors")
	}
}
