package capture

import (
	"encoding/binary"
	"io"
)

// Block types. All others (name resolution, statistics, decryption secrets,
// custom, ...) are skipped.
//
// Ref: draft-ietf-opsawg-pcapng, section 11.1.
const (
	blockSectionHeader  = 0x0a0d0d0a
	blockInterface      = 1
	blockPacket         = 2 // obsolete
	blockSimplePacket   = 3
	blockEnhancedPacket = 6

	byteOrderMagic = 0x1a2b3c4d
	blockOverhead  = 12 // type, length, and length again at the end
)

// pcapngState is what holds within the current section.
type pcapngState struct {
	bigEndian bool
	section   int // number of the current section, from 0; -1 before the first
	first     int // index of the section's first interface in Reader.interfaces
	// clocks runs parallel to Reader.interfaces.
	clocks []interfaceClock
	// pending is damage found in the options of a frame that was delivered.
	pending  error
	comments commentTable
}

func (s *pcapngState) u16(b []byte) uint16 {
	if s.bigEndian {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (s *pcapngState) u32(b []byte) uint32 {
	if s.bigEndian {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (s *pcapngState) u64(b []byte) uint64 {
	if s.bigEndian {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// block is one block as it lies in the window.
type block struct {
	kind   uint32
	offset int64  // where the block starts
	body   []byte // without type, lengths and trailer
}

// firstSection checks that the stream starts with a section header.
func (r *Reader) firstSection() error {
	r.ng.section = -1
	return r.sectionHeader(0)
}

// sectionHeader starts a new section at the unread position.
func (r *Reader) sectionHeader(at int64) error {
	start, err := r.in.peek(12)
	if err != nil {
		return r.in.broken(at, err, "section header block", int64(len(start)), 28)
	}
	switch uint32(byteOrderMagic) {
	case binary.LittleEndian.Uint32(start[8:]):
		r.ng.bigEndian = false
	case binary.BigEndian.Uint32(start[8:]):
		r.ng.bigEndian = true
	default:
		return formatError(at+8, "section header without the byte order magic 1a2b3c4d: % x", start[8:12])
	}
	section, err := r.wholeBlock(at, blockSectionHeader, r.ng.u32(start[4:]))
	if err != nil {
		return err
	}
	if len(section.body) < 16 {
		return formatError(at, "section header block of only %d bytes", len(section.body)+blockOverhead)
	}
	if major, minor := r.ng.u16(section.body[4:]), r.ng.u16(section.body[6:]); major != 1 {
		return formatError(at+12, "pcapng version %d.%d is not supported (known is 1.x)", major, minor)
	}
	r.ng.section++
	r.ng.first = len(r.interfaces)
	return nil
}

// wholeBlock peeks at a block of the given length, checks its frame, and
// consumes it.
func (r *Reader) wholeBlock(at int64, kind, length uint32) (block, error) {
	if err := checkBlockLength(at, length); err != nil {
		return block{}, err
	}
	bytes, err := r.in.peek(int(length))
	if err != nil {
		return block{}, r.in.broken(at, err, "block", int64(len(bytes)), int64(length))
	}
	if trailer := r.ng.u32(bytes[length-4:]); trailer != length {
		return block{}, trailerMismatch(at, length, trailer)
	}
	r.in.pos += int(length)
	return block{kind: kind, offset: at, body: bytes[8 : length-4 : length-4]}, nil
}

// skipBlock passes over a block that is not looked into, without holding it.
func (r *Reader) skipBlock(at int64, length uint32) error {
	if err := checkBlockLength(at, length); err != nil {
		return err
	}
	if skipped, err := r.in.skip(int64(length) - 4); err != nil {
		return r.in.broken(at, err, "block", skipped, int64(length))
	}
	trailer, err := r.in.peek(4)
	if err != nil {
		return r.in.broken(at, err, "block", int64(length)-4+int64(len(trailer)), int64(length))
	}
	if got := r.ng.u32(trailer); got != length {
		return trailerMismatch(at, length, got)
	}
	r.in.pos += 4
	return nil
}

func checkBlockLength(at int64, length uint32) error {
	switch {
	case length < blockOverhead:
		return formatError(at, "block length %d is below the minimum of %d", length, blockOverhead)
	case length%4 != 0:
		return formatError(at, "block length %d is not a multiple of 4", length)
	case length > MaxBlock:
		return formatError(at, "block length %d exceeds the limit of %d bytes", length, MaxBlock)
	}
	return nil
}

func trailerMismatch(at int64, length, trailer uint32) error {
	return formatError(at, "block lengths disagree: %d at its start, %d at its end", length, trailer)
}

// nextBlockFrame reads blocks up to the next one that holds a frame.
func (r *Reader) nextBlockFrame(frame *Frame) error {
	if r.ng.pending != nil {
		return r.ng.pending
	}
	for {
		start, err := r.in.peek(8)
		at := r.in.offset()
		if err != nil {
			if err == io.EOF && len(start) == 0 {
				return io.EOF
			}
			return r.in.broken(at, err, "block header", int64(len(start)), 8)
		}
		kind, length := r.ng.u32(start), r.ng.u32(start[4:])
		switch kind {
		case blockEnhancedPacket, blockPacket, blockSimplePacket:
			packet, err := r.wholeBlock(at, kind, length)
			if err != nil {
				return err
			}
			return r.packetBlock(&packet, frame)
		case blockInterface:
			description, err := r.wholeBlock(at, kind, length)
			if err != nil {
				return err
			}
			if err := r.interfaceBlock(&description); err != nil {
				return err
			}
		case blockSectionHeader:
			if err := r.sectionHeader(at); err != nil {
				return err
			}
		default:
			if err := r.skipBlock(at, length); err != nil {
				return err
			}
		}
	}
}
