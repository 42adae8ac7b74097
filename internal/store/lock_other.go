//go:build !windows && (!unix || solaris || illumos || aix)

package store

import (
	"errors"
	"os"
)

// takeLock fails: two callers at once would lose changes.
func takeLock(*os.File, bool, bool) error {
	return errors.New("locks of files are not supported on this system")
}
