package elem

import "errors"

// Error is an error with the kernel's number for it.
type Error struct {
	// Errno is the Linux error number.
	Errno int
	// Name is its symbol, such as "EEXIST".
	Name string
	text string
}

func (e *Error) Error() string { return e.text }

// The errors of sets. Backends wrap them with context; compare with errors.Is
// or take the number with Errno.
var (
	ErrNoEntry     = &Error{2, "ENOENT", "no such element"}
	ErrTooBig      = &Error{7, "E2BIG", "too many fields"}
	ErrNoMemory    = &Error{12, "ENOMEM", "out of memory"}
	ErrBusy        = &Error{16, "EBUSY", "set is in use"}
	ErrExist       = &Error{17, "EEXIST", "element exists"}
	ErrInvalid     = &Error{22, "EINVAL", "invalid element"}
	ErrFull        = &Error{23, "ENFILE", "set is full"}
	ErrNoSpace     = &Error{28, "ENOSPC", "too many rules in a field"}
	ErrRange       = &Error{34, "ERANGE", "value out of range"}
	ErrNotEmpty    = &Error{39, "ENOTEMPTY", "element overlaps another one"}
	ErrUnsupported = &Error{95, "EOPNOTSUPP", "not supported by any kind of set"}
	ErrCanceled    = &Error{125, "ECANCELED", "element is there already and needs no change"}
)

// Errno returns the Linux error number of err: 0 for nil and for errors that
// are not of this package.
func Errno(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Errno
	}
	return 0
}
