package offload

import "syscall"

// Refusal says why a device did not take a rule: the errno that the driver
// returns, its message, and a sentence with the details for explanations.
type Refusal struct {
	Errno   syscall.Errno
	Message string // without the driver's name; empty if the driver says nothing
	Driver  string
	Reason  string
}

// Error returns the driver's message as the kernel shows it.
func (r *Refusal) Error() string {
	if r.Message == "" {
		return r.Reason
	}
	return r.Driver + ": " + r.Message
}

// Unwrap gives the errno.
func (r *Refusal) Unwrap() error { return r.Errno }
