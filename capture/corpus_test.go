package capture

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"verdict/internal/testdata"
)

// corpusEntry is a line of the corpus's index.
type corpusEntry struct {
	File    string `json:"file"`
	Packets int    `json:"packets"`
}

func corpus(t testing.TB) (dir string, entries []corpusEntry) {
	dir = testdata.Path(t, "corpus/pcap")
	index, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(index, &entries); err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		t.Fatal("the corpus index lists no captures")
	}
	return dir, entries
}

// readAll counts the frames of a source and checks what every frame promises.
func readAll(t testing.TB, source Source) (frames int, err error) {
	t.Helper()
	var frame Frame
	lastOffset := int64(-1)
	for {
		if err := source.Next(&frame); err != nil {
			if again := source.Next(&frame); again != err {
				t.Errorf("after the error %v, Next returned %v", err, again)
			}
			return frames, err
		}
		if frame.Index != frames || frame.Offset <= lastOffset {
			t.Fatalf("frame %d: index %d, offset %d after %d", frames, frame.Index, frame.Offset, lastOffset)
		}
		if frame.OrigLen < len(frame.Data) {
			t.Fatalf("frame %d: original length %d < captured %d", frames, frame.OrigLen, len(frame.Data))
		}
		if known := len(source.Interfaces()); frame.Interface < 0 || frame.Interface >= known {
			t.Fatalf("frame %d: interface %d of %d", frames, frame.Interface, known)
		}
		lastOffset = frame.Offset
		frames++
	}
}

// Every real capture is read to its end, or to a damaged place that is named.
func TestCorpus(t *testing.T) {
	dir, entries := corpus(t)
	for _, entry := range entries {
		reader, err := Open(filepath.Join(dir, entry.File), Options{})
		if err != nil {
			t.Errorf("%s: %v", entry.File, err)
			continue
		}
		frames, err := readAll(t, reader)
		if err := reader.Close(); err != nil {
			t.Errorf("%s: close: %v", entry.File, err)
		}
		var format *FormatError
		switch {
		case errors.As(err, &format):
			t.Logf("%s: %d frames, then %v; the index counts %d", entry.File, frames, err, entry.Packets)
		case err != io.EOF:
			t.Errorf("%s: %v", entry.File, err)
		case frames != entry.Packets:
			t.Errorf("%s: %d frames, the index counts %d", entry.File, frames, entry.Packets)
		}
	}
}
