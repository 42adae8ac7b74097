package goals

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"verdict/internal/testdata"
	"verdict/tc"
)

// tdcCase is a case of the kernel's tc-testing suite.
type tdcCase struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Setup    []json.RawMessage `json:"setup"`
	Command  string            `json:"cmdUnderTest"`
	Exit     json.RawMessage   `json:"expExitCode"`
	Verify   string            `json:"verifyCmd"`
	Pattern  string            `json:"matchPattern"`
	Count    json.RawMessage   `json:"matchCount"`
	JSON     json.RawMessage   `json:"matchJSON"`
	Teardown []json.RawMessage `json:"teardown"`
}

// tdcWorld runs the commands of one case.
type tdcWorld struct {
	s     *tc.System
	batch string
}

var tdcNames = strings.NewReplacer("$DEV0", "v0p0", "$DEV1", "v0p1", "$DEV2", "d9", "$DUMMY", "dummy1", "$ETH", "d9", "$EBPFDIR", "/nowhere")

func newTDCWorld() *tdcWorld {
	w := &tdcWorld{s: tc.New(tc.Config{})}
	for _, n := range []string{"v0p0", "v0p1", "d9", "dummy1"} {
		w.s.AddDevice(tc.Device{Name: n})
	}
	return w
}

// run executes a command line of the suite and returns status and output.
func (w *tdcWorld) run(t *testing.T, line string) (int, string) {
	line = tdcNames.Replace(line)
	switch {
	case strings.HasPrefix(line, "bash -c"):
		return w.shell(t, line)
	case strings.Contains(line, "tdc_batch.py"):
		return w.makeBatch(line)
	case strings.Contains(line, "$BATCH_FILE"):
		o := w.s.Batch("batch", strings.NewReader(w.batch), tc.Options{})
		return o.Status, o.Stdout
	}
	args := splitShell(strings.TrimSpace(strings.TrimPrefix(line, "$TC")))
	o := w.s.Run(args, func(string) (io.ReadCloser, error) { return nil, os.ErrNotExist })
	return o.Status, o.Stdout
}

// shell lets bash write the command lines that it would run, then runs them.
func (w *tdcWorld) shell(t *testing.T, line string) (int, string) {
	line = strings.ReplaceAll(line, "| $TC -b -", "")
	out, err := exec.Command("bash", "-c", strings.ReplaceAll(line, "$TC", "echo")).CombinedOutput()
	if err != nil {
		t.Logf("bash: %v %s", err, out)
		return 1, ""
	}
	o := w.s.Batch("-", bytes.NewReader(out), tc.Options{})
	return o.Status, o.Stdout
}

// makeBatch writes what the suite's generator of big batches writes: filters
// with an address each, all with one action.
func (w *tdcWorld) makeBatch(line string) (int, string) {
	n := 1000000
	if testing.Short() {
		n = 10000
	}
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "filter add dev d9 ingress protocol ip pref 1 flower skip_hw src_mac e4:11:00:%02x:%02x:%02x dst_mac e4:12:00:%02x:%02x:%02x action drop index 1\n",
			i>>16&255, i>>8&255, i&255, i>>16&255, i>>8&255, i&255)
	}
	w.batch = b.String()
	return 0, ""
}

func splitShell(line string) []string {
	var out []string
	var cur strings.Builder
	var quote rune
	open := false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			cur.WriteRune(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ' || c == '\t':
			if open {
				out = append(out, cur.String())
				cur.Reset()
				open = false
			}
		default:
			cur.WriteRune(c)
			open = true
		}
	}
	if open {
		out = append(out, cur.String())
	}
	return out
}

