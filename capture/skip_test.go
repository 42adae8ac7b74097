package capture

import (
	"errors"
	"io"
	"testing"
)

func TestNth(t *testing.T) {
	file := newPcapFile(little, pcapMagicMicro, 4, 0, 1).record(0, 0, 1, 1, "a").record(0, 0, 1, 1, "b").b
	open := func(cut int) Source {
		reader, err := NewBytesReader(file[:len(file)-cut], Options{})
		if err != nil {
			t.Fatal(err)
		}
		return reader
	}
	var frame Frame
	if err := Nth(open(0), 2, &frame); err != nil || string(frame.Data) != "b" || frame.Index != 1 {
		t.Errorf("frame 2: %v, %q, index %d", err, frame.Data, frame.Index)
	}
	err := Nth(open(0), 4, &frame)
	if !errors.Is(err, ErrNoSuchFrame) || err.Error() != "frame 4: no such frame: the capture has 2" {
		t.Errorf("frame 4: %v", err)
	}
	if err := Nth(open(0), 0, &frame); !errors.Is(err, ErrNoSuchFrame) {
		t.Errorf("frame 0: %v", err)
	}
	var format *FormatError
	if err := Nth(open(1), 2, &frame); !errors.As(err, &format) {
		t.Errorf("frame 2 of a cut file: %v", err)
	}
	if n, err := Skip(open(0), 3); n != 2 || err != io.EOF {
		t.Errorf("skip 3: %d, %v", n, err)
	}
}
