package kernel

import (
	"slices"
	"strings"
)

// maxTries bounds the work for one case, which a kernel that is busy makes slow.
const maxTries = 600

// Shrink makes a failing case smaller as long as it fails: first packets, then
// tables, chains and sets, then single rules. It tries maxTries at most.
func Shrink(c *Case, fails func(*Case) bool) *Case {
	best := *c
	tries := 0
	try := func(next Case) bool {
		if tries++; tries > maxTries || !fails(&next) {
			return false
		}
		best = next
		return true
	}
	shrinkPackets(&best, try)
	for changed := true; changed; {
		changed = shrinkBlocks(&best, try)
	}
	return &best
}

func shrinkPackets(best *Case, try func(Case) bool) {
	for size := len(best.Packets) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(best.Packets); {
			next := *best
			next.Packets = slices.Delete(slices.Clone(best.Packets), at, at+size)
			if !try(next) {
				at += size
			}
		}
	}
}

// shrinkBlocks takes blocks and lines out, one at a time.
func shrinkBlocks(best *Case, try func(Case) bool) (changed bool) {
	for at := 0; ; at++ {
		lines := strings.Split(best.Ruleset, "\n")
		if at >= len(lines) {
			return changed
		}
		n := blockAt(lines, at)
		if n == 0 {
			continue
		}
		next := *best
		next.Ruleset = strings.Join(slices.Delete(slices.Clone(lines), at, at+n), "\n")
		if try(next) {
			changed = true
			at--
		}
	}
}

// blockAt is how many lines from here on can be taken out together: a whole
// block, or a line in the middle of one.
func blockAt(lines []string, at int) int {
	line := lines[at]
	indent := len(line) - len(strings.TrimLeft(line, "\t"))
	switch {
	case strings.TrimSpace(line) == "":
		return 1
	case strings.HasSuffix(line, "{"):
		end := strings.Repeat("\t", indent) + "}"
		for i := at + 1; i < len(lines); i++ {
			if lines[i] == end {
				return i - at + 1
			}
		}
		return 0
	case strings.TrimSpace(line) == "}", strings.HasPrefix(line, "\t\ttype "):
		return 0
	}
	return 1
}
