package capture

import "fmt"

// FormatError says that a capture is damaged, cut short, or of a kind that is
// not supported. All frames before Offset were delivered.
type FormatError struct {
	// Offset is the place in bytes from the start of the stream; of the
	// decompressed stream when the input is gzip-compressed.
	Offset int64
	// Reason says what is wrong there.
	Reason string
	// Err is the error beneath, if any: io.ErrUnexpectedEOF when the stream
	// ends inside a record.
	Err error
}

// Error returns "offset N: reason".
func (e *FormatError) Error() string {
	return fmt.Sprintf("capture: offset %d: %s", e.Offset, e.Reason)
}

// Unwrap returns the error beneath.
func (e *FormatError) Unwrap() error { return e.Err }

func formatError(offset int64, reason string, args ...any) *FormatError {
	return &FormatError{Offset: offset, Reason: fmt.Sprintf(reason, args...)}
}
