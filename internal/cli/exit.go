package cli

import (
	"errors"
	"fmt"
)

// The exit statuses. The drop-ins keep their tools' own.
const (
	exitOK     = 0
	exitNo     = 1 // the answer is no: rejected ruleset, failed expectation, difference
	exitFailed = 2 // could not do it: usage, unreadable file
)

// exitError carries the exit status of a failed command. An empty message
// means that everything was said already.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// answerNo ends a command whose answer is no and was printed.
func answerNo() error { return &exitError{status: exitNo} }

// failed ends a command that could not do its work.
func failed(err error) error { return &exitError{status: exitFailed, err: err} }

func failedf(format string, args ...any) error { return failed(fmt.Errorf(format, args...)) }

// status is the exit status of an error.
func status(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.status
	}
	return exitFailed
}
