package diag

import (
	"fmt"
	"sort"
	"strings"
)

// Severity ranks a diagnostic.
type Severity uint8

// The severities. Only errors make an input unusable.
const (
	Error Severity = iota
	Warning
	Note
)

func (s Severity) String() string {
	switch s {
	case Warning:
		return "warning"
	case Note:
		return "note"
	}
	return "error"
}

// Code names a class of diagnostics for good, such as "syntax/unexpected" or
// "kernel/EEXIST"; scripts and docs/diagnostics.md refer to it.
type Code string

// Diagnostic is one finding about a source.
type Diagnostic struct {
	Severity Severity
	Code     Code
	Message  string
	Span     Span   // the primary place, marked ^
	Related  []Span // further places, marked ~
	Hint     string // what to do about it, a clause without full stop
	Expected []string
}

// Error is the one-line form: file:line:column: severity: message.
func (d *Diagnostic) Error() string {
	var b strings.Builder
	if d.Span.IsValid() {
		p := d.Span.Pos()
		fmt.Fprintf(&b, "%s:%d:%d: ", d.Span.Source.Name, p.Line, p.Column)
	}
	fmt.Fprintf(&b, "%s: %s", d.Severity, Printable(d.Message))
	return b.String()
}

// List collects diagnostics in the order they were found. The zero List is
// ready to use. It is not safe for concurrent use.
type List struct {
	all    []*Diagnostic
	errors int
}

// Add appends a diagnostic.
func (l *List) Add(d *Diagnostic) {
	l.all = append(l.all, d)
	if d.Severity == Error {
		l.errors++
	}
}

// Errorf adds an error at a place and returns it for further detail.
func (l *List) Errorf(span Span, code Code, format string, args ...any) *Diagnostic {
	d := &Diagnostic{Severity: Error, Code: code, Span: span, Message: fmt.Sprintf(format, args...)}
	l.Add(d)
	return d
}

// Warnf adds a warning at a place.
func (l *List) Warnf(span Span, code Code, format string, args ...any) *Diagnostic {
	d := &Diagnostic{Severity: Warning, Code: code, Span: span, Message: fmt.Sprintf(format, args...)}
	l.Add(d)
	return d
}

// All returns the diagnostics in order.
func (l *List) All() []*Diagnostic { return l.all }

// Errors is the number of errors.
func (l *List) Errors() int { return l.errors }

// HasErrors reports whether any error was added.
func (l *List) HasErrors() bool { return l.errors > 0 }

// Sort orders by source name, then position, keeping the order of equals.
func (l *List) Sort() {
	sort.SliceStable(l.all, func(i, j int) bool {
		a, b := l.all[i].Span, l.all[j].Span
		if a.Source != b.Source {
			if a.Source == nil || b.Source == nil {
				return a.Source == nil
			}
			return a.Source.Name < b.Source.Name
		}
		return a.Start < b.Start
	})
}

// Err returns the list as an error, or nil where it holds no error.
func (l *List) Err() error {
	if l.errors == 0 {
		return nil
	}
	return &ListError{List: l}
}

// ListError is a List that holds at least one error.
type ListError struct{ List *List }

// Error gives the first error and how many more there are.
func (e *ListError) Error() string {
	for _, d := range e.List.all {
		if d.Severity != Error {
			continue
		}
		if e.List.errors > 1 {
			return fmt.Sprintf("%s (and %d more)", d.Error(), e.List.errors-1)
		}
		return d.Error()
	}
	return "no error"
}
