//go:build !linux

package kernel

import "errors"

// Available tells why the oracle cannot run here: it needs Linux.
func Available() error { return errors.New("the oracle needs Linux") }
