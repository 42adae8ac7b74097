package goals

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"verdict/internal/cli/nftcmd"
	"verdict/internal/testdata"
)

// shellTrace is one shell test of the reference as the calls of nft it made.
type shellTrace struct {
	Test   string      `json:"test"`
	Status string      `json:"status"`
	Needs  []string    `json:"needs"`
	Calls  []shellCall `json:"calls"`
	Final  string      `json:"final"`
}

type shellCall struct {
	Argv   []string          `json:"argv"`
	RC     int               `json:"rc"`
	Stdout string            `json:"stdout"`
	Stderr string            `json:"stderr"`
	Stdin  string            `json:"stdin"`
	Files  map[string]string `json:"files"`
}

// comparable tells whether the trace needs nothing but nft. Packets through
// the kernel, network namespaces and -o are others' business.
func (s *shellTrace) comparable() bool {
	if s.Status != "OK" || strings.Contains(s.Test, "packetpath/") || strings.Contains(s.Test, "netns/") {
		return false
	}
	for _, need := range s.Needs {
		if need != "json" && need != "interactive" {
			return false
		}
	}
	for _, c := range s.Calls {
		for _, a := range c.Argv {
			if a == "--optimize" || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "o") {
				return false
			}
		}
	}
	return true
}

// tracesGoal is the number of traces that must replay. Six recordings lack a
// file that they include.
const tracesGoal = 172

// TestGoal2ShellTraces replays the recorded calls of nft through the drop-in,
// each test in one empty state file.
func TestGoal2ShellTraces(t *testing.T) {
	var total, same, messages, sameMessages int
	for _, s := range testdata.Lines[shellTrace](t, testdata.NftTraces) {
		if !s.comparable() {
			continue
		}
		total++
		r := replayer{dir: t.TempDir()}
		if difference := r.replay(&s); difference != "" {
			t.Logf("%s: %s", s.Test, difference)
		} else {
			same++
		}
		messages += r.messages
		sameMessages += r.sameMessages
	}
	goal(t, same >= tracesGoal, "shell traces: status, output and final ruleset", share(same, total), fmt.Sprintf("at least %d", tracesGoal))
	t.Logf("error messages equal word for word: %s", share(sameMessages, messages))
}

// replayer replays one trace.
type replayer struct {
	dir                    string
	files                  []string
	messages, sameMessages int
}

// replay gives the first difference, or "".
func (r *replayer) replay(s *shellTrace) string {
	for i := range s.Calls {
		c := &s.Calls[i]
		for name, text := range c.Files {
			if err := r.write(name, text); err != nil {
				return err.Error()
			}
		}
		status, stdout, stderr := r.call(c.Argv, c.Stdin)
		r.compareMessage(c, stderr)
		if status != c.RC {
			return fmt.Sprintf("call %d %q: status %d, want %d\n%s%s", i, c.Argv, status, c.RC, stderr, c.Stderr)
		}
		if got, want := steady(stdout), steady(r.expand(c.Stdout)); got != want {
			return fmt.Sprintf("call %d %q: prints\n%s\nwant\n%s", i, c.Argv, got, want)
		}
	}
	_, final, _ := r.call([]string{"list", "ruleset"}, "")
	if got, want := steady(final), steady(s.Final); got != want {
		return fmt.Sprintf("ends with\n%s\nwant\n%s", got, want)
	}
	return ""
}

// write makes a file that a call reads, in the scratch folder also where it
// was recorded elsewhere.
func (r *replayer) write(name, text string) error {
	path := r.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	r.files = append(r.files, name)
	return os.WriteFile(path, []byte(r.expand(text)), 0o600)
}

func (r *replayer) path(name string) string {
	if strings.HasPrefix(name, "$TMP") {
		return r.expand(name)
	}
	return filepath.Join(r.dir, name)
}

// compareMessage counts equal error messages; positions in files count too.
func (r *replayer) compareMessage(c *shellCall, stderr string) {
	if c.Stderr == "" {
		return
	}
	r.messages++
	if strings.TrimSpace(stderr) == strings.TrimSpace(r.expand(c.Stderr)) {
		r.sameMessages++
	}
}

// expand puts the scratch folder into a text.
func (r *replayer) expand(text string) string { return strings.ReplaceAll(text, "$TMP", r.dir) }

func (r *replayer) call(argv []string, stdin string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	args := []string{"--state", filepath.Join(r.dir, "nft.state")}
	for _, a := range argv {
		if slices.Contains(r.files, a) {
			a = r.path(a)
		}
		args = append(args, r.expand(a))
	}
	status = nftcmd.Run("nft", args, &nftcmd.Streams{
		In: strings.NewReader(r.expand(stdin)), Out: &out, Err: &errs, Env: func(string) string { return "" },
		Now: time.Now, Zone: time.UTC,
	})
	return status, out.String(), errs.String()
}

var (
	remaining  = regexp.MustCompile(`expires [0-9dhms]+`)
	generation = regexp.MustCompile(`# new generation [0-9]+ by process [0-9]+ \([a-z]+\)`)
)

// steady takes out of an output what differs from run to run.
func steady(text string) string {
	return generation.ReplaceAllString(remaining.ReplaceAllString(text, "expires T"), "# new generation")
}

// TestGoal2Bogons: malformed input is refused, with exit status 1, without a
// crash.
func TestGoal2Bogons(t *testing.T) {
	var total, refused int
	type bogon struct {
		File, Input string
		JSON        bool
	}
	for _, c := range testdata.Lines[bogon](t, "conformance/nft/bogons.jsonl") {
		total++
		argv := []string{"-f", "-"}
		if c.JSON {
			argv = slices.Concat([]string{"-j"}, argv)
		}
		r := replayer{dir: t.TempDir()}
		if status, _, stderr := r.call(argv, c.Input); status == 1 && stderr != "" {
			refused++
		} else {
			t.Logf("%s: status %d %s", c.File, status, stderr)
		}
	}
	goal(t, refused == total, "bogons refused with status 1", share(refused, total), "all")
}
