package expr

import (
	"fmt"
	"syscall"
)

// Error is a refusal of the kernel: an errno and what was wrong.
type Error struct {
	Errno  syscall.Errno
	Reason string
}

func (e *Error) Error() string { return e.Reason + ": " + e.Errno.Error() }

// Unwrap gives the errno, so that errors.Is(err, syscall.EINVAL) works.
func (e *Error) Unwrap() error { return e.Errno }

func refuse(errno syscall.Errno, format string, args ...any) error {
	return &Error{Errno: errno, Reason: fmt.Sprintf(format, args...)}
}

// Checker carries what the checks of a rule need: the registers written so
// far and the place the rule stands in. Make one per rule.
type Checker struct {
	Place   Place
	written [FileSize / 4]bool
}

// Place is the context of a rule: its family and what a set reference means.
type Place struct {
	Family uint8
	// SetByName describes a set visible to the rule; nil if it does not exist.
	SetByName func(name string, id uint32) *SetInfo
	// ChainExists reports whether a chain may be the target of a jump, and
	// whether it is a base chain.
	ChainExists func(name string) (exists, base bool)
	// ObjectExists reports whether a stateful object exists.
	ObjectExists func(t ObjectType, name string) bool
}

// SetInfo is what expressions need to know of a set.
type SetInfo struct {
	Flags           uint32
	KeyLen, DataLen uint32
	VerdictData     bool
	Exprs           []Expr
}