// check runs a case and says what differs, "" if nothing does.
func (c *tdcCase) check(t *testing.T) string {
	w := newTDCWorld()
	for _, s := range c.Setup {
		var line string
		if json.Unmarshal(s, &line) != nil {
			var l []json.RawMessage
			if err := json.Unmarshal(s, &l); err != nil {
				return err.Error()
			}
			if err := json.Unmarshal(l[0], &line); err != nil {
				return err.Error()
			}
			w.run(t, line)
			continue
		}
		if rc, out := w.run(t, line); rc != 0 {
			return fmt.Sprintf("setup %q: status %d %s", line, rc, out)
		}
	}
	want, err := strconv.Atoi(strings.Trim(string(c.Exit), `"`))
	if err != nil {
		return err.Error()
	}
	if rc, _ := w.run(t, c.Command); rc != want {
		return fmt.Sprintf("%q: status %d, want %d", c.Command, rc, want)
	}
	if c.Verify == "" {
		return ""
	}
	_, out := w.run(t, c.Verify)
	if c.Pattern == "" {
		var got, wanted any
		if json.Unmarshal(c.JSON, &wanted) != nil {
			return ""
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			return fmt.Sprintf("%q: %v in %q", c.Verify, err, out)
		}
		if !reflect.DeepEqual(got, wanted) {
			return fmt.Sprintf("%q:\n got %s\nwant %s", c.Verify, out, c.JSON)
		}
		return ""
	}
	re, err := regexp.Compile("(?sm)" + c.Pattern)
	if err != nil {
		return err.Error()
	}
	count, err := strconv.Atoi(strings.Trim(string(c.Count), `"`))
	if err != nil {
		return err.Error()
	}
	if c.ID == "d052" && testing.Short() {
		return ""
	}
	if n := len(re.FindAllStringIndex(out, -1)); n != count {
		return fmt.Sprintf("%q: %d matches of %q, want %d, in\n%s", c.Verify, n, c.Pattern, count, out[:min(len(out), 1500)])
	}
	return ""
}

func TestGoal6TcTesting(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdata.Path(t, "corpus/tc/tdc"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	good, all := 0, 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var cases []tdcCase
		if err := json.Unmarshal(text, &cases); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range cases {
			all++
			if why := cases[i].check(t); why != "" {
				t.Logf("%s %s: %s", cases[i].ID, cases[i].Name, why)
				continue
			}
			good++
		}
	}
	goal(t, percent(good, all) >= 95, "tc-testing cases with the expected status and matches", share(good, all), "at least 95 %")
}

// acceptable are the kernel's errors for objects that a line of the corpus
// supposes and that are not there.
var acceptable = regexp.MustCompile(`Parent Qdisc doesn't exists|Block of given index was not found|Cannot find specified filter chain|` +
	`Filter with specified priority/protocol not found|Invalid handle|Exclusivity flag on|Filter already exists|Filter chain already exists|` +
	`File exists|Operation not supported|Cannot find specified qdisc|Specified filter handle not found|Filter kind and protocol must be specified|` +
	`Mask does not fit|not found|This filter block is shared|Invalid argument|does not support|Chain template|Offload of "continue"`)

// refusedByTC tells the lines of the corpus that every tc refuses, with its
// message: IPv6 addresses under protocol ipv4.
func refusedByTC(line, message string) bool {
	return strings.Contains(line, "protocol ipv4") && strings.Contains(line, "src_ip 2001:db8:1::1") &&
		strings.HasPrefix(message, `Error: inet prefix is expected rather than "2001:db8:1::1".`)
}

func TestGoal6TcCommands(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdata.Path(t, "corpus/tc/commands"), "*.batch"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no command files: %v", err)
	}
	good, all := 0, 0
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		s := tc.New(tc.Config{AssumeDevices: true})
		sc := bufio.NewScanner(f)
		for sc.Scan() {
			line := strings.TrimSpace(sc.Text())
			if line == "" {
				continue
			}
			all++
			o := s.Line(line, tc.Options{})
			if o.Status == 0 || o.Status == 2 && acceptable.MatchString(o.Stderr) || refusedByTC(line, o.Stderr) {
				good++
				continue
			}
			t.Logf("%s: %s: %d %s", filepath.Base(name), line, o.Status, strings.TrimSpace(o.Stderr))
		}
		f.Close()
	}
	goal(t, good == all, "lines of tc commands parse and are accepted or refused for missing objects", share(good, all), "all")
}
