package goals

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the README's output with the real one")

// session is a console block of the README: a command line behind "$ ", then
// its output.
var session = regexp.MustCompile("(?s)```console\n\\$ ([^\n]*)\n(.*?)```")

// volatile are the parts of output that differ from run to run.
var volatile = regexp.MustCompile(`in [0-9.]+[µm]?s: [0-9.]+ ?[kMG]? packets/s`)

func TestReadmeShowsRealOutput(t *testing.T) {
	path := filepath.Join(root(), "README.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Dir(binary(t))
	blocks := 0
	fresh := session.ReplaceAllStringFunc(string(text), func(block string) string {
		blocks++
		m := session.FindStringSubmatch(block)
		want := execute(t, bin, m[1], strings.Count(m[2], "\n"), strings.HasSuffix(m[2], "...\n"))
		if stable(want) == stable(m[2]) {
			return block
		}
		if !*update {
			t.Errorf("README shows other output than `%s` prints (go test ./internal/goals -run Readme -update):\n%s", m[1], want)
		}
		return "```console\n$ " + m[1] + "\n" + want + "```"
	})
	if blocks == 0 {
		t.Fatal("the README shows no console session")
	}
	if *update && fresh != string(text) {
		if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func stable(text string) string { return volatile.ReplaceAllString(text, "in TIME: RATE packets/s") }

// execute runs a command line of the README as a shell would. Output that the
// README cuts short with "..." is cut at the same line.
func execute(t *testing.T, bin, line string, lines int, cut bool) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = root()
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatalf("%s: %v", line, err)
	}
	text := string(out)
	if cut {
		all := strings.SplitAfter(text, "\n")
		text = strings.Join(all[:min(len(all), lines-1)], "") + "...\n"
	}
	return text
}
