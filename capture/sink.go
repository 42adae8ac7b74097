package capture

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
)

// sinkBuffer is how much a sink collects before it hands it on.
const sinkBuffer = 64 << 10

// Create opens a capture file for writing; an existing file is replaced. "-"
// is standard output. The name decides the format: pcapng unless it ends in
// ".pcap" (or ".cap"), gzip-compressed when it ends in ".gz" besides.
// Close must be called, and its error regarded.
func Create(name string) (Sink, error) {
	if name == "-" {
		return NewPcapngSink(os.Stdout), nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	var (
		out     io.Writer = file
		closers           = []io.Closer{file}
		plain             = strings.TrimSuffix(name, ".gz")
	)
	if plain != name {
		compressor := gzip.NewWriter(file)
		out, closers = compressor, []io.Closer{compressor, file}
	}
	if strings.HasSuffix(plain, ".pcap") || strings.HasSuffix(plain, ".cap") {
		sink := NewPcapSink(out)
		sink.out.closers = closers
		return sink, nil
	}
	sink := NewPcapngSink(out)
	sink.out.closers = closers
	return sink, nil
}

// output collects what a sink writes. After an error it takes nothing more.
type output struct {
	w       io.Writer
	buf     []byte
	err     error
	closers []io.Closer
}

// spill hands on what was collected once there is enough of it.
func (o *output) spill() error {
	if len(o.buf) >= sinkBuffer {
		return o.flush()
	}
	return o.err
}

func (o *output) flush() error {
	if o.err == nil && len(o.buf) > 0 {
		if _, err := o.w.Write(o.buf); err != nil {
			o.err = fmt.Errorf("capture: write: %w", err)
		}
		o.buf = o.buf[:0]
	}
	return o.err
}

func (o *output) close() error {
	err := o.flush()
	for _, closer := range o.closers {
		if closeErr := closer.Close(); closeErr != nil && err == nil {
			err = fmt.Errorf("capture: close: %w", closeErr)
		}
	}
	o.closers = nil
	return err
}
