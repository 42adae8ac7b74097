package cli

import (
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"verdict/capture"
)

// errInterrupted ends a capture that the user broke off.
var errInterrupted = errors.New("interrupted: only the packets before were run")

// graceAfterInterrupt is how long a capture is read on after an interrupt: a
// program that writes it into a pipe gets the signal too, and has the last
// packets still to write.
const graceAfterInterrupt = time.Second

// interrupts lets the first interrupt end the reading, so that what was run is
// reported; the second ends the program.
type interrupts struct {
	signals chan os.Signal
	over    atomic.Bool // nothing more is read
}

func catchInterrupts() *interrupts {
	i := &interrupts{signals: make(chan os.Signal, 1)}
	signal.Notify(i.signals, os.Interrupt)
	go func() {
		if _, ok := <-i.signals; ok {
			signal.Stop(i.signals)
			time.AfterFunc(graceAfterInterrupt, func() { i.over.Store(true) })
		}
	}()
	return i
}

// release leaves interrupts to the system again.
func (i *interrupts) release() {
	signal.Stop(i.signals)
	close(i.signals)
}

// interruptible is a source that ends when the user has had enough.
type interruptible struct {
	capture.Source
	interrupts *interrupts
}

// Next gives the next frame until the reading is over.
func (s *interruptible) Next(f *capture.Frame) error {
	if s.interrupts.over.Load() {
		return errInterrupted
	}
	return s.Source.Next(f)
}
