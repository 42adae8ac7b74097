package nftcmd

import (
	"errors"
	"fmt"
	"io"
	"time"

	"verdict/internal/store"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// pollInterval is how often a monitor looks at the state file.
const pollInterval = 100 * time.Millisecond

var errTrace = errors.New("monitor trace needs packets; follow one with `verdict trace RULES PACKET`, in this form with -o nft")

// monitor gives the monitor command of a batch, nil if there is none.
func (b *batch) monitor() *syntax.Command {
	for _, c := range b.commands {
		if c.Verb == syntax.VerbMonitor {
			return c
		}
	}
	return nil
}

// monitored are the kinds that an object word of monitor selects.
var monitored = map[string][]ruleset.Kind{
	"tables": {ruleset.KindTable}, "chains": {ruleset.KindChain}, "rules": {ruleset.KindRule},
	"sets": {ruleset.KindSet}, "elements": {ruleset.KindElements},
}

// monitor follows the journal until the output ends: `nft monitor`.
func (n *session) monitor(c *syntax.Command) error {
	if c.Monitor.Object.Text == "trace" {
		return errTrace
	}
	m := &monitor{session: n, request: c.Monitor, json: n.options.json || c.Format.Text == "json"}
	if err := n.store.Follow(m.transaction); err != nil {
		return err
	}
	for {
		err := n.store.CatchUp()
		switch {
		case errors.Is(err, store.ErrMissed):
			fmt.Fprintf(n.Err, "W: %v\n", err)
		case err != nil:
			return err
		}
		if m.err != nil {
			return m.err
		}
		time.Sleep(pollInterval)
	}
}

// monitor prints what transactions did.
type monitor struct {
	session *session
	request syntax.MonitorRequest
	json    bool
	err     error
}

// transaction prints one transaction.
func (m *monitor) transaction(t *store.Transaction, events []ruleset.Event, made []store.Interface) {
	names, err := m.session.naming(made)
	if err != nil {
		m.err = err
		return
	}
	w := &checkedWriter{w: m.session.Out}
	p := eventPrinter{w: w, rules: t.Next, options: names.listOptions(), jsonLines: m.json}
	p.options.Clock = t.Time
	if m.json {
		p.options = p.options.JSON()
	}
	for _, e := range events {
		if m.wants(e) {
			p.print(e)
		}
	}
	if !m.json && !m.request.Event.Given() && !m.request.Object.Given() {
		p.generation(t.Next.Generation, t.PID, t.Command)
	}
	m.err = w.err
}

// wants tells whether the request selects an event.
func (m *monitor) wants(e ruleset.Event) bool {
	deleted := e.Op == ruleset.OpDelete
	switch m.request.Event.Text {
	case "new":
		if deleted {
			return false
		}
	case "destroy":
		if !deleted {
			return false
		}
	}
	kinds, some := monitored[m.request.Object.Text]
	if !some {
		return true
	}
	for _, k := range kinds {
		if k == e.Kind {
			return true
		}
	}
	return false
}

// checkedWriter keeps the first error of a writer.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(b []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.w.Write(b)
	if err != nil {
		c.err = fmt.Errorf("monitor: %w", err)
	}
	return n, err
}
