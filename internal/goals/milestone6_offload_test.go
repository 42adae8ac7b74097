package goals

import (
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// TestGoal6NftOffload counts the rows of the tables that say what nft puts into
// hardware, and what is refused with which errno.
func TestGoal6NftOffload(t *testing.T) {
	cmd := exec.Command("go", "test", "-count=1", "-v", "-run", "^TestOffload(Rows|Refusals)$", ".")
	cmd.Dir = root()
	out, err := cmd.CombinedOutput()
	found := regexp.MustCompile(`(\d+) of (\d+) rows`).FindAllSubmatch(out, -1)
	if len(found) != 2 {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, what := range []string{"nft offload: expressions translated, or refused with the kernel's errno", "nft offload: chains, flowtables and batches taken, or refused with the kernel's errno"} {
		n, _ := strconv.Atoi(string(found[i][1]))
		all, _ := strconv.Atoi(string(found[i][2]))
		goal(t, n == all, what, share(n, all), "all rows")
	}
	if err != nil {
		t.Logf("%s", out)
	}
}
