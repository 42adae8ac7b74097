package tccmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"verdict/offload"
	"verdict/tc"
)

// header is the first line of a state file.
const header = "verdict tc state 1"

// state is a loaded state file.
type state struct {
	path   string
	system *tc.System
	lines  int
	whole  int64    // bytes of the file's complete lines
	fresh  []string // to be appended
}

// path chooses the state file: --state, $VERDICT_TC_STATE, tc.state beside
// nft's.
func statePath(flag string, env func(string) string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if p := env("VERDICT_TC_STATE"); p != "" {
		return p, nil
	}
	dir := env("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home := env("HOME")
		if home == "" {
			return "", errors.New("no home directory is known; name a state file with --state or $VERDICT_TC_STATE")
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "verdict", "tc.state"), nil
}

// load reads a state file; one that is not there is an empty state.
func load(path string, now int64) (*state, error) {
	st := &state{path: path, system: tc.New(tc.Config{AssumeDevices: true, Now: now})}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return st, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := st.read(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	st.system.Now = now
	return st, nil
}

// read replays the complete lines. What a crash left of one more is passed over
// and overwritten by the next change.
func (st *state) read(r io.Reader) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 64<<10), 1<<24)
	var rest []byte
	sc.Split(func(data []byte, _ bool) (int, []byte, error) {
		n, line, err := bufio.ScanLines(data, false)
		st.whole += int64(n)
		rest = data[n:]
		return n, line, err
	})
	for sc.Scan() {
		st.lines++
		line := sc.Text()
		if st.lines == 1 {
			if line != header {
				return errors.New("not a state file of verdict tc")
			}
			continue
		}
		if err := st.replay(line); err != nil {
			return fmt.Errorf("line %d: %w", st.lines, err)
		}
	}
	if st.lines == 0 && !strings.HasPrefix(header, string(rest)) {
		return errors.New("not a state file of verdict tc")
	}
	return sc.Err()
}

// replay executes one line: KIND TIME WORD..., the words quoted.
func (st *state) replay(line string) error {
	fields, err := unquoteWords(line)
	if err != nil || len(fields) < 2 {
		return fmt.Errorf("damaged: %q", line)
	}
	now, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return fmt.Errorf("damaged: %q", line)
	}
	st.system.Now = now
	switch fields[0] {
	case "device":
		return st.device(fields[2:])
	case "run":
		st.system.Run(fields[2:], noFiles)
		return nil
	}
	return fmt.Errorf("unknown line %q", fields[0])
}

func noFiles(string) (io.ReadCloser, error) { return nil, fs.ErrNotExist }

// device executes "add NAME [hw MODEL-AS-JSON] [down]" or "del NAME".
func (st *state) device(words []string) error {
	if len(words) < 2 {
		return errors.New("device: add or del and a name are needed")
	}
	if words[0] == "del" {
		st.system.RemoveDevice(words[1])
		return nil
	}
	d := tc.Device{Name: words[1]}
	for i := 2; i < len(words); i++ {
		switch {
		case words[i] == "down":
			d.Down = true
		case words[i] == "hw" && i+1 < len(words):
			i++
			m, err := model(words[i])
			if err != nil {
				return err
			}
			d.Hardware = offload.NewDevice(m)
		default:
			return fmt.Errorf("device: unknown word %q; known are hw MODEL and down", words[i])
		}
	}
	if old := st.system.Device(d.Name); old != nil && len(words) > 2 {
		if old.Receives() || old.Transmits() {
			return fmt.Errorf("device: %s is in use already: say what it is before its qdiscs", d.Name)
		}
		old.Hardware, old.Down = d.Hardware, d.Down
		return nil
	}
	st.system.AddDevice(d)
	return nil
}

// model finds a shipped model, or reads one as JSON.
func model(text string) (offload.Model, error) {
	if strings.HasPrefix(text, "{") {
		return offload.ReadModel(strings.NewReader(text))
	}
	return offload.ModelNamed(text)
}

// keep remembers a line for the file.
func (st *state) keep(kind string, words []string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d", kind, st.system.Now)
	for _, w := range words {
		b.WriteByte(' ')
		b.WriteString(strconv.Quote(w))
	}
	st.fresh = append(st.fresh, b.String())
}

// save appends what is new to the complete lines.
func (st *state) save() error {
	if len(st.fresh) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(st.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(st.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	text := strings.Join(st.fresh, "\n") + "\n"
	if st.lines == 0 {
		text = header + "\n" + text
	}
	_, err = f.WriteAt([]byte(text), st.whole)
	if err == nil {
		err = f.Truncate(st.whole + int64(len(text)))
	}
	return errors.Join(err, f.Close())
}

// unquoteWords splits a line of plain and quoted words.
func unquoteWords(line string) ([]string, error) {
	var out []string
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		if line[0] != '"' {
			word, rest, _ := strings.Cut(line, " ")
			out, line = append(out, word), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			return nil, err
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, err
		}
		out, line = append(out, word), line[len(quoted):]
	}
	return out, nil
}
