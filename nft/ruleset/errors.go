package ruleset

import (
	"errors"
	"fmt"
	"syscall"

	"verdict/diag"
	"verdict/nft/expr"
	"verdict/set/elem"
)

// ChangeError is the refusal of one change, as the kernel would answer it.
type ChangeError struct {
	Index   int // of the change in the batch
	Change  *Change
	Errno   syscall.Errno
	Place   diag.Span // the offending word, or the whole command
	Message string    // as nft prints it
	Hint    string    // the nearest valid thing, empty if there is none
	Reason  string    // what was wrong in our own words, for people
}

// Error is the message with the reason.
func (e *ChangeError) Error() string {
	if e.Reason == "" {
		return e.Message
	}
	return e.Message + ": " + e.Reason
}

// Unwrap gives the errno, so that errors.Is(err, syscall.EEXIST) works.
func (e *ChangeError) Unwrap() error { return e.Errno }

// Code is the stable code of the diagnostic: kernel/ and the errno's name.
func (e *ChangeError) Code() diag.Code { return diag.Code("kernel/" + ErrnoName(e.Errno)) }

// Diagnostic is the error in the form of the other mistakes in a ruleset's
// text.
func (e *ChangeError) Diagnostic() *diag.Diagnostic {
	return &diag.Diagnostic{Code: e.Code(), Message: e.Error(), Span: e.Place, Hint: e.Hint}
}

// refusal is why a change is refused, before it is tied to the change.
type refusal struct {
	errno  syscall.Errno
	word   word
	place  diag.Span // instead of word, if valid
	reason string
	hint   string
	// message replaces the usual one.
	message string
}

func (r *refusal) Error() string { return r.reason + ": " + r.errno.Error() }

// word is the part of a command that an error marks.
type word uint8

const (
	wholeCommand word = iota
	tableWord
	nameWord
	handleWord
)

func (r *refusal) at(w word) *refusal {
	r.word = w
	return r
}

func (r *refusal) on(place diag.Span) *refusal {
	r.place = place
	return r
}

func refuse(errno syscall.Errno, format string, args ...any) *refusal {
	return &refusal{errno: errno, reason: fmt.Sprintf(format, args...)}
}

// refused turns the errors of expressions and sets into refusals.
func refused(err error) *refusal {
	var r *refusal
	if errors.As(err, &r) {
		return r
	}
	var e *expr.Error
	if errors.As(err, &e) {
		return &refusal{errno: e.Errno, reason: e.Reason}
	}
	if n := elem.Errno(err); n != 0 {
		return &refusal{errno: setErrno(n), reason: err.Error()}
	}
	return &refusal{errno: syscall.EINVAL, reason: err.Error()}
}

// linuxErrnos names the errnos of the kernel that changes can get, with their
// Linux numbers and the C library's texts, so that messages and numbers are
// the same on every system.
var linuxErrnos = []struct {
	errno  syscall.Errno
	number int
	name   string
	text   string
}{
	{syscall.EPERM, 1, "EPERM", "Operation not permitted"},
	{syscall.ENOENT, 2, "ENOENT", "No such file or directory"},
	{syscall.EIO, 5, "EIO", "Input/output error"},
	{syscall.E2BIG, 7, "E2BIG", "Argument list too long"},
	{syscall.ENOMEM, 12, "ENOMEM", "Cannot allocate memory"},
	{syscall.EBUSY, 16, "EBUSY", "Device or resource busy"},
	{syscall.EEXIST, 17, "EEXIST", "File exists"},
	{syscall.ENODEV, 19, "ENODEV", "No such device"},
	{syscall.EINVAL, 22, "EINVAL", "Invalid argument"},
	{syscall.ENFILE, 23, "ENFILE", "Too many open files in system"},
	{syscall.EMFILE, 24, "EMFILE", "Too many open files"},
	{syscall.EFBIG, 27, "EFBIG", "File too large"},
	{syscall.ENOSPC, 28, "ENOSPC", "No space left on device"},
	{syscall.EMLINK, 31, "EMLINK", "Too many links"},
	{syscall.ERANGE, 34, "ERANGE", "Numerical result out of range"},
	{syscall.ENAMETOOLONG, 36, "ENAMETOOLONG", "File name too long"},
	{syscall.ENOTEMPTY, 39, "ENOTEMPTY", "Directory not empty"},
	{syscall.ELOOP, 40, "ELOOP", "Too many levels of symbolic links"},
	{syscall.EOVERFLOW, 75, "EOVERFLOW", "Value too large for defined data type"},
	{syscall.EOPNOTSUPP, 95, "EOPNOTSUPP", "Operation not supported"},
	{syscall.ENODATA, 61, "ENODATA", "No data available"},
	{syscall.EAFNOSUPPORT, 97, "EAFNOSUPPORT", "Address family not supported by protocol"},
	{syscall.EPROTONOSUPPORT, 93, "EPROTONOSUPPORT", "Protocol not supported"},
	{syscall.ECANCELED, 125, "ECANCELED", "Operation canceled"},
}

// ErrnoText is the C library's text of an errno, as nft prints it.
func ErrnoText(errno syscall.Errno) string {
	for _, e := range linuxErrnos {
		if e.errno == errno {
			return e.text
		}
	}
	return errno.Error()
}

// ErrnoName is the symbol of an errno, such as EEXIST.
func ErrnoName(errno syscall.Errno) string {
	for _, e := range linuxErrnos {
		if e.errno == errno {
			return e.name
		}
	}
	return "E" + fmt.Sprint(int(errno))
}

func setErrno(number int) syscall.Errno {
	for _, e := range linuxErrnos {
		if e.number == number {
			return e.errno
		}
	}
	return syscall.Errno(number)
}

// changeError ties a refusal to its change.
func changeError(i int, c *Change, r *refusal) *ChangeError {
	e := &ChangeError{Index: i, Change: c, Errno: r.errno, Hint: r.hint, Reason: r.reason, Place: c.Place}
	switch {
	case r.place.IsValid():
		e.Place = r.place
	case r.word == tableWord && c.TablePlace.IsValid():
		e.Place = c.TablePlace
	case r.word == nameWord && c.NamePlace.IsValid():
		e.Place = c.NamePlace
	case r.word == handleWord && c.HandlePlace.IsValid():
		e.Place = c.HandlePlace
	}
	switch {
	case r.message != "":
		e.Message = r.message
	case r.hint != "":
		e.Message = ErrnoText(r.errno) + "; " + r.hint
	default:
		e.Message = "Could not process rule: " + ErrnoText(r.errno)
	}
	return e
}
