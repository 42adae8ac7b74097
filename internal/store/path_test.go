package store

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLinks: a store has one file and one lock, whatever links lead to it, and
// links stay links.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	now := second
	for name, to := range map[string]string{"one": "file", "two": "one", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	update(t, open(filepath.Join(dir, "two"), &now), "add table ip a") // the file is not there yet
	update(t, open(filepath.Join(dir, "one"), &now), "add table ip b")
	update(t, open(filepath.Join(dir, "file"), &now), "add table ip c")
	for _, name := range []string{"one", "two", "file"} {
		s := open(filepath.Join(dir, name), &now)
		if n := len(read(t, s).Rules.Tables); n != 3 {
			t.Errorf("%s: %d tables, want 3", name, n)
		}
	}
	for _, name := range []string{"one", "two"} {
		if _, err := os.Readlink(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, name+".lock")); err == nil {
			t.Errorf("%s has a lock of its own", name)
		}
	}
	if _, err := open(filepath.Join(dir, "loop"), &now).Read(); err == nil {
		t.Error("links in a circle can be read")
	}
}
