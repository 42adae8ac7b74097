package syntax

// Statement is one statement of a rule.
type Statement interface {
	Node
	statement()
}

// Match compares a selector with a value: `tcp dport 22`. Op is OpImplicit
// where no operator was written.
type Match struct {
	At
	Left  Expr
	Op    Operator
	Right Expr
}

// VerdictStatement is accept, drop, continue, return, jump, goto.
type VerdictStatement struct {
	At
	Verdict *VerdictExpr
}

// VMapStatement is KEY vmap { … }.
type VMapStatement struct {
	At
	Map *MapExpr
}

// Counter is `counter [packets N bytes N]`, or `counter name X`.
type Counter struct {
	At
	Given          bool // the numbers were written
	Packets, Bytes uint64
}

// ObjectRef is `counter name X`, `quota name X`, `limit name X`,
// `synproxy name X`, `ct helper set X`, `ct timeout set X`,
// `ct expectation set X`, `meta secmark set X`, `tunnel name X`; Name may be
// a map lookup.
type ObjectRef struct {
	At
	Kind Object
	Name Expr
}

// Quota is `quota [over|until] N UNIT [used N UNIT]`.
type Quota struct {
	At
	Over        bool
	Bytes, Used uint64
}

// Limit is `limit rate [over] N[ UNIT]/TIME [burst N UNIT]`.
type Limit struct {
	At
	Over       bool
	ByBytes    bool
	Rate       uint64 // packets, or bytes
	Unit       uint64 // seconds: 1, 60, 3600, 86400, 604800
	Burst      uint64 // packets, or bytes
	BurstGiven bool
}

// ConnLimit is `ct count [over] N`.
type ConnLimit struct {
	At
	Over  bool
	Count uint32
}

// Last is `last [used T|never]`.
type Last struct {
	At
	Used  *Duration // nil: never
	Never bool      // `used never` was written, or is to be printed
}

// Log is `log …`.
type Log struct {
	At
	Prefix         Expr // *Literal quoted, or with variables inside: *Literal after replacement
	Group          *Number
	Snaplen        *Number
	QueueThreshold *Number
	Level          Word
	Flags          []LogFlag
}

// LogFlag is one `flags …` group of a log statement.
type LogFlag struct {
	At
	Name Word   // all, tcp, ip, skuid, ether
	Sub  []Word // sequence, options
}

// Reject is `reject [with …]`.
type Reject struct {
	At
	// With is icmp, icmpv6, icmpx, tcp, or empty for the default.
	With Word
	Code Expr // the icmp code, nil for tcp reset
	// Old is set when the form `icmp type CODE` was written.
	Old bool
}

// NATKind says which address translation.
type NATKind uint8

// The kinds of NAT statements.
const (
	NATSource NATKind = iota
	NATDestination
	NATMasquerade
	NATRedirect
)

// NAT is snat, dnat, masquerade and redirect.
type NAT struct {
	At
	Kind   NATKind
	Family Word // ip, ip6 where written
	// Mode is `addr . port`, `interval` or `prefix` as written before `to`.
	Mode  NATMode
	Addr  Expr // address, range, prefix, map
	Port  Expr
	Flags []Word // random, fully-random, persistent
}

// NATMode is the written interpretation of a map's data.
type NATMode uint8

// The NAT modes.
const (
	NATPlain NATMode = iota
	NATAddrPort
	NATInterval
	NATPrefix
)

// TProxy is `tproxy [ip|ip6] to ADDR:PORT`.
type TProxy struct {
	At
	Family     Word
	Addr, Port Expr
}

// Synproxy is `synproxy [mss N] [wscale N] [timestamp] [sack-perm]`.
type Synproxy struct {
	At
	MSS, WScale         *Number
	Timestamp, SackPerm bool
}

// Queue is `queue [flags …] [to] N[-M] | EXPR`.
type Queue struct {
	At
	Number         Expr // nil: 0; *Literal, *Range, or an expression
	Bypass, Fanout bool
}

// Dup is `dup to ADDR [device D]`, or in netdev `dup to D`.
type Dup struct {
	At
	Addr, Device Expr
}

// Fwd is `fwd to D`, or `fwd ip to ADDR device D`.
type Fwd struct {
	At
	Family       Word
	Addr, Device Expr
}

// Notrack is `notrack`.
type Notrack struct{ At }

// FlowAdd is `flow add @ft`.
type FlowAdd struct {
	At
	Table *SetRef
}

// Assign sets a field or key: `meta mark set 1`, `ip ttl set 64`.
type Assign struct {
	At
	Left  Expr
	Right Expr
}

// ResetTCPOption is `reset tcp option KIND`.
type ResetTCPOption struct {
	At
	Option *TCPOption
}

// SetOp says what a SetUpdate does.
type SetOp uint8

// The operations on a set from a rule.
const (
	SetAdd     SetOp = iota
	SetRefresh       // update
	SetDelete
)

// SetUpdate is `add|update|delete @S { KEY … [: DATA] }`.
type SetUpdate struct {
	At
	Op      SetOp
	Set     *SetRef
	Element *Element
}

// Meter is `meter NAME [size N] { KEY STATEMENT }`, the old form of a dynamic
// set.
type Meter struct {
	At
	Name    Word
	Size    *Number
	Element *Element
}

// XT is `xt match "NAME"` or `xt target "NAME"`, printed for rules of
// iptables-nft and refused on input.
type XT struct {
	At
	Target bool
	Name   Word
}

func (*Match) statement()            {}
func (*VerdictStatement) statement() {}
func (*VMapStatement) statement()    {}
func (*Counter) statement()          {}
func (*ObjectRef) statement()        {}
func (*Quota) statement()            {}
func (*Limit) statement()            {}
func (*ConnLimit) statement()        {}
func (*Last) statement()             {}
func (*Log) statement()              {}
func (*Reject) statement()           {}
func (*NAT) statement()              {}
func (*TProxy) statement()           {}
func (*Synproxy) statement()         {}
func (*Queue) statement()            {}
func (*Dup) statement()              {}
func (*Fwd) statement()              {}
func (*Notrack) statement()          {}
func (*FlowAdd) statement()          {}
func (*Assign) statement()           {}
func (*ResetTCPOption) statement()   {}
func (*SetUpdate) statement()        {}
func (*Meter) statement()            {}
func (*XT) statement()               {}
