package cli

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Streams is the outside world of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// OutTerminal and ErrTerminal tell whether the writers are terminals;
	// Width is the width of the terminal in columns, 0 if unknown.
	OutTerminal, ErrTerminal bool
	Width                    int
	Env                      func(string) string
	Now                      func() time.Time

	readAhead *rewindable // of a capture that cannot be read again
}

// Standard is the process's own streams.
func Standard() *Streams {
	s := &Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Env:         os.Getenv, Now: time.Now,
	}
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		s.Width = width
	}
	return s
}

// keptWriter keeps the first error of a writer, so that one which nobody looked
// at is not lost.
type keptWriter struct {
	w   io.Writer
	err error
}

func (k *keptWriter) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err := k.w.Write(b)
	if k.err == nil {
		k.err = err
	}
	return n, err
}

// color tells whether a stream takes colours: terminals do, unless NO_COLOR is
// set or the terminal is dumb.
func (s *Streams) color(terminal bool) bool {
	return terminal && s.Env("NO_COLOR") == "" && s.Env("TERM") != "dumb"
}
