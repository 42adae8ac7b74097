package conntrack

import (
	"verdict/catalog"
	"verdict/packet"
	"verdict/packet/rewrite"
)

// Config holds the switches and bounds of a table; the zero Config is the
// kernel's defaults.
type Config struct {
	Max        int  // entries at most, 0: 262144
	NoLoose    bool // tcp_loose = 0
	Liberal    bool // tcp_be_liberal = 1
	NoChecksum bool // nf_conntrack_checksum = 0
	Accounting bool // nf_conntrack_acct = 1
	IgnoreRST  bool // tcp_ignore_invalid_rst = 1
	MaxRetrans int  // tcp_max_retrans, 0: 3
	Seed       uint64
}

// Result is what tracking does with a packet.
type Result uint8

// The results. Invalid packets are accepted, without connection.
const (
	Accept Result = iota
	Drop
)

// Packet is a packet with its attachment on its way through the host.
type Packet struct {
	View       *packet.View
	Attachment *Attachment
	Family     catalog.Family // FamilyIP or FamilyIP6
	Prerouting bool           // checksums are verified there only
	Now        int64          // nanoseconds since the epoch
}

// Table is the connections of one host.
type Table struct{}

// NewTable makes an empty table.
func NewTable(c Config) *Table { return &Table{} }

// Track finds or creates the packet's connection and attaches it.
func (t *Table) Track(p *Packet) Result { return Accept }

// Confirm enters a new connection, whose first packet got through.
func (t *Table) Confirm(p *Packet) Result { return Accept }

// Manip is one of the two translations that a connection may have.
type Manip uint8

// The translations.
const (
	SourceManip Manip = iota
	DestinationManip
)

// NATRange is what a nat statement asks for: addresses and ports between two
// bounds. Flags are the kernel's NF_NAT_RANGE bits (4 random, 8 persistent, 16
// fully random, 64 netmap).
type NATRange struct {
	MinAddr, MaxAddr [16]byte
	MinPort, MaxPort uint16
	HasAddr, HasPort bool
	Flags            uint32
}

// NATUndecided reports whether the packet's connection still needs a decision
// on a translation.
func (t *Table) NATUndecided(p *Packet, m Manip) bool { return false }

// SetupNAT decides a translation; a nil range is the null binding.
func (t *Table) SetupNAT(p *Packet, m Manip, r *NATRange) Result { return Accept }

// Translate rewrites the packet as its connection says. before tells the hooks
// ahead of routing (prerouting, output) from those behind it.
func (t *Table) Translate(p *Packet, m Manip, before bool, b *rewrite.Buffer) Result { return Accept }
