package tccmd

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"verdict/internal/store"
	"verdict/offload"
	"verdict/tc"
)

// Streams is the outside world of a call.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Env      func(string) string
	Now      func() time.Time
}

// The exit statuses: tc's own.
const (
	succeeded = 0
	failed    = 1
	badUsage  = 255
)

// Run executes a command line without the name tc, and returns tc's exit
// status.
func Run(args []string, s *Streams) int {
	flag, args := stateFlag(args)
	path, err := statePath(flag, s.Env)
	if err != nil {
		return complain(s, err)
	}
	changes := !onlyReads(args)
	if changes {
		if err := os.MkdirAll(dirOf(path), 0o700); err != nil {
			return complain(s, err)
		}
	}
	release, err := store.Lock(path, changes)
	if err != nil {
		return complain(s, err)
	}
	defer release()
	st, err := load(path, s.Now().UnixNano())
	if err != nil {
		return complain(s, err)
	}
	status := st.execute(args, s)
	if err := st.save(); err != nil {
		return complain(s, err)
	}
	return status
}

func dirOf(path string) string {
	if i := strings.LastIndexByte(path, os.PathSeparator); i > 0 {
		return path[:i]
	}
	return "."
}

func complain(s *Streams, err error) int {
	fmt.Fprintf(s.Err, "tc: %v\n", err)
	return failed
}

// stateFlag takes --state FILE or --state=FILE from the front.
func stateFlag(args []string) (string, []string) {
	if len(args) > 1 && args[0] == "--state" {
		return args[1], args[2:]
	}
	if len(args) > 0 && strings.HasPrefix(args[0], "--state=") {
		return strings.TrimPrefix(args[0], "--state="), args[1:]
	}
	return "", args
}

// onlyReads tells commands that change nothing by their words.
func onlyReads(args []string) bool {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if strings.HasPrefix(strings.TrimLeft(args[0], "-"), "b") && !strings.HasPrefix(strings.TrimLeft(args[0], "-"), "br") {
			return false
		}
		args = args[1:]
	}
	if len(args) == 0 || args[0] == "show" || args[0] == "explain" {
		return true
	}
	if len(args) == 1 {
		return true
	}
	for _, verb := range []string{"show", "list", "lst", "get"} {
		if strings.HasPrefix(verb, args[1]) {
			return true
		}
	}
	return false
}

// execute runs the model's own verbs, or hands the words to tc.
func (st *state) execute(args []string, s *Streams) int {
	if len(args) > 0 {
		switch args[0] {
		case "device":
			return st.deviceVerb(args[1:], s)
		case "explain":
			return st.explain(s)
		case "show":
			if len(args) == 2 && args[1] == "--bypass" {
				return st.bypass(s)
			}
			fmt.Fprintln(s.Err, "tc show: only --bypass is known")
			return badUsage
		}
	}
	return st.tc(args, s)
}

// tc executes tc's command. Batches are kept line by line.
func (st *state) tc(args []string, s *Streams) int {
	open := func(name string) (io.ReadCloser, error) {
		if name == "-" {
			return io.NopCloser(s.In), nil
		}
		return os.Open(name)
	}
	o := st.system.Observe(args, open, func(words []string) { st.keep("run", words) })
	io.WriteString(s.Out, o.Stdout)
	io.WriteString(s.Err, o.Stderr)
	return o.Status
}

// deviceVerb is "device add NAME [hw MODEL|FILE] [down]", "device del NAME",
// "device show", "device models".
func (st *state) deviceVerb(args []string, s *Streams) int {
	if len(args) == 0 || args[0] == "show" {
		return st.showDevices(s)
	}
	if args[0] == "models" {
		w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
		for _, m := range offload.Models() {
			fmt.Fprintf(w, "%s\t%s\n", m.Name, m.Description)
		}
		w.Flush()
		return succeeded
	}
	args = append([]string(nil), args...)
	for i := range args {
		if i > 0 && args[i-1] == "hw" {
			text, err := modelText(args[i])
			if err != nil {
				return complain(s, err)
			}
			args[i] = text
		}
	}
	if len(args) > 1 && args[0] == "del" && !st.hasDevice(args[1]) {
		return complain(s, fmt.Errorf("there is no device %q", args[1]))
	}
	if err := st.device(args); err != nil {
		return complain(s, err)
	}
	st.keep("device", args)
	return succeeded
}

func (st *state) hasDevice(name string) bool {
	return slices.ContainsFunc(st.system.Devices(), func(d *tc.Device) bool { return d.Name == name })
}

// modelText is what the state file holds of a model: a shipped one's name, or
// the contents of a file.
func modelText(name string) (string, error) {
	if _, err := offload.ModelNamed(name); err == nil {
		return name, nil
	}
	text, err := readModel(name)
	if errors.Is(err, fs.ErrNotExist) {
		_, unknown := offload.ModelNamed(name)
		return "", fmt.Errorf("%w, and there is no such file", unknown)
	}
	if err != nil {
		return "", err
	}
	var m json.RawMessage
	if err := json.Unmarshal(text, &m); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return string(text), nil
}

// maxModel bounds the description of a device model.
const maxModel = 1 << 20

func readModel(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxModel+1))
	if err == nil && len(text) > maxModel {
		err = fmt.Errorf("%s: a device model has at most %d MB", name, maxModel>>20)
	}
	return text, err
}

func (st *state) showDevices(s *Streams) int {
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	for _, d := range st.system.Devices() {
		hw := "no offload"
		if d.Hardware != nil {
			hw = fmt.Sprintf("hw %s, %d of %d rules", d.Hardware.Model.Name, d.Hardware.Len(), d.Hardware.Model.MaxRules)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\n", d.Index, d.Name, hw)
	}
	w.Flush()
	return succeeded
}

// explain says of every filter whether hardware has it, and why not.
func (st *state) explain(s *Streams) int {
	b := bufio.NewWriter(s.Out)
	defer b.Flush()
	where := ""
	for _, e := range st.system.Explain() {
		if e.Where != where {
			where = e.Where
			fmt.Fprintln(b, where)
		}
		fmt.Fprintf(b, "  %s\n", e.Filter)
		for _, d := range e.Devices {
			if d.InHW {
				fmt.Fprintf(b, "    %s: in hardware\n", d.Device)
				continue
			}
			fmt.Fprintf(b, "    %s: not in hardware: %s\n", d.Device, d.Reason)
		}
		fmt.Fprintf(b, "    software: %s\n", e.Software)
	}
	return succeeded
}

// bypass writes the counts that decide whether filters are asked.
func (st *state) bypass(s *Streams) int {
	blocks, need, want := st.system.BypassReport()
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "block\tusesw\tfilters\tskip_sw\tbypassed")
	for _, b := range blocks {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%t\n", b.Where, b.UseSW, b.Filters, b.SkipSW, b.Bypassed)
	}
	w.Flush()
	fmt.Fprintf(s.Out, "blocks that need software: %d; blocks that want the first bypass: %d\n", need, want)
	return succeeded
}
