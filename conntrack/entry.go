package conntrack

import "verdict/catalog"

// Conn is a tracked connection. Its exported fields may be read and, where
// the kernel lets rules do so, set while a packet holds it. Its memory is used
// again for another connection after it ended and no packet holds it any more.
type Conn struct {
	// Tuples holds the first packet's tuple before NAT, and the tuple that
	// answers have.
	Tuples [2]Tuple
	Zone   Zone
	Status uint32

	// refs counts who holds the connection: the table, packets, and the
	// connections that it is master of.
	refs int32
	// expires is, in nanoseconds, the time of expiry of a confirmed
	// connection, and the time to live of one that is not confirmed yet.
	expires int64
	index   uint32 // place in the slabs

	Mark    uint32
	Secmark uint32
	ID      uint32
	device  uint32 // index of the device it masquerades through
	sourced bool   // it is in the chain of its source
	// HasLabels says that there is room for Labels. Setting them has no effect
	// otherwise.
	HasLabels bool

	table *Table // nil for a connection made without table
	// What follows comes after the first two cache lines, which a look-up
	// touches.
	proto   protocolState
	Packets [2]uint64 // with Config.Accounting
	Bytes   [2]uint64
	rare    *extension

	Labels  [16]byte
	Helper  string // name of the helper, "" for none
	Master  *Conn  // of an expected connection
	Created int64  // when it was confirmed, nanoseconds since the epoch

	// Links of the chain of connections with one source, and of the free
	// list, as place+1.
	sourceNext, sourcePrev uint32

	_ [8]byte // makes an entry five cache lines
}

// protocolState holds what the trackers remember; a connection uses one part.
type protocolState struct {
	stream int64 // UDP: when it may become a stream
	tcp    tcpState
	sctp   sctpState
}

// extension holds what few connections have.
type extension struct {
	timeouts     *TimeoutPolicy
	helper       Helper
	adjust       *[2]sequenceShift
	expectations []*Expectation
	newline      [2]newlines // FTP
}

// rarely returns the extension, making it if needed.
func (c *Conn) rarely() *extension {
	if c.rare == nil {
		c.rare = new(extension)
	}
	return c.rare
}

// Gone reports whether the connection ended or expired.
func (c *Conn) Gone(now int64) bool {
	return c.Status&StatusDying != 0 || c.Status&StatusConfirmed != 0 && now >= c.expires
}

// Remaining is the time until the connection expires, in nanoseconds; 0 for
// one that is not confirmed.
func (c *Conn) Remaining(now int64) int64 {
	if c.Status&StatusConfirmed == 0 {
		return 0
	}
	return max(c.expires-now, 0)
}

// Confirmed reports whether the connection was entered into its table.
func (c *Conn) Confirmed() bool { return c.Status&StatusConfirmed != 0 }

// Family is the address family of both tuples.
func (c *Conn) Family() catalog.Family { return c.Tuples[Original].Family }

// Protocol is the transport protocol of both tuples.
func (c *Conn) Protocol() uint8 { return c.Tuples[Original].Protocol }

// release lets go of the connection.
func (c *Conn) release() {
	if c.table == nil {
		return
	}
	c.refs--
	if c.refs == 0 {
		c.table.reclaim(c)
	}
}
