package capture

import (
	"errors"
	"fmt"
	"io"
)

// ErrNoSuchFrame says that a capture ended before the frame asked for.
var ErrNoSuchFrame = errors.New("no such frame")

// Skip passes over n frames. It returns how many there were, and io.EOF or the
// reading error when there were fewer.
func Skip(source Source, n int) (int, error) {
	var frame Frame
	for skipped := range n {
		if err := source.Next(&frame); err != nil {
			return skipped, err
		}
	}
	return n, nil
}

// Nth reads frame number n, counted from 1 as capture tools do, from a source
// that stands at its beginning. The cost is that of reading all frames before
// it. Past the end the error wraps ErrNoSuchFrame and says how many there are.
func Nth(source Source, n int, frame *Frame) error {
	if n < 1 {
		return fmt.Errorf("frame %d: %w: frames count from 1", n, ErrNoSuchFrame)
	}
	skipped, err := Skip(source, n-1)
	if err == nil {
		err = source.Next(frame)
	}
	if err == io.EOF {
		return fmt.Errorf("frame %d: %w: the capture has %d", n, ErrNoSuchFrame, skipped)
	}
	return err
}
