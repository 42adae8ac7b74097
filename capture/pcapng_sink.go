package capture

import (
	"encoding/binary"
	"io"
)

// PcapngSink writes a little-endian pcapng file of one section with
// nanosecond times, comments, directions, and one interface for each
// interface the frames come from. A frame without a time gets an all-zero
// timestamp, which reads back as no time.
type PcapngSink struct {
	out        output
	started    bool
	interfaces map[interfaceKey]uint32
	last       interfaceKey // of the frame before, and its number
	lastID     uint32
	hasLast    bool
	declared   uint32 // interfaces written
}

// interfaceKey tells source interfaces apart.
type interfaceKey struct {
	index    int
	linkType uint16
	name     string
}

var _ Sink = (*PcapngSink)(nil)

// NewPcapngSink writes to w. Close does not close w.
func NewPcapngSink(w io.Writer) *PcapngSink {
	return &PcapngSink{out: output{w: w}, interfaces: make(map[interfaceKey]uint32)}
}

// begin writes the section header.
func (s *PcapngSink) begin() {
	if s.started {
		return
	}
	s.started = true
	b := s.out.buf
	b = binary.LittleEndian.AppendUint32(b, blockSectionHeader)
	b = binary.LittleEndian.AppendUint32(b, 28)
	b = binary.LittleEndian.AppendUint32(b, byteOrderMagic)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, 0)
	b = binary.LittleEndian.AppendUint64(b, 1<<64-1) // section length not given
	s.out.buf = binary.LittleEndian.AppendUint32(b, 28)
}

// AddInterface declares the interface of the frames whose Interface is index,
// with everything that description says. Interfaces that are not declared
// before their first frame are declared then, by the name and link type of
// that frame. Declaring the list of a Source keeps names, descriptions and
// addresses of a capture that is copied.
func (s *PcapngSink) AddInterface(index int, description *Interface) {
	s.begin()
	key := interfaceKey{index, description.LinkType, description.Name}
	if _, known := s.interfaces[key]; known {
		return
	}
	s.interfaces[key] = s.declared
	s.declared++

	start := len(s.out.buf)
	b := s.out.buf
	b = binary.LittleEndian.AppendUint32(b, blockInterface)
	b = binary.LittleEndian.AppendUint32(b, 0) // length, set below
	b = binary.LittleEndian.AppendUint16(b, description.LinkType)
	b = binary.LittleEndian.AppendUint16(b, 0)
	b = binary.LittleEndian.AppendUint32(b, description.SnapLen)
	if description.Name != "" {
		b = appendOption(b, optionName, description.Name)
	}
	if description.Description != "" {
		b = appendOption(b, optionDescription, description.Description)
	}
	for _, address := range description.Addresses {
		if address.IsValid() {
			b = appendAddress(b, address)
		}
	}
	if description.HasMAC {
		b = appendOption(b, optionMAC, string(description.MAC[:]))
	}
	b = appendOption(b, optionResolution, "\x09")
	b = appendOption(b, optionEnd, "")
	s.out.buf = closeBlock(b, start)
}

// Write implements Sink. It refuses times before 1970.
func (s *PcapngSink) Write(frame *Frame) error {
	if s.out.err != nil {
		return s.out.err
	}
	time := int64(0)
	if frame.HasTime {
		time = frame.Time
	}
	if time < 0 {
		return timeError(frame, "pcapng")
	}
	id := s.interfaceOf(frame)
	start := len(s.out.buf)
	b := s.out.buf
	b = binary.LittleEndian.AppendUint32(b, blockEnhancedPacket)
	b = binary.LittleEndian.AppendUint32(b, 0) // length, set below
	b = binary.LittleEndian.AppendUint32(b, id)
	b = binary.LittleEndian.AppendUint32(b, uint32(time>>32))
	b = binary.LittleEndian.AppendUint32(b, uint32(time))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(frame.Data)))
	b = binary.LittleEndian.AppendUint32(b, uint32(max(frame.OrigLen, len(frame.Data))))
	b = append(b, frame.Data...)
	b = pad(b, len(frame.Data))
	flags := uint32(frame.Direction) | uint32(frame.Reception)<<2
	if frame.Comment != "" {
		b = appendOption(b, optionComment, frame.Comment)
	}
	if flags != 0 {
		b = binary.LittleEndian.AppendUint16(b, optionPacketFlags)
		b = binary.LittleEndian.AppendUint16(b, 4)
		b = binary.LittleEndian.AppendUint32(b, flags)
	}
	if flags != 0 || frame.Comment != "" {
		b = appendOption(b, optionEnd, "")
	}
	s.out.buf = closeBlock(b, start)
	return s.out.spill()
}

// interfaceOf returns the number of the frame's interface, declaring it when
// it is new.
func (s *PcapngSink) interfaceOf(frame *Frame) uint32 {
	key := interfaceKey{frame.Interface, frame.LinkType, frame.InterfaceName}
	if s.hasLast && key == s.last {
		return s.lastID
	}
	id, known := s.interfaces[key]
	if !known {
		s.AddInterface(frame.Interface, &Interface{Name: frame.InterfaceName, LinkType: frame.LinkType})
		id = s.interfaces[key]
	}
	s.last, s.lastID, s.hasLast = key, id, true
	return id
}

// Flush implements Sink.
func (s *PcapngSink) Flush() error { return s.out.flush() }

// Close implements Sink.
func (s *PcapngSink) Close() error {
	s.begin()
	return s.out.close()
}

// maxOption is the longest option value that the format can hold.
const maxOption = 1<<16 - 1

func appendOption(b []byte, code uint16, value string) []byte {
	value = value[:min(len(value), maxOption)]
	b = binary.LittleEndian.AppendUint16(b, code)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(value)))
	b = append(b, value...)
	return pad(b, len(value))
}

// pad fills up n bytes just appended to a multiple of four.
func pad(b []byte, n int) []byte {
	return append(b, "\x00\x00\x00"[:-n&3]...)
}

// closeBlock writes the length of the block that began at start, twice.
func closeBlock(b []byte, start int) []byte {
	length := uint32(len(b) - start + 4)
	binary.LittleEndian.PutUint32(b[start+4:], length)
	return binary.LittleEndian.AppendUint32(b, length)
}
