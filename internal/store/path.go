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
