package tc

import (
	"fmt"
	"syscall"
)

// KernelError is a request that the kernel refuses.
type KernelError struct {
	Errno   syscall.Errno
	Message string // the extended message, "" if there is none
	// Warning is shown although the request succeeded.
	Warning bool
}

// Error writes the message as tc shows it.
func (e *KernelError) Error() string {
	switch {
	case e.Message == "":
		return "RTNETLINK answers: " + errnoText(e.Errno)
	case e.Warning:
		return "Warning: " + dotted(e.Message)
	}
	return "Error: " + dotted(e.Message)
}

// Unwrap gives the errno.
func (e *KernelError) Unwrap() error { return e.Errno }

func dotted(s string) string {
	if s != "" && s[len(s)-1] == '.' {
		return s
	}
	return s + "."
}

const (
	einval = syscall.EINVAL
	enodev = syscall.ENODEV
)

// refuse makes a KernelError.
func refuse(errno syscall.Errno, format string, args ...any) *KernelError {
	return &KernelError{Errno: errno, Message: fmt.Sprintf(format, args...)}
}

// errno makes a KernelError without message.
func errno(e syscall.Errno) *KernelError { return &KernelError{Errno: e} }

// errnoTexts are the C library's texts; those of this machine may differ.
var errnoTexts = map[syscall.Errno]string{
	syscall.EPERM: "Operation not permitted", syscall.ENOENT: "No such file or directory",
	syscall.EEXIST: "File exists", syscall.EINVAL: "Invalid argument", syscall.ENOSPC: "No space left on device",
	syscall.EOPNOTSUPP: "Operation not supported", syscall.ENODEV: "No such device", syscall.EBUSY: "Device or resource busy",
	syscall.ENOMEM: "Cannot allocate memory", syscall.ERANGE: "Numerical result out of range", syscall.EIO: "Input/output error",
	syscall.E2BIG: "Argument list too long",
}

func errnoText(e syscall.Errno) string {
	if s, ok := errnoTexts[e]; ok {
		return s
	}
	return e.Error()
}

// Exit statuses of tc.
const (
	exitTool   = 1
	exitKernel = 2
	exitUsage  = 255
)

// ToolError is a command that tc itself refuses, with its exit status and the
// lines that it prints.
type ToolError struct {
	Status int
	Text   string
	// Ends says that tc exits at once, even in a batch with -force.
	Ends bool
}

// Error returns the printed text.
func (e *ToolError) Error() string { return e.Text }

// tool makes an error with status 1.
func tool(format string, args ...any) *ToolError {
	return &ToolError{Status: exitTool, Text: fmt.Sprintf(format, args...)}
}

// usage makes an error with status 255 that ends tc.
func usage(format string, args ...any) *ToolError {
	return &ToolError{Status: exitUsage, Text: fmt.Sprintf(format, args...), Ends: true}
}

// wrong is tc's message for an argument that it does not understand.
func wrong(arg, why string) *ToolError { return usage("Error: argument %q is wrong: %s", arg, why) }

func incomplete() *ToolError { return usage(`Command line is not complete. Try option "help"`) }

// illegal follows on an error of an argument with tc's summary.
func illegal(err *ToolError, what string) *ToolError {
	if err == nil {
		return tool("Illegal %q", what)
	}
	if err.Ends {
		return err
	}
	return &ToolError{Status: exitTool, Text: err.Text + "\n" + fmt.Sprintf("Illegal %q", what)}
}
