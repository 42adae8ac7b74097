package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"verdict/nft/ruleset"
)

// open opens a store whose clock stands still at now.
func open(path string, now *int64) *Store {
	return Open(path, Options{Wait: 50 * time.Millisecond, Now: func() int64 { return *now }})
}

// update applies a text to a store.
func update(t testing.TB, s *Store, text string) {
	t.Helper()
	err := s.Update(func(st State) (*Transaction, error) {
		batch := mustBatch(t, st.Rules, text)
		next, errs := ruleset.Apply(st.Rules, batch, ruleset.Options{Now: s.now()})
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		return &Transaction{Batch: batch, Next: next, Time: s.now()}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, s *Store) State {
	t.Helper()
	st, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestRoundTrip: what was written, as journal and as snapshot, is read again
// by another store, with handles, elements and their times.
func TestRoundTrip(t *testing.T) {
	now := second
	path := filepath.Join(t.TempDir(), "state")
	s := open(path, &now)
	update(t, s, everything)
	want := listing(t, s.state.Rules, now)
	if got := listing(t, read(t, open(path, &now)).Rules, now); got != want {
		t.Errorf("from the journal:\n%s\nwant:\n%s", got, want)
	}
	if err := s.rewrite(&s.state, nil); err != nil {
		t.Fatal(err)
	}
	again := open(path, &now)
	if got := listing(t, read(t, again).Rules, now); got != want {
		t.Errorf("from the snapshot:\n%s\nwant:\n%s", got, want)
	}
	// What comes next gets the same handles.
	for _, st := range []*Store{s, again} {
		update(t, st, "add rule inet t other drop\nadd table ip6 x\nadd set inet t more { type mark; }\nadd rule inet t in tcp dport { 1, 2 }")
	}
	if a, b := listing(t, s.state.Rules, now), listing(t, read(t, open(path, &now)).Rules, now); !strings.HasPrefix(b, a[:100]) {
		t.Errorf("then:\n%s\nwant:\n%s", b, a)
	}
}

func TestExpiredElementsAreGone(t *testing.T) {
	now := second
	path := filepath.Join(t.TempDir(), "state")
	s := open(path, &now)
	update(t, s, everything)
	if err := s.rewrite(&s.state, nil); err != nil {
		t.Fatal(err)
	}
	now += 60 * second
	got := listing(t, read(t, open(path, &now)).Rules, now)
	for _, gone := range []string{"2.2.2.2", "1.0.0.0/24"} {
		if strings.Contains(got, gone) {
			t.Errorf("%s is still there", gone)
		}
	}
	for _, kept := range []string{"1.1.1.1 expires 59m", "3.3.3.3 timeout 2h expires 1h29m", "2.0.0.0/24", "3.0.0.0/24 timeout 1h expires 59m"} {
		if !strings.Contains(got, kept) {
			t.Errorf("%q is not there:\n%s", kept, got)
		}
	}
}

// TestOthersAreSeen: a store that was read before sees what another one wrote,
// appended or as a new file.
func TestOthersAreSeen(t *testing.T) {
	now := second
	path := filepath.Join(t.TempDir(), "state")
	a, b := open(path, &now), open(path, &now)
	update(t, a, "add table ip a")
	for i, text := range []string{"add table ip b", "add chain ip b c", "add rule ip b c accept"} {
		update(t, b, text)
		if i == 1 {
			if err := b.rewrite(&b.state, nil); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := listing(t, read(t, a).Rules, now), listing(t, b.state.Rules, now); got != want {
			t.Errorf("after %q:\n%s\nwant:\n%s", text, got, want)
		}
		if a.state.Sequence != b.state.Sequence {
			t.Errorf("sequence %d, want %d", a.state.Sequence, b.state.Sequence)
		}
	}
}

// TestRefusedBatchDrawsHandles: the kernel does not give handles twice, not
// even those of a batch that failed.
func TestRefusedBatchDrawsHandles(t *testing.T) {
	now := second
	path := filepath.Join(t.TempDir(), "state")
	s := open(path, &now)
	update(t, s, "add table ip t\nadd chain ip t c")
	refused := errors.New("refused")
	err := s.Update(func(st State) (*Transaction, error) {
		batch := mustBatch(t, st.Rules, "add rule ip t c accept\nadd rule ip t nosuch accept")
		next, errs := ruleset.Apply(st.Rules, batch, ruleset.Options{})
		if len(errs) == 0 {
			t.Error("the batch was accepted")
		}
		return &Transaction{Next: next}, refused
	})
	if !errors.Is(err, refused) {
		t.Fatal(err)
	}
	other := open(path, &now)
	update(t, other, "add rule ip t c drop")
	if got := listing(t, read(t, s).Rules, now); !strings.Contains(got, "drop # handle 3") {
		t.Errorf("the rule has another handle:\n%s", got)
	}
}

func TestTornRecordIsNotDamage(t *testing.T) {
	now := second
	path := filepath.Join(t.TempDir(), "state")
	s := open(path, &now)
	update(t, s, "add table ip a")
	before, end := listing(t, s.state.Rules, now), s.file.end
	update(t, s, "add table ip b\nadd chain ip b c")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := end; cut < int64(len(whole)); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		again := open(path, &now)
		if got := listing(t, read(t, again).Rules, now); got != before {
			t.Fatalf("cut at %d:\n%s", cut, got)
		}
		if cut%7 == 0 {
			update(t, again, "add table ip x")
			if got := listing(t, read(t, open(path, &now)).Rules, now); got != before+"table ip x { # handle 2\n}\n" {
				t.Fatalf("written after a cut at %d:\n%s", cut, got)
			}
		}
	}
	zeros := append(append([]byte{}, whole[:end]...), make([]byte, 300)...)
	if err := os.WriteFile(path, zeros, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := listing(t, read(t, open(path, &now)).Rules, now); got != before {
		t.Errorf("zeros at the end:\n%s", got)
	}
}

// TestDamage: each byte that changes makes the file unreadable, with the
// offset of the record, and the file stays.
func TestDamage(t *testing.T) {
	now := second
	path := filepath.Join(t.TempDir(), "state")
	s := open(path, &now)
	update(t, s, "add table ip a\nadd chain ip a c\nadd rule ip a c tcp dport 22 accept")
	update(t, s, "add table ip b")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 1 + at/97 {
		bad := append([]byte{}, whole...)
		bad[at] ^= 0x40
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := open(path, &now).Read()
		var damage *DamageError
		if !errors.As(err, &damage) {
			// A length that reaches beyond the end looks like a torn record.
			if at > int(s.file.snapshot) && err == nil {
				continue
			}
			t.Fatalf("byte %d: %v", at, err)
		}
		if damage.Offset > int64(at) || !strings.Contains(err.Error(), "is damaged at byte") {
			t.Errorf("byte %d: %v", at, err)
		}
		if err := open(path, &now).Update(func(State) (*Transaction, error) { return nil, nil }); err == nil {
			t.Error("a damaged file was changed")
		}
		if kept, _ := os.ReadFile(path); string(kept) != string(bad) {
			t.Fatal("the damaged file was not kept")
		}
	}
}

func TestForeignFile(t *testing.T) {
	now := second
	path := filepath.Join(t.TempDir(), "rules.nft")
	if err := os.WriteFile(path, []byte("table ip t { }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(path, &now).Read(); err == nil || !strings.Contains(err.Error(), "this is no state file") {
		t.Error(err)
	}
}

// TestNotRegular: what is no regular file is refused, and stays.
func TestNotRegular(t *testing.T) {
	now := second
	for _, c := range []struct{ path, want string }{
		{os.DevNull, "not a regular file"},
		{t.TempDir(), "is a directory"},
	} {
		s := open(c.path, &now)
		if _, err := s.Read(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Read of %s: %v, want %q", c.path, err, c.want)
		}
		err := s.Update(func(State) (*Transaction, error) { return nil, errors.New("was asked") })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Update of %s: %v, want %q", c.path, err, c.want)
		}
		if _, err := os.Stat(c.path + ".lock"); err == nil {
			t.Errorf("%s has a lock file now", c.path)
		}
	}
}

func TestLock(t *testing.T) {
	now := second
	path := filepath.Join(t.TempDir(), "state")
	a, b := open(path, &now), open(path, &now)
	err := a.Update(func(State) (*Transaction, error) {
		_, err := b.Read()
		var locked *LockError
		if !errors.As(err, &locked) || locked.Holder != os.Getpid() || !strings.Contains(err.Error(), "is in use by process") {
			t.Errorf("read while another writes: %v", err)
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Read(); err != nil {
		t.Error(err)
	}
}

// TestFolding: the journal does not grow for ever.
func TestFolding(t *testing.T) {
	now := second
	path := filepath.Join(t.TempDir(), "state")
	s := open(path, &now)
	update(t, s, "add table ip t\nadd chain ip t c")
	for range 2*maxRecords + 3 {
		update(t, s, "add rule ip t c accept")
	}
	other := open(path, &now)
	if got, want := listing(t, read(t, other).Rules, now), listing(t, s.state.Rules, now); got != want {
		t.Error("another ruleset")
	}
	if other.file.records > maxRecords {
		t.Errorf("%d records in the journal", other.file.records)
	}
}

func TestDefaultPath(t *testing.T) {
	env := func(values map[string]string) func(string) string {
		return func(name string) string { return values[name] }
	}
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/verdict/nft.state"},
		{map[string]string{"HOME": "/h"}, "/h/.local/state/verdict/nft.state"},
		{map[string]string{"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/verdict/nft.state"},
	} {
		if got, err := DefaultPath(env(c.env)); err != nil || filepath.ToSlash(got) != c.want {
			t.Errorf("%v: %s %v", c.env, got, err)
		}
	}
}

// TestConcurrentCallers: callers that come at once wait for each other, and
// none of their changes is lost.
func TestConcurrentCallers(t *testing.T) {
	now := second
	path := filepath.Join(t.TempDir(), "state")
	update(t, open(path, &now), "add table ip t\nadd chain ip t c")
	const callers, each = 4, 40
	errs := make(chan error, callers)
	for range callers {
		go func() {
			for range each {
				s := Open(path, Options{})
				err := s.Update(func(st State) (*Transaction, error) {
					batch, err := batchOf(st.Rules, "add rule ip t c accept")
					if err != nil {
						return nil, err
					}
					next, _ := ruleset.Apply(st.Rules, batch, ruleset.Options{Now: second})
					return &Transaction{Batch: batch, Next: next, Time: second}, nil
				})
				if err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range callers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	rules := read(t, open(path, &now)).Rules.Tables[0].Chains[0].Rules
	if len(rules) != callers*each || rules[len(rules)-1].Handle != callers*each+1 {
		t.Errorf("%d rules of %d", len(rules), callers*each)
	}
}

// TestReplacedInPlace: another state file under the same inode, as when the
// file system gives the number of a file that is gone to its successor, is not
// taken for the one that was read.
func TestReplacedInPlace(t *testing.T) {
	now := second
	dir := t.TempDir()
	path, other := filepath.Join(dir, "state"), filepath.Join(dir, "other")
	s := open(path, &now)
	update(t, s, "add table ip a")
	o := open(other, &now)
	update(t, o, "add table ip b")
	update(t, o, "add table ip c")
	data, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := listing(t, read(t, s).Rules, now), listing(t, o.state.Rules, now); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
