package nftcmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// watcher takes the output of a monitor until it is closed.
type watcher struct {
	mu     sync.Mutex
	text   strings.Builder
	closed bool
}

var errClosed = errors.New("closed")

func (w *watcher) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, errClosed
	}
	return w.text.Write(b)
}

func (w *watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

// await gives the output once it holds a text.
func (w *watcher) await(t *testing.T, text string) string {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		w.mu.Lock()
		got := w.text.String()
		w.mu.Unlock()
		if strings.Contains(got, text) {
			return got
		}
		if time.Now().After(deadline) {
			t.Fatalf("no %q in:\n%s", text, got)
		}
	}
}

// watch starts a monitor over the state of a script.
func watch(t *testing.T, s *scripted, words ...string) *watcher {
	t.Helper()
	w := &watcher{}
	ended := make(chan int)
	ready := make(chan struct{})
	go func() {
		var errs strings.Builder
		close(ready)
		ended <- Run("nft", append([]string{"--state", s.state}, words...), &Streams{
			Out: w, Err: &errs, Zone: time.UTC, Now: time.Now, Env: func(string) string { return "" },
		})
	}()
	<-ready
	t.Cleanup(func() {
		w.close()
		s.call([]string{"add", "table", "ip", "last"}, "")
		if status := <-ended; status != failed {
			t.Errorf("a monitor whose output ended has status %d", status)
		}
	})
	// The monitor tells nothing until it has read the state.
	for i := 0; w.empty(); i++ {
		s.call(strings.Fields(fmt.Sprintf("add table netdev probe%d", i)), "")
		time.Sleep(2 * pollInterval)
	}
	return w
}

func (w *watcher) empty() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Len() == 0
}

func newScripted(t *testing.T) *scripted {
	dir := t.TempDir()
	return &scripted{dir: dir, state: filepath.Join(dir, "state"), now: time.Now()}
}

func TestMonitor(t *testing.T) {
	s := newScripted(t)
	w := watch(t, s, "monitor")
	for _, call := range []string{
		"add table ip t",
		"add chain ip t c { type filter hook input priority 0; policy drop; }",
		"add set ip t s { type ipv4_addr; flags interval; }",
		"add element ip t s { 10.0.0.0/8, 192.168.0.1-192.168.0.9 }",
		"add rule ip t c tcp dport { 22, 80 } accept",
		"add rule ip t c iif eth5 accept",
		"insert rule ip t c ip saddr @s drop",
		"delete element ip t s { 10.0.0.0/8 }",
		"delete rule ip t c handle 4",
		"delete table ip t",
		"add table ip done",
	} {
		if printed, status := s.call(strings.Fields(call), ""); status != 0 {
			t.Fatalf("%s: %s", call, printed)
		}
	}
	got := w.await(t, "add table ip done\n# new generation")
	_, got, _ = strings.Cut(got, "add table ip t\n")
	got = generationLine.ReplaceAllString(got, "# new")
	want := `# new
add chain ip t c { type filter hook input priority filter; policy drop; }
# new
add set ip t s { type ipv4_addr; flags interval; } 
# new
add element ip t s { 10.0.0.0/8 }
add element ip t s { 192.168.0.1-192.168.0.9 }
# new
add rule ip t c tcp dport { 22, 80 } accept
# new
add rule ip t c iif "eth5" accept
# new
insert rule ip t c ip saddr @s drop
# new
delete element ip t s { 10.0.0.0/8 }
# new
delete rule ip t c handle 4
delete set ip t __set0
# new
delete rule ip t c handle 6
delete rule ip t c handle 5
delete set ip t s
delete chain ip t c
delete table ip t
# new
add table ip done
# new
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestMonitorFilters: event and object words select, and leave the lines of
// generations out.
func TestMonitorFilters(t *testing.T) {
	s := newScripted(t)
	w := watch(t, s, "monitor", "new", "tables")
	for _, call := range []string{"add table ip t", "add chain ip t c", "delete table ip t", "add table ip done"} {
		s.call(strings.Fields(call), "")
	}
	_, got, _ := strings.Cut(w.await(t, "add table ip done"), "add table ip t\n")
	if got != "add table ip done\n" {
		t.Errorf("got %q", got)
	}
}

func TestMonitorJSON(t *testing.T) {
	s := newScripted(t)
	w := watch(t, s, "monitor", "json")
	s.call(strings.Fields("add table ip t"), "")
	s.call(strings.Fields("add chain ip t c"), "")
	s.call(strings.Fields("add rule ip t c accept"), "")
	s.call(strings.Fields("delete chain ip t c"), "")
	got := w.await(t, `{"delete": {"chain"`)
	for _, want := range []string{
		`{"add": {"table": {"family": "ip", "name": "t", "handle": `,
		`{"add": {"chain": {"family": "ip", "table": "t", "name": "c", "handle": 1}}}`,
		`{"add": {"rule": {"family": "ip", "table": "t", "chain": "c", "handle": 2, "expr": [{"accept": null}]}}}`,
		`{"delete": {"rule": {"family": "ip", "table": "t", "chain": "c", "handle": 2`,
		`{"delete": {"chain": {"family": "ip", "table": "t", "name": "c", "handle": 1}}}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in:\n%s", want, got)
		}
	}
}

// TestMonitorMissesNothing: the journal is folded several times while the
// monitor follows.
func TestMonitorMissesNothing(t *testing.T) {
	s := newScripted(t)
	w := watch(t, s, "monitor", "tables")
	const calls = 600
	for i := range calls {
		if printed, status := s.call(strings.Fields(fmt.Sprintf("add table ip t%d", i)), ""); status != 0 {
			t.Fatal(printed)
		}
	}
	got := w.await(t, fmt.Sprintf("add table ip t%d\n", calls-1))
	for i := range calls {
		if !strings.Contains(got, fmt.Sprintf("add table ip t%d\n", i)) {
			t.Errorf("table t%d is missing", i)
		}
	}
}
