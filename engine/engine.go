package engine

import (
	"encoding/binary"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/engine/chain"
	"verdict/engine/vm"
	"verdict/host"
	"verdict/iptables"
	"verdict/nft/ruleset"
	"verdict/tc"
)

// Options say how packets are to be run.
type Options struct {
	// Hook sends every packet through this hook alone, e.g. "input"; empty
	// takes packets through the hooks as a host would.
	Hook string
	// Local are the host's own addresses, besides those of its interfaces.
	Local []netip.Addr
	// Interface is the interface of frames whose capture names none.
	Interface string
	// Seed decides what random expressions draw.
	Seed uint64
	// Zone is the time zone for meta day; nil is UTC.
	Zone *time.Location
	// KnownRoutes says that the host's routes are complete, so that a packet
	// without route is lost. Without it a packet that is not for the host is
	// forwarded, the outgoing interface being a guess.
	KnownRoutes bool
	// Replies makes the host answer: it sends what a Linux host with these
	// interfaces, routes and neighbours and without any open socket would send,
	// clones and fragments included, and Outcome tells of it. All of the host
	// must be known; it implies KnownRoutes.
	Replies bool
	// Forwarded gives the packet as it leaves (time to live, addresses) in
	// Outcome.Data.
	Forwarded bool
	// Executor says how chains run; verdicts, counters and all else are the
	// same.
	Executor chain.Mode
	// Forms are the fast forms that the interpreter uses, for measurements; 0
	// means all.
	Forms vm.Forms
	// Conntrack bounds and switches of connection tracking.
	Conntrack conntrack.Config
	// Tables of iptables, which run beside the rules at their priorities.
	Tables *iptables.Program
	// TC is the host's traffic control: what arrives passes the hardware and
	// the ingress filters of its interface ahead of the rules, what leaves the
	// egress filters behind them. It uses the engine's connections, and only
	// one worker at a time may run. Outcome tells of the frames that filters
	// sent elsewhere. Without Replies frames leave with the link addresses
	// that they came with.
	TC *tc.System
}

// Engine is a ruleset on a host. Evaluate packets with a Worker.
type Engine struct {
	host    *host.Host
	options Options
	local4  []uint32 // those of Options.Local, as numbers
	present atomic.Pointer[rules]
	updates sync.Mutex
	state   *vm.State
	conns   *conntrack.Table
	defrag  conntrack.Defrag
	// localDefrag joins fragments for the host itself that nothing else joined.
	localDefrag conntrack.Defrag
	fragmentID  uint32 // of the IPv6 datagram that was cut last
	learned     map[neighbour][6]byte
	peers       map[netip.Addr]*peer
	ident       uint16             // of the last IPv4 packet made
	only        Hook               // the hook of packets that name none
	naming      sync.RWMutex       // of devices
	devices     map[string]*device // by name
}

// New makes an engine. The host may be nil: nothing is known of interfaces and
// routes then. Errors are *HookError, *TCError and *vm.UnsupportedError.
func New(rs *ruleset.Ruleset, h *host.Host, options Options) (*Engine, error) {
	if h == nil {
		made, err := host.New(host.Config{})
		if err != nil {
			return nil, err
		}
		h = made
	}
	e := &Engine{host: h, options: options, state: vm.NewState(), devices: map[string]*device{}, learned: map[neighbour][6]byte{}}
	for _, a := range options.Local {
		if a.Is4() {
			b := a.As4()
			e.local4 = append(e.local4, binary.BigEndian.Uint32(b[:]))
		}
	}
	e.options.KnownRoutes = options.KnownRoutes || options.Replies
	if options.Hook != "" {
		only, err := HookByName(options.Hook)
		if err != nil {
			return nil, err
		}
		e.only = only
	}
	loaded, err := e.load(rs)
	if err != nil {
		return nil, err
	}
	e.present.Store(loaded)
	e.conns = conntrack.NewTable(options.Conntrack)
	if options.TC != nil {
		if err := e.checkTC(options.TC); err != nil {
			return nil, err
		}
		options.TC.UseConntrack(e.conns)
	}
	return e, nil
}

// Program is the linked ruleset.
func (e *Engine) Program() *vm.Program { return e.present.Load().program }

// Plan tells how the chains were compiled.
func (e *Engine) Plan() *chain.Plan { return e.present.Load().plan }

// State holds the counters and other state of the rules.
func (e *Engine) State() *vm.State { return e.state }

// Connections is the connection table.
func (e *Engine) Connections() *conntrack.Table { return e.conns }

// Tracks reports whether the rules make the host track connections of a family,
// ip or ip6.
func (e *Engine) Tracks(family catalog.Family) bool {
	return e.present.Load().hooks.tracks[map[catalog.Family]int{catalog.FamilyIP6: 1}[family]]
}

// Host is the simulated host.
func (e *Engine) Host() *host.Host { return e.host }
