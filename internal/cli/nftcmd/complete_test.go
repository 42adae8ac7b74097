package nftcmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"verdict/internal/store"
)

func TestComplete(t *testing.T) {
	s := newScripted(t)
	s.call([]string{"add table inet filter; add chain inet filter forward_; add set inet filter friends { type ipv4_addr; }; add table ip nat"}, "")
	n := &session{Streams: &Streams{Now: time.Now}, store: store.Open(s.state, store.Options{})}
	for _, c := range []struct {
		line string
		head string
		want []string // among the words offered
		not  []string
	}{
		{"ad", "", []string{"add "}, []string{"accept"}},
		{"list table inet f", "list table inet ", []string{"filter"}, []string{"nat", "forward_"}},
		{"add rule inet filter f", "add rule inet filter ", []string{"forward_", "friends"}, []string{"nat"}},
		{"add rule inet filter forward_ ip saddr @", "add rule inet filter forward_ ip saddr ", []string{"@friends"}, nil},
		{"add rule inet filter forward_ tcp dp", "add rule inet filter forward_ tcp ", []string{"dport"}, []string{"sport"}},
	} {
		head, words, tail := n.complete(c.line, len(c.line))
		if head != c.head || tail != "" {
			t.Errorf("%q: completes behind %q, %q left", c.line, head, tail)
		}
		for _, w := range c.want {
			if !slices.Contains(words, w) {
				t.Errorf("%q: %v lacks %q", c.line, words, w)
			}
		}
		for _, w := range c.not {
			if slices.Contains(words, w) {
				t.Errorf("%q offers %q", c.line, w)
			}
		}
	}
}

// TestDamagedState: a damaged file is refused with its offset, and kept.
func TestDamagedState(t *testing.T) {
	s := newScripted(t)
	s.call([]string{"add", "table", "ip", "t"}, "")
	data, err := os.ReadFile(s.state)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-5] ^= 1
	if err := os.WriteFile(s.state, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"list", "ruleset"}, {"add", "table", "ip", "u"}} {
		printed, status := s.call(words, "")
		if status != failed || !strings.Contains(printed, "is damaged at byte ") {
			t.Errorf("%v: status %d: %s", words, status, printed)
		}
	}
	if kept, _ := os.ReadFile(s.state); !slices.Equal(kept, data) {
		t.Error("the file was not kept")
	}
}

// TestUnwritableState: a folder that cannot be written to fails a change and
// still lets listings through.
func TestUnwritableState(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("skipped: root may write anywhere")
	}
	s := newScripted(t)
	s.call([]string{"add", "table", "ip", "t"}, "")
	if err := os.Chmod(filepath.Dir(s.state), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Dir(s.state), 0o700) })
	if printed, status := s.call([]string{"list", "tables"}, ""); status != succeeded {
		t.Error(printed)
	}
}
