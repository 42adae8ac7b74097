package tc

import (
	"fmt"
	"math/rand/v2"
	"sort"

	"verdict/conntrack"
	"verdict/offload"
	"verdict/trace"
)

// Bypass chooses how a block that needs no software is recognised.
type Bypass uint8

// The generations.
const (
	BypassRefined Bypass = iota // Linux 6.14 and later: by classifier instance
	BypassFirst                 // Linux 6.10: by counts of filters
	BypassOff                   // before
)

// String names the generation.
func (b Bypass) String() string { return [...]string{"refined", "first", "off"}[b] }

// ParseBypass finds a generation by its name.
func ParseBypass(name string) (Bypass, bool) {
	for _, b := range []Bypass{BypassRefined, BypassFirst, BypassOff} {
		if b.String() == name {
			return b, true
		}
	}
	return 0, false
}

// Config makes a System.
type Config struct {
	Bypass Bypass
	// Seed draws what the kernel draws at random.
	Seed uint64
	// Now is the time of commands in nanoseconds since the epoch.
	Now int64
	// Conntrack is the host's table of connections; without one a System
	// makes its own.
	Conntrack *conntrack.Table
	// AssumeDevices makes a device of any name that a command uses.
	AssumeDevices bool
	// Interface, if set, numbers an interface that is made without a number,
	// such as one that is assumed; 0: the next free number.
	Interface func(name string) uint32
	// Stack tells whether the host's stack takes a packet that was sent to a
	// device's ingress by redirection; nil: it takes all.
	Stack func(d *Device, p *Packet) bool
	// Linear turns the hash tables of flower off: the model that they are
	// tested against.
	Linear bool
	// Nesting is how deep redirections of mirred may nest, 0: 3, as in Linux
	// 6.12 and 7.1; Linux 6.18 allows 4.
	Nesting int
	// PerMask does the work as the kernel does: flower dissects the packet for
	// every mask, and asks every mask. Verdicts are the same.
	PerMask bool
}

// System is the traffic control of one host.
type System struct {
	Bypass Bypass
	Now    int64
	// Assumed lists the devices that were made because commands used them.
	Assumed []string

	config  Config
	devices map[string]*Device
	byIndex map[uint32]*Device
	blocks  map[uint32]*Block
	all     []*Block
	actions map[string]*actionTable
	random  *rand.Rand
	ct      *conntrack.Table

	cookies     uint64
	wantBypass  int // blocks that want the bypass of the first generation
	needSW      int // blocks that need software
	hardware    map[uint64]*hardwareFilter
	deviceCount uint32
	path        path
	hardwareWay hardwareWay
	sink        trace.Sink // of the steps; nil: nobody asks
	traced      bool       // the filter that is asked was matched
	// notes are lines that tc prints while it reads a command; old says that
	// it is iproute2 6.1, which prints more of them.
	notes []string
	later []*Chain // see releaseLater
	old   bool
}

// New makes a System with the loopback device.
func New(c Config) *System {
	if c.Nesting == 0 {
		c.Nesting = mirredNesting
	}
	s := &System{
		Bypass: c.Bypass, Now: c.Now, config: c, devices: map[string]*Device{}, byIndex: map[uint32]*Device{},
		blocks: map[uint32]*Block{}, actions: map[string]*actionTable{}, ct: c.Conntrack,
		random: rand.New(rand.NewPCG(c.Seed, 0)), hardware: map[uint64]*hardwareFilter{},
	}
	if s.ct == nil {
		s.ct = conntrack.NewTable(conntrack.Config{Seed: c.Seed})
	}
	s.AddDevice(Device{Name: "lo"})
	return s
}

// Device is an interface of the host.
type Device struct {
	Name  string
	Index uint32 // 0: the next free one
	Down  bool   // it is not up, or has no carrier
	// Hardware takes offloaded filters; nil for a device without offload.
	Hardware *offload.Device

	qdiscs []*Qdisc
	system *System
}

// Receives reports whether anything of traffic control or hardware sees packets
// that arrive at the device.
func (d *Device) Receives() bool {
	q := d.at(handleIngress)
	return q != nil && q.ingress != nil || d.Hardware != nil && d.Hardware.Len() > 0
}

// Transmits reports whether anything of traffic control sees packets that leave
// through the device.
func (d *Device) Transmits() bool {
	q, root := d.at(handleIngress), d.at(handleRoot)
	return q != nil && q.egress != nil || root != nil && root.block != nil
}

// AddDevice adds an interface and returns it.
func (s *System) AddDevice(d Device) *Device {
	if old := s.devices[d.Name]; old != nil {
		return old
	}
	if d.Index == 0 && s.config.Interface != nil {
		d.Index = s.config.Interface(d.Name)
	}
	if d.Index == 0 {
		s.deviceCount++
		d.Index = s.deviceCount
		for s.byIndex[d.Index] != nil {
			s.deviceCount++
			d.Index = s.deviceCount
		}
	}
	d.system = s
	s.devices[d.Name], s.byIndex[d.Index] = &d, &d
	return &d
}

// RemoveDevice takes an interface away with its qdiscs.
func (s *System) RemoveDevice(name string) {
	d := s.devices[name]
	if d == nil {
		return
	}
	for len(d.qdiscs) > 0 {
		s.destroyQdisc(d.qdiscs[0])
	}
	delete(s.devices, name)
	delete(s.byIndex, d.Index)
}

// Device finds an interface by name, nil if there is none.
func (s *System) Device(name string) *Device { return s.devices[name] }

// Devices lists the interfaces by index.
func (s *System) Devices() []*Device {
	var l []*Device
	for _, d := range s.devices {
		l = append(l, d)
	}
	sort.Slice(l, func(i, j int) bool { return l[i].Index < l[j].Index })
	return l
}

// device finds an interface for a command.
func (s *System) device(name string) (*Device, *ToolError) {
	if d := s.devices[name]; d != nil {
		return d, nil
	}
	if s.config.AssumeDevices && name != "" && len(name) < 16 {
		s.Assumed = append(s.Assumed, name)
		return s.AddDevice(Device{Name: name}), nil
	}
	return nil, tool("Cannot find device %q", name)
}

// nextCookie is an identity that no other filter or action has.
func (s *System) nextCookie() uint64 {
	s.cookies++
	return s.cookies
}

// UseConntrack makes ct actions use a host's table of connections, as long as no
// packet was run.
func (s *System) UseConntrack(t *conntrack.Table) { s.ct = t }

// Reseed begins anew what the kernel draws at random.
func (s *System) Reseed(seed uint64) { s.random = rand.New(rand.NewPCG(seed, 0)) }

// Conntrack is the table of connections that ct actions use.
func (s *System) Conntrack() *conntrack.Table { return s.ct }

// nameOf is the name of a device by index.
func (s *System) nameOf(index uint32) string {
	if d := s.byIndex[index]; d != nil {
		return d.Name
	}
	return fmt.Sprintf("if%d", index)
}
