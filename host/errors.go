package host

import (
	"fmt"
	"strings"

	"verdict/diag"
)

// Error says what is wrong with the description of a host.
type Error struct {
	Source string // name of the input, empty when it has none
	// Line and Column count from 1, the column in bytes; both are 0 when the
	// configuration did not come from a text.
	Line, Column int
	Field        string // for example "interfaces[2].mac"; empty for syntax errors
	Reason       string
	Suggestion   string // a known name close to an unknown one, or ""
}

// Error returns "source:line:column: field: reason; did you mean ...".
func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString("host: ")
	if e.Source != "" {
		text.WriteString(e.Source + ":")
	}
	if e.Line > 0 {
		fmt.Fprintf(&text, "%d:%d:", e.Line, e.Column)
	}
	if e.Source != "" || e.Line > 0 {
		text.WriteString(" ")
	}
	if e.Field != "" {
		text.WriteString(e.Field + ": ")
	}
	text.WriteString(e.Reason)
	if e.Suggestion != "" {
		fmt.Fprintf(&text, "; did you mean %q?", e.Suggestion)
	}
	return text.String()
}

func nearest(word string, candidates []string) string { return diag.Nearest(word, candidates) }
