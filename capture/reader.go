package capture

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// Format is a capture file format.
type Format uint8

const (
	Pcap   Format = iota + 1 // classic pcap
	Pcapng                   // pcapng
)

// String returns "pcap" or "pcapng".
func (f Format) String() string {
	switch f {
	case Pcap:
		return "pcap"
	case Pcapng:
		return "pcapng"
	}
	return "unknown"
}

// DefaultMaxFrame is the largest captured length that is read unless the
// options say otherwise; it equals libpcap's limit for ordinary link types. A
// record that claims more is taken for damage.
const DefaultMaxFrame = 256 << 10

// MaxBlock is the largest pcapng block that is read, in bytes.
const MaxBlock = 16 << 20

// Options tune a Reader.
type Options struct {
	// MaxFrame is the largest captured length accepted, in bytes; 0 means
	// DefaultMaxFrame. Values above MaxBlock are lowered to it.
	MaxFrame int
}

func (o Options) maxFrame() int {
	if o.MaxFrame <= 0 {
		return DefaultMaxFrame
	}
	return min(o.MaxFrame, MaxBlock)
}

// Reader is the Source over a capture file or stream. It holds one buffer of
// 256 KiB, or as much as the largest frame met.
type Reader struct {
	in         window
	format     Format
	maxFrame   int
	interfaces []Interface
	index      int
	err        error // what every later Next returns
	pcap       pcapState
	ng         pcapngState
	closers    []io.Closer
}

var _ Source = (*Reader)(nil)

// Open opens a capture file; "-" is standard input. The error is that of
// opening the file or a *FormatError when it is not a capture.
func Open(name string, options Options) (*Reader, error) {
	if name == "-" {
		return NewReader(os.Stdin, options)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	reader, err := NewReader(file, options)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	reader.closers = append(reader.closers, file)
	return reader, nil
}

// NewReader reads a capture from a stream: pcap or pcapng, either of them
// gzip-compressed or not. It reads ahead as far as each Read call gives.
func NewReader(src io.Reader, options Options) (*Reader, error) {
	return start(window{src: src}, options)
}

// NewBytesReader reads a capture held in memory; frames point into data,
// without a copy (unless data is gzip-compressed). They stay valid as long as
// data does.
func NewBytesReader(data []byte, options Options) (*Reader, error) {
	return start(window{buf: data, end: len(data)}, options)
}

func start(in window, options Options) (*Reader, error) {
	reader := &Reader{in: in, maxFrame: options.maxFrame()}
	if err := reader.unzip(); err != nil {
		return nil, err
	}
	if err := reader.detect(); err != nil {
		return nil, err
	}
	return reader, nil
}

// unzip puts a decompressor between when the stream starts with gzip's magic.
func (r *Reader) unzip() error {
	magic, err := r.in.peek(2)
	if err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return nil // a short or unreadable stream is reported by detect
	}
	var compressed io.Reader = bytes.NewReader(r.in.buf[r.in.pos:r.in.end])
	if r.in.src != nil {
		compressed = io.MultiReader(compressed, r.in.src)
	}
	plain, err := gzip.NewReader(compressed)
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return &FormatError{Reason: "gzip header damaged: " + err.Error(), Err: err}
	}
	r.in = window{src: plain} // its Close would only say what Read said
	return nil
}

// detect reads the file header: all of pcap's, the first section header's
// place of pcapng's.
func (r *Reader) detect() error {
	magic, err := r.in.peek(4)
	if err != nil {
		if err == io.EOF && len(magic) == 0 {
			return &FormatError{Reason: "empty input, not a capture", Err: io.ErrUnexpectedEOF}
		}
		return r.in.broken(0, err, "file header", int64(len(magic)), 24)
	}
	number := binary.LittleEndian.Uint32(magic)
	if number == blockSectionHeader {
		r.format = Pcapng
		return r.firstSection()
	}
	if r.pcap.recognise(number) {
		r.format = Pcap
		return r.pcapHeader()
	}
	start, _ := r.in.peek(8)
	return &FormatError{Reason: foreignFormat(start)}
}

// Format tells which format the input has.
func (r *Reader) Format() Format { return r.format }

// Interfaces implements Source. A pcap file has exactly one, without a name.
func (r *Reader) Interfaces() []Interface { return r.interfaces }

// Next implements Source.
func (r *Reader) Next(frame *Frame) error {
	if r.err != nil {
		return r.err
	}
	var err error
	if r.format == Pcap {
		err = r.nextRecord(frame)
	} else {
		err = r.nextBlockFrame(frame)
	}
	if err != nil {
		r.err = err
		frame.Data = nil
		return err
	}
	frame.Index = r.index
	r.index++
	return nil
}

// Close implements Source.
func (r *Reader) Close() error {
	var first error
	for _, closer := range r.closers {
		if err := closer.Close(); err != nil && first == nil {
			first = err
		}
	}
	r.closers = nil
	return first
}
