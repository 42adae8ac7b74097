package host

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// maxFile is the largest host file that is read.
const maxFile = 256 << 20

// Load reads a host file from a stream. The error is an *Error with the place
// of the mistake, or that of the stream.
func Load(r io.Reader) (*Host, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	if len(text) > maxFile {
		return nil, &Error{Reason: fmt.Sprintf("the description is larger than %d bytes", maxFile)}
	}
	return Parse("", text)
}

// LoadFile reads a host file by name.
func LoadFile(name string) (*Host, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	host, err := Load(file)
	var wrong *Error
	if errors.As(err, &wrong) {
		wrong.Source = name
	}
	return host, err
}

// Parse reads the text of a host file, whose form docs/host.md describes. The
// name stands in errors, which are of type *Error and name line, column and
// field. Members that are not known are refused.
func Parse(name string, text []byte) (*Host, error) {
	d := parseDocument(name, text)
	config := d.hostFile()
	return d.build(config)
}

// build makes the host, and puts positions on what New finds wrong.
func (d *document) build(config Config) (*Host, error) {
	if d.err != nil {
		return nil, d.err
	}
	host, err := New(config)
	var wrong *Error
	if errors.As(err, &wrong) {
		at := d.source.Position(int32(d.locate(wrong.Field)))
		wrong.Source, wrong.Line, wrong.Column = d.source.Name, at.Line, at.Column
	}
	return host, err
}
