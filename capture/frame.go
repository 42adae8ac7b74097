// Package capture reads and writes packet captures: pcap and pcapng files and
// streams, gzip-compressed or not.
//
// A [Source] yields frames one by one in bounded memory and allocates nothing
// per frame once it is warm; a [Sink] takes frames. The formats are those of
// the IETF drafts draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng, read as
// leniently as libpcap reads them: whatever precedes a damaged place is
// delivered, then a [FormatError] names the place.
package capture

import "net/netip"

// Direction says which way a frame crossed the interface it was captured on.
type Direction uint8

const (
	DirectionUnknown Direction = iota // the capture does not say
	Inbound                           // received by the capturing host
	Outbound                          // sent by the capturing host
)

// String returns "unknown", "inbound" or "outbound".
func (d Direction) String() string {
	switch d {
	case Inbound:
		return "inbound"
	case Outbound:
		return "outbound"
	}
	return "unknown"
}

// Reception says to whom a frame was addressed at the link layer, as pcapng's
// epb_flags record it (bits 2 to 4, same numbers).
type Reception uint8

const (
	ReceptionUnknown     Reception = iota // the capture does not say
	ReceptionUnicast                      // addressed to the capturing host
	ReceptionMulticast                    // addressed to a group
	ReceptionBroadcast                    // addressed to everyone
	ReceptionPromiscuous                  // addressed to another host
)

// Frame is one captured frame with what the capture says about it.
type Frame struct {
	// Data holds the captured bytes, from the first byte of the link layer
	// header on. A trailing frame check sequence that the capture declares is
	// not part of it. It is valid until the next call of Next.
	Data []byte
	// OrigLen is the length of the frame on the wire in bytes, at least
	// len(Data): a file that claims less is read as if the frame were whole.
	OrigLen int
	// LinkType is the LINKTYPE_ number of the link layer (1 is Ethernet).
	LinkType uint16
	// Direction and Reception are unknown unless a pcapng file records them.
	Direction Direction
	Reception Reception
	// HasTime is false when the format carries no usable time for the frame:
	// simple packet blocks, an all-zero pcapng timestamp, and times that do
	// not fit in Time.
	HasTime bool
	// Time is the capture time in nanoseconds since 1970-01-01 UTC.
	Time int64
	// Interface indexes the list returned by Source.Interfaces.
	Interface int
	// InterfaceName is that interface's name, empty when not recorded.
	InterfaceName string
	// Comment is the frame's comment; several are joined by newlines.
	Comment string
	// Index counts frames from 0 in the order of the file.
	Index int
	// Offset is where the frame's record or block starts, in bytes from the
	// start of the (decompressed) stream.
	Offset int64
}

// Interface describes one capture interface.
type Interface struct {
	Name        string // if_name, for example "eth0"; empty when not recorded
	Description string // if_description
	LinkType    uint16 // LINKTYPE_ number of its frames
	SnapLen     uint32 // most bytes captured of a frame, 0 when unlimited
	// Section is the number of the pcapng section that defined it, from 0.
	Section int
	// MAC is the interface's own address where the file records it (if_MACaddr).
	MAC    [6]byte
	HasMAC bool
	// Addresses are the interface's own addresses (if_IPv4addr, if_IPv6addr).
	Addresses []netip.Prefix
}

// Source yields frames. A Source is used by one goroutine at a time.
type Source interface {
	// Next fills in the next frame, every field of it. It returns io.EOF at
	// the regular end, a *FormatError at a damaged place, or the error of the
	// reader beneath; after any error it returns that error again.
	Next(*Frame) error
	// Interfaces lists the interfaces met so far, in order of appearance over
	// all sections. The list grows while frames are read.
	Interfaces() []Interface
	// Close releases what Open opened.
	Close() error
}

// Sink takes frames. A Sink is used by one goroutine at a time.
type Sink interface {
	// Write appends one frame. The frame's bytes are not kept.
	Write(*Frame) error
	// Flush hands everything written so far to the writer beneath.
	Flush() error
	// Close flushes, and closes what Create opened. A capture without frames
	// is still a valid file.
	Close() error
}
