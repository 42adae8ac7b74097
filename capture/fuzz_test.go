package capture

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// checkDamaged reads a file that may be damaged anyhow, as a stream and from
// memory: no panic, the same frames both ways, an offset within the file, and
// the frames survive writing.
func checkDamaged(t *testing.T, file []byte) {
	memory, memoryErr := NewBytesReader(file, Options{})
	stream, streamErr := NewReader(bytes.NewReader(file), Options{})
	var written bytes.Buffer
	sink := NewPcapngSink(&written)
	frames, kept := 0, 0
	for memoryErr == nil && streamErr == nil {
		var a, b Frame
		memoryErr, streamErr = memory.Next(&a), stream.Next(&b)
		if memoryErr != nil || streamErr != nil {
			break
		}
		if x, y := summary(&a), summary(&b); x != y || a.Offset != b.Offset {
			t.Fatalf("frame %d: %s at %d from memory, %s at %d as a stream", frames, x, a.Offset, y, b.Offset)
		}
		frames++
		if sink.Write(&a) == nil {
			kept++
		}
	}
	if memoryErr == nil || streamErr == nil || memoryErr.Error() != streamErr.Error() {
		t.Fatalf("after %d frames: %v from memory, %v as a stream", frames, memoryErr, streamErr)
	}
	var format *FormatError
	compressed := bytes.HasPrefix(file, []byte("\x1f\x8b"))
	if errors.As(memoryErr, &format) && !compressed && (format.Offset < 0 || format.Offset > int64(len(file))) {
		t.Fatalf("offset %d in a file of %d bytes", format.Offset, len(file))
	}
	if !errors.As(memoryErr, &format) && memoryErr != io.EOF {
		t.Fatalf("an untyped error: %v", memoryErr)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := NewBytesReader(written.Bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := Skip(again, frames+1); n != kept || err != io.EOF {
		t.Fatalf("wrote %d frames, read %d back: %v", kept, n, err)
	}
}

func FuzzPcap(f *testing.F) {
	for _, test := range readTable {
		if len(test.file) >= 4 && !bytes.HasPrefix(test.file, []byte("\x0a\x0d\x0d\x0a")) {
			f.Add(test.file)
		}
	}
	f.Fuzz(checkDamaged)
}

func FuzzPcapng(f *testing.F) {
	for _, test := range readTable {
		if bytes.HasPrefix(test.file, []byte("\x0a\x0d\x0d\x0a")) && len(test.file) < 5000 {
			f.Add(test.file)
		}
	}
	f.Fuzz(checkDamaged)
}
