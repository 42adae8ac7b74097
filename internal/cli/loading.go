package cli

import (
	"fmt"
	"sync"
	"time"

	"verdict/diag"
	"verdict/nft/ruleset"
)

// loading tells on a terminal what a long load is at; elsewhere it prints
// nothing.
type loading struct {
	s       *Streams
	started time.Time
	stop    chan struct{}
	stopped chan struct{}

	mu   sync.Mutex
	what string
}

// newLoading starts to tell; call done before anything else is printed.
func newLoading(s *Streams) *loading {
	l := &loading{s: s, started: time.Now()}
	if !s.ErrTerminal {
		return l
	}
	l.stop, l.stopped = make(chan struct{}), make(chan struct{})
	go l.run()
	return l
}

// reading says which files are being read.
func (l *loading) reading(names []string) {
	what := names[0]
	if len(names) > 1 {
		what = count(len(names), "file")
	}
	l.set("reading " + diag.Printable(what))
}

// applying says what a batch holds.
func (l *loading) applying(batch []ruleset.Change) {
	rules, elements := 0, 0
	for i := range batch {
		elements += len(batch[i].Elements)
		if batch[i].Kind == ruleset.KindRule {
			rules++
		}
	}
	l.set(fmt.Sprintf("loading %s rules, %s elements", metric(float64(rules)), metric(float64(elements))))
}

func (l *loading) set(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.what = what
}

// run redraws the line until done.
func (l *loading) run() {
	defer close(l.stopped)
	timer := time.NewTimer(barDelay)
	defer timer.Stop()
	drawn := false
	for {
		select {
		case <-l.stop:
			if drawn {
				fmt.Fprint(l.s.Err, "\r\x1b[K")
			}
			return
		case <-timer.C:
		}
		l.mu.Lock()
		what := l.what
		l.mu.Unlock()
		drawn = true
		fmt.Fprintf(l.s.Err, "\r\x1b[K%s (%.1f s)", what, time.Since(l.started).Seconds())
		timer.Reset(barInterval)
	}
}

// done wipes the line.
func (l *loading) done() {
	if l.stop != nil {
		close(l.stop)
		<-l.stopped
	}
}
