package store

import (
	"errors"
	"os"
	"path/filepath"
)

// DefaultPath is the state file of a user who names none: nft.state in the
// folder verdict of $XDG_STATE_HOME, by default ~/.local/state.
func DefaultPath(env func(string) string) (string, error) {
	if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "verdict", "nft.state"), nil
	}
	home := env("HOME")
	if home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return "", errors.New("no home directory is known; name a state file with --state or $VERDICT_STATE")
		}
	}
	return filepath.Join(home, ".local", "state", "verdict", "nft.state"), nil
}

// maxLinks is how many symbolic links lead to a file at most, as in Linux.
const maxLinks = 40

// linkTarget follows a name that is a symbolic link to the name that it leads
// to, which need not exist: so that the lock and the file written are the same
// whatever the name. Links in a circle are left to be refused when opened.
func linkTarget(path string) string {
	target := path
	for range maxLinks {
		next, err := os.Readlink(target)
		if err != nil {
			return target
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(target), next)
		}
		target = next
	}
	return path
}
