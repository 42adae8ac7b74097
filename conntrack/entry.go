package conntrack

// Conn is a tracked connection. Its exported fields may be read and, where
// the kernel lets rules do so, set while a packet holds it.
type Conn struct {
	// Tuples holds the first packet's tuple before NAT, and the tuple that
	// answers have.
	Tuples    [2]Tuple
	Status    uint32
	Mark      uint32
	Secmark   uint32
	ID        uint32
	Zone      Zone
	HasLabels bool
	Labels    [16]byte
	Helper    string // name of the helper, "" for none
	Packets   [2]uint64
	Bytes     [2]uint64
	Master    *Conn // of an expected connection

	expires int64 // nanoseconds; 0 for unconfirmed connections
	dead    bool
}

// Gone reports whether the connection ended or expired.
func (c *Conn) Gone(now int64) bool { return c.dead || (c.expires != 0 && now >= c.expires) }

// Remaining is the time until the connection expires, in nanoseconds.
func (c *Conn) Remaining(now int64) int64 { return max(c.expires-now, 0) }
