//go:build !windows && (!unix || solaris || illumos || aix)

package store

import (
	"errors"
	"os"
)

// tryLock fails: two callers at once would lose changes.
func tryLock(*os.File, bool) error {
	return errors.New("locks of files are not supported on this system")
}
