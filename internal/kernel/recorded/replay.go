package recorded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"verdict"
	"verdict/capture"
	"verdict/diag"
	"verdict/host"
)

// Hosts reads the descriptions of the hosts that cases ran on.
type Hosts struct {
	Dir   string
	known map[string]*host.Host
}

// Host gives the host of a file, reading it once.
func (h *Hosts) Host(name string) (*host.Host, error) {
	if known, ok := h.known[name]; ok {
		return known, nil
	}
	text, err := os.ReadFile(filepath.Join(h.Dir, name))
	if err != nil {
		return nil, err
	}
	made, err := host.FromIPJSON(host.Input{Name: name, Text: text})
	if err != nil {
		return nil, err
	}
	if h.known == nil {
		h.known = map[string]*host.Host{}
	}
	h.known[name] = made
	return made, nil
}

// Replay runs a case's packets through the engine and calls each with the way
// that the engine took and its outcome.
func (c *Case) Replay(hosts *Hosts, each func(n int, path []Visit, o *verdict.Outcome) error) error {
	h, err := hosts.Host(c.Host.Host)
	if err != nil {
		return err
	}
	rules, findings := verdict.LoadSources(verdict.LoadOptions{Host: h, Now: c.Host.Start * 1e9}, diag.NewSource(c.ID, c.Ruleset))
	if rules == nil {
		return fmt.Errorf("%s: %w", c.ID, findings.Err())
	}
	e, err := rules.NewEngine(verdict.EngineOptions{KnownRoutes: true, Accounting: true})
	if err != nil {
		return fmt.Errorf("%s: %w", c.ID, err)
	}
	source, err := capture.NewBytesReader(c.Packets, capture.Options{})
	if err != nil {
		return err
	}
	walk := &Walk{Program: e.Engine().Program()}
	e.Trace(walk)
	var frame capture.Frame
	for n := 0; ; n++ {
		if err := source.Next(&frame); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		in := verdict.FrameInput(&frame)
		if n < len(c.Host.Inject) {
			if at := c.Host.Inject[n]; at == "local" {
				in.Local = true
			} else {
				in.In, in.Direction = at, capture.Inbound
			}
		}
		walk.Path = nil
		outcome := e.EvaluateInput(&in)
		if err := each(n, walk.Path, &outcome); err != nil {
			return err
		}
	}
}
