package capture

import (
	"encoding/binary"
	"io"
)

const (
	pcapMagicMicro = 0xa1b2c3d4
	pcapMagicNano  = 0xa1b23c4d

	pcapHeaderLen = 24
	pcapRecordLen = 16
)

// pcapState is what the file header of a pcap file says about its records.
type pcapState struct {
	bigEndian bool
	scale     int64 // nanoseconds per unit of the fraction field
	linkType  uint16
	fcsLen    int
	// swappedLengths is set for files before version 2.3, whose records have
	// original and captured length the other way round, maybeSwapped for 2.3
	// itself, which exists both ways.
	swappedLengths bool
	maybeSwapped   bool
}

// recognise takes the magic number as read in little-endian order.
func (p *pcapState) recognise(magic uint32) bool {
	switch magic {
	case pcapMagicMicro:
		p.scale = 1000
	case pcapMagicNano:
		p.scale = 1
	case 0xd4c3b2a1:
		p.bigEndian, p.scale = true, 1000
	case 0x4d3cb2a1:
		p.bigEndian, p.scale = true, 1
	default:
		return false
	}
	return true
}

func (p *pcapState) u32(b []byte) uint32 {
	if p.bigEndian {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// pcapHeader reads the 24 bytes of the file header.
//
// Ref: draft-ietf-opsawg-pcap, section 4.
func (r *Reader) pcapHeader() error {
	header, err := r.in.peek(pcapHeaderLen)
	if err != nil {
		return r.in.broken(0, err, "pcap file header", int64(len(header)), pcapHeaderLen)
	}
	p := &r.pcap
	var order binary.ByteOrder = binary.LittleEndian
	if p.bigEndian {
		order = binary.BigEndian
	}
	major, minor := order.Uint16(header[4:]), order.Uint16(header[6:])
	if major != 2 {
		return formatError(4, "pcap version %d.%d is not supported (known is 2.x)", major, minor)
	}
	p.swappedLengths, p.maybeSwapped = minor < 3, minor == 3
	snapLen, link := order.Uint32(header[16:]), order.Uint32(header[20:])
	p.linkType = uint16(link)
	if link&(1<<26) != 0 { // FCS length present, counted in 16-bit units
		p.fcsLen = int(link>>28) * 2
	}
	r.interfaces = []Interface{{LinkType: p.linkType, SnapLen: snapLen}}
	r.in.pos += pcapHeaderLen
	return nil
}

// nextRecord reads one pcap record.
//
// Ref: draft-ietf-opsawg-pcap, section 5.
func (r *Reader) nextRecord(frame *Frame) error {
	header, err := r.in.peek(pcapRecordLen)
	at := r.in.offset()
	if err != nil {
		if err == io.EOF && len(header) == 0 {
			return io.EOF
		}
		return r.in.broken(at, err, "packet record header", int64(len(header)), pcapRecordLen)
	}
	p := &r.pcap
	header = header[:pcapRecordLen]
	seconds, fraction := p.u32(header), p.u32(header[4:])
	captured, original := p.u32(header[8:]), p.u32(header[12:])
	if p.swappedLengths || p.maybeSwapped && captured > original {
		captured, original = original, captured
	}
	if uint64(captured) > uint64(r.maxFrame) {
		return formatError(at, "captured length %d exceeds the limit of %d bytes", captured, r.maxFrame)
	}
	record, err := r.in.peek(pcapRecordLen + int(captured))
	if err != nil {
		return r.in.broken(at, err, "packet data", int64(len(record)-pcapRecordLen), int64(captured))
	}
	r.in.pos += len(record)
	frame.Data = record[pcapRecordLen:len(record):len(record)]
	frame.OrigLen = int(max(captured, original))
	if p.fcsLen > 0 {
		frame.dropFCS(p.fcsLen)
	}
	frame.LinkType = p.linkType
	frame.Direction, frame.Reception = DirectionUnknown, ReceptionUnknown
	frame.HasTime = true
	frame.Time = int64(seconds)*1e9 + int64(fraction)*p.scale
	frame.Interface, frame.InterfaceName = 0, ""
	frame.Comment = ""
	frame.Offset = at
	return nil
}

// dropFCS removes n bytes of frame check sequence from the frame's end, as far
// as they were captured.
func (f *Frame) dropFCS(n int) {
	f.OrigLen = max(f.OrigLen-n, 0)
	if len(f.Data) > f.OrigLen {
		f.Data = f.Data[:f.OrigLen]
	}
}
