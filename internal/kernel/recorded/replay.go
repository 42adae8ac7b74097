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
	"verdict/engine"
	"verdict/host"
	"verdict/packet"
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

// Replay runs a case's packets through the engine and calls each with what the
// engine did with one. It gives the state that they left behind.
func (c *Case) Replay(hosts *Hosts, each func(*PacketTruth)) (*After, error) {
	h, err := hosts.Host(c.Host.Host)
	if err != nil {
		return nil, err
	}
	rules, findings := verdict.LoadSources(verdict.LoadOptions{Host: h, Now: c.Host.Start * 1e9}, diag.NewSource(c.ID, c.Ruleset))
	if rules == nil {
		return nil, fmt.Errorf("%s: %w", c.ID, findings.Err())
	}
	e, err := rules.NewEngine(verdict.EngineOptions{Replies: true, Accounting: true, Before71: true})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	source, err := capture.NewBytesReader(c.Packets, capture.Options{})
	if err != nil {
		return nil, err
	}
	walk := &Walk{Program: e.Engine().Program()}
	e.Trace(walk)
	var frame capture.Frame
	for n := 0; ; n++ {
		if err := source.Next(&frame); errors.Is(err, io.EOF) {
			return StateOf(e)
		} else if err != nil {
			return nil, err
		}
		in := c.input(n, &frame)
		walk.Start()
		outcome := e.EvaluateInput(&in)
		answer := &PacketTruth{N: n, Buffers: walk.Buffers()}
		for _, sent := range outcome.Sent {
			answer.Out = append(answer.Out, HexFrame(sent.Device, sent.Data))
		}
		each(answer)
	}
}

// input is a packet of the capture with where it came in. What the host sent
// comes from a socket of root.
func (c *Case) input(n int, frame *capture.Frame) engine.Input {
	in := verdict.FrameInput(frame)
	if n >= len(c.Host.Inject) {
		return in
	}
	if at := c.Host.Inject[n]; at != "local" {
		in.In, in.Direction = at, capture.Inbound
		return in
	}
	in.Local = true
	in.Facts = &packet.Meta{Has: packet.HasSKUID | packet.HasSKGID}
	return in
}
