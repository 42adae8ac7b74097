package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// maxSize keeps the captures small enough for a repository.
const maxSize = 600_000

// The captures in the repository are what the program writes.
func TestCapturesAreCurrent(t *testing.T) {
	folder := t.TempDir()
	if err := run(folder); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"server.pcap", "gateway.pcapng"} {
		made, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(made, kept) {
			t.Errorf("examples/%s differs from what makecapture writes; run: go run ./examples/makecapture", name)
		}
		if len(kept) > maxSize {
			t.Errorf("examples/%s has %d bytes, more than %d", name, len(kept), maxSize)
		}
	}
}

func TestRunIntoMissingFolder(t *testing.T) {
	if err := run(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("wrote into a folder that does not exist")
	}
}
