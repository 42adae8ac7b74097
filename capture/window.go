package capture

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

const windowSize = 256 << 10

// window is a sliding view of a byte stream: peek gives the next n bytes as
// one slice into the window's own buffer, which grows to the largest n asked
// for and is reused. Over a byte slice the window is that slice itself.
type window struct {
	src  io.Reader // nil when buf is the whole input
	buf  []byte
	pos  int   // next unread byte
	end  int   // end of the valid bytes
	base int64 // stream offset of buf[0]
	err  error // why src gives no more bytes
}

// offset is the stream position of the next unread byte.
func (w *window) offset() int64 { return w.base + int64(w.pos) }

// peek returns the next n bytes without consuming them. With fewer left it
// returns those and the reason; io.EOF then means the plain end of input.
func (w *window) peek(n int) ([]byte, error) {
	if w.end-w.pos >= n {
		return w.buf[w.pos : w.pos+n], nil
	}
	return w.fill(n)
}

func (w *window) fill(n int) ([]byte, error) {
	if w.src == nil {
		return w.buf[w.pos:w.end], io.EOF
	}
	w.slide()
	for w.end-w.pos < n {
		if w.err != nil {
			return w.buf[w.pos:w.end], w.err
		}
		if w.end == len(w.buf) {
			w.grow()
		}
		w.read()
	}
	return w.buf[w.pos : w.pos+n], nil
}

// slide moves the unread bytes to the front.
func (w *window) slide() {
	w.end = copy(w.buf, w.buf[w.pos:w.end])
	w.base += int64(w.pos)
	w.pos = 0
}

// grow doubles the buffer. It is called only when the bytes before it filled
// up, so that a length without sense costs no more memory than there is input.
func (w *window) grow() {
	larger := make([]byte, max(2*len(w.buf), windowSize))
	copy(larger, w.buf[:w.end])
	w.buf = larger
}

// read takes what one Read call gives, so that a pipe is followed without
// waiting for a full buffer.
func (w *window) read() {
	for range 100 {
		n, err := w.src.Read(w.buf[w.end:])
		w.end += n
		if err != nil {
			w.err = err
			return
		}
		if n > 0 {
			return
		}
	}
	w.err = io.ErrNoProgress
}

// skip consumes n bytes, or what is left, and returns how many.
func (w *window) skip(n int64) (int64, error) {
	skipped := min(n, int64(w.end-w.pos))
	w.pos += int(skipped)
	for skipped < n {
		got, err := w.peek(int(min(n-skipped, windowSize)))
		w.pos += len(got)
		skipped += int64(len(got))
		if err != nil {
			return skipped, err
		}
	}
	return skipped, nil
}

// broken turns the reason for which peek fell short into the error to report:
// a FormatError at offset when the stream ended or its compression is
// damaged, else the reader's own error.
func (w *window) broken(offset int64, err error, what string, have, want int64) error {
	switch {
	case err == io.EOF:
		return &FormatError{
			Offset: offset,
			Reason: fmt.Sprintf("%s cut short: %d of %d bytes", what, have, want),
			Err:    io.ErrUnexpectedEOF,
		}
	case damagedCompression(err):
		return &FormatError{
			Offset: w.base + int64(w.end),
			Reason: "gzip stream damaged: " + err.Error() + " (offset in the decompressed data)",
			Err:    err,
		}
	}
	return fmt.Errorf("capture: read at offset %d: %w", w.base+int64(w.end), err)
}

func damagedCompression(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) ||
		errors.As(err, &corrupt) || errors.Is(err, io.ErrUnexpectedEOF)
}
