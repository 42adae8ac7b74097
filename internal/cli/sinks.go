package cli

import (
	"errors"
	"os"

	"verdict/capture"
)

// openSinks opens the captures that are written, none of which may be a file
// that is read: creating it would empty it.
func (c *runCommand) openSinks(r *replay, inputs []string) error {
	if c.accepted != "" && c.accepted == c.dropped {
		return failedf("--write and --write-dropped name the same file, %s", c.accepted)
	}
	for _, sink := range []struct {
		name string
		to   *capture.Sink
	}{{c.accepted, &r.accepted}, {c.dropped, &r.dropped}} {
		if sink.name == "" {
			continue
		}
		if sink.name == "-" && c.s.OutTerminal {
			return failedf("packets are not written to a terminal; name a file")
		}
		if in := sameFile(sink.name, inputs); in != "" {
			return failedf("%s is read as %s; writing would destroy it, name another file", sink.name, in)
		}
		if r.accepted != nil && sameFile(sink.name, []string{c.accepted}) != "" {
			return failedf("--write and --write-dropped name the same file, %s and %s", c.accepted, sink.name)
		}
		var err error
		if *sink.to, err = capture.Create(sink.name); err != nil {
			return failed(readable(err))
		}
	}
	return nil
}

// sameFile finds the input that is the file of a name, by whatever name.
func sameFile(name string, inputs []string) string {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	for _, in := range inputs {
		if other, err := os.Stat(in); err == nil && os.SameFile(info, other) {
			return in
		}
	}
	return ""
}

func (r *replay) closeSinks() error {
	var errs []error
	for _, sink := range []capture.Sink{r.accepted, r.dropped} {
		if sink != nil {
			errs = append(errs, sink.Close())
		}
	}
	return errors.Join(errs...)
}

// reportStreams are those of the report: standard error where standard output
// takes packets.
func (c *runCommand) reportStreams() *Streams {
	if c.accepted != "-" && c.dropped != "-" {
		return c.s
	}
	s := *c.s
	s.Out, s.OutTerminal = c.s.Err, c.s.ErrTerminal
	return &s
}
