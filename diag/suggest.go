package diag

// Nearest returns the candidate closest to a word, or "" when none is close
// enough to be a plausible slip: at most a third of its letters differ
// (insertions, deletions, replacements, swapped neighbours).
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", len(word)/3+1
	for _, c := range candidates {
		if c == word {
			continue
		}
		if d := distance(word, c, bestDistance); d < bestDistance || (d == bestDistance && best == "" && d <= len(word)/3) {
			best, bestDistance = c, d
		}
	}
	return best
}

// Misspelled returns the candidate closest to the name of an object that does
// not exist, as nft suggests one: up to half of the longer name's letters may
// differ, and the first of equals wins.
func Misspelled(name string, candidates []string) string {
	best, bestDistance := "", len(name)+1
	for _, c := range candidates {
		longer := max(len(name), len(c))
		if c == name || longer <= 1 {
			continue
		}
		if d := distance(name, c, longer); d <= (longer+1)/2 && d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the optimal string alignment distance, cut off above limit.
func distance(a, b string, limit int) int {
	if diff := len(a) - len(b); diff > limit || -diff > limit {
		return limit + 1
	}
	before, previous, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	return previous[len(b)]
}
