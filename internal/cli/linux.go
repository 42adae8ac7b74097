package cli

import (
	"strconv"
	"strings"
)

// olderThan71 reads --linux: a version as uname -r prints it.
func olderThan71(version string) (bool, error) {
	if version == "" {
		return false, nil
	}
	major, rest, _ := strings.Cut(version, ".")
	minor := rest
	if end := strings.IndexFunc(rest, func(c rune) bool { return c < '0' || c > '9' }); end >= 0 {
		minor = rest[:end]
	}
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	if errA != nil || errB != nil || a < 0 {
		return false, failedf("--linux %s: write a version such as 6.18 or 7.1", version)
	}
	return a < 7 || a == 7 && b < 1, nil
}
