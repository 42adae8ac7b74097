package capture

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// linkTypeEthernet is the link type of a capture without any frame.
const linkTypeEthernet = 1

// LinkTypeError says that a frame cannot go into a pcap file, which has one
// link type for all its frames. A pcapng file takes any mixture.
type LinkTypeError struct {
	File, Frame uint16 // LINKTYPE_ numbers
	Index       int    // which frame
}

// Error names both link types.
func (e *LinkTypeError) Error() string {
	return fmt.Sprintf("capture: frame %d has link type %d, the pcap file has %d (write pcapng to mix them)",
		e.Index+1, e.Frame, e.File)
}

// PcapSink writes a little-endian pcap file with nanosecond times, whose link
// type is that of the first frame. Comments, directions and interfaces have no
// place in the format and are left out; a frame without a time gets 0.
type PcapSink struct {
	out      output
	started  bool
	linkType uint16
}

var _ Sink = (*PcapSink)(nil)

// NewPcapSink writes to w. Close does not close w.
func NewPcapSink(w io.Writer) *PcapSink { return &PcapSink{out: output{w: w}} }

// begin writes the file header.
func (s *PcapSink) begin(linkType uint16) {
	if s.started {
		return
	}
	s.started, s.linkType = true, linkType
	b := s.out.buf
	b = binary.LittleEndian.AppendUint32(b, pcapMagicNano)
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 4)
	b = binary.LittleEndian.AppendUint64(b, 0) // time zone and accuracy, both unused
	b = binary.LittleEndian.AppendUint32(b, DefaultMaxFrame)
	s.out.buf = binary.LittleEndian.AppendUint32(b, uint32(linkType))
}

// Write implements Sink. It refuses a frame of another link type than the
// first (a *LinkTypeError) and times before 1970 or after 2106.
func (s *PcapSink) Write(frame *Frame) error {
	if s.out.err != nil {
		return s.out.err
	}
	s.begin(frame.LinkType)
	if frame.LinkType != s.linkType {
		return &LinkTypeError{File: s.linkType, Frame: frame.LinkType, Index: frame.Index}
	}
	time := int64(0)
	if frame.HasTime {
		time = frame.Time
	}
	if time < 0 || time/1e9 > math.MaxUint32 {
		return timeError(frame, "pcap")
	}
	b := s.out.buf
	b = binary.LittleEndian.AppendUint32(b, uint32(time/1e9))
	b = binary.LittleEndian.AppendUint32(b, uint32(time%1e9))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(frame.Data)))
	b = binary.LittleEndian.AppendUint32(b, uint32(max(frame.OrigLen, len(frame.Data))))
	s.out.buf = append(b, frame.Data...)
	return s.out.spill()
}

func timeError(frame *Frame, format string) error {
	return fmt.Errorf("capture: frame %d: time %d ns cannot be written as %s", frame.Index+1, frame.Time, format)
}

// Flush implements Sink.
func (s *PcapSink) Flush() error { return s.out.flush() }

// Close implements Sink.
func (s *PcapSink) Close() error {
	s.begin(linkTypeEthernet)
	return s.out.close()
}
