package build

import "fmt"

// Error says what is wrong with a packet's text, and where.
type Error struct {
	// Offset is the byte offset of the offending word in the text, Length
	// its length. At the end of the text Length is 0.
	Offset, Length int
	// Message is in lower case, without position.
	Message string
	// Suggestion is a known word close to the offending one, or empty.
	Suggestion string
}

// Error gives column, counted in bytes from 1, message and suggestion.
func (e *Error) Error() string {
	s := fmt.Sprintf("column %d: %s", e.Offset+1, e.Message)
	if e.Suggestion != "" {
		s += fmt.Sprintf(" (did you mean %q?)", e.Suggestion)
	}
	return s
}
