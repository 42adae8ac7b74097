package tccmd

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"verdict/host"
	"verdict/tc"
)

// ScriptError is a line of a script that tc refuses.
type ScriptError struct {
	Name string
	Line int
	Text string // tc's own message, without end of line
}

func (e *ScriptError) Error() string { return fmt.Sprintf("%s:%d: %s", e.Name, e.Line, e.Text) }

// Load makes the traffic control of a host from a text: a state file of
// "verdict tc", or commands, one a line, with or without the word tc in front,
// beside them "device add NAME hw MODEL". Interfaces of the host exist with
// their numbers, others that a command names are assumed there as well. Errors
// are *ScriptError.
func Load(name string, text []byte, h *host.Host, now int64, c tc.Config) (*tc.System, error) {
	c.AssumeDevices, c.Now = true, now
	c.Interface = func(name string) uint32 {
		if i, ok := h.ByName(name); ok {
			return uint32(i.Index)
		}
		if i, err := h.Assume(name); err == nil {
			return uint32(i.Index)
		}
		return 0
	}
	st := &state{path: name, system: tc.New(c)}
	for _, i := range h.Interfaces() {
		st.system.AddDevice(tc.Device{Name: i.Name, Index: uint32(i.Index)})
	}
	if bytes.HasPrefix(text, []byte(header)) {
		if err := st.read(bytes.NewReader(text)); err != nil {
			return nil, &ScriptError{name, st.lines, err.Error()}
		}
		st.system.Now = now
		return st.system, nil
	}
	return st.system, st.script(name, text)
}

// script executes commands line by line; the first that is refused ends it.
func (st *state) script(name string, text []byte) error {
	sc := bufio.NewScanner(bytes.NewReader(text))
	sc.Buffer(make([]byte, 64<<10), 1<<24)
	for n := 1; sc.Scan(); n++ {
		first := n
		line := strings.TrimSpace(sc.Text())
		for strings.HasSuffix(line, "\\") && sc.Scan() {
			n++
			line = strings.TrimSuffix(line, "\\") + " " + strings.TrimSpace(sc.Text())
		}
		if line == "" || line[0] == '#' {
			continue
		}
		if err := st.line(strings.TrimSpace(strings.TrimPrefix(line, "tc "))); err != nil {
			return &ScriptError{name, first, err.Error()}
		}
	}
	return sc.Err()
}

func (st *state) line(line string) error {
	if words := strings.Fields(line); words[0] == "device" {
		if len(words) == 5 && words[3] == "hw" {
			text, err := modelText(words[4])
			if err != nil {
				return err
			}
			words[4] = text
		}
		return st.device(words[1:])
	}
	o := st.system.Batch("-", io.Reader(strings.NewReader(line)), tc.Options{})
	if o.Status == 0 {
		return nil
	}
	message, _, _ := strings.Cut(o.Stderr, "\nCommand failed")
	return fmt.Errorf("%s", strings.ReplaceAll(strings.TrimSpace(message), "\n", ": "))
}
