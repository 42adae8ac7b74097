// Package host describes the simulated host whose packet filter is run: its
// interfaces and addresses, routes and neighbours, users and groups.
//
// A host comes from a host file ([Parse], whose form docs/host.md describes),
// from the JSON output of the ip command ([FromIPJSON]), or from a [Config]
// made by a program ([New]). [Guess] finds out from a capture whose host it
// was taken on.
//
// A Host is immutable and safe for concurrent use, but for [Host.Assume],
// which loading a ruleset calls. Look-ups allocate nothing.
package host

import (
	"net/netip"
	"slices"
)

// Config is everything that can be said about a host.
type Config struct {
	// Interfaces in any order. The loopback interface "lo" with index 1,
	// 127.0.0.1/8 and ::1/128 is added when it is not listed. An Index of 0
	// means the next free one.
	Interfaces []Interface
	// InterfaceGroups, Users and Groups give names for numbers.
	InterfaceGroups map[string]uint32
	Users           map[string]uint32
	Groups          map[string]uint32
	// Local lists addresses that belong to the host besides those of its
	// interfaces.
	Local []netip.Addr
	// Routes of all tables. The routes which the kernel itself makes for an
	// interface's addresses are added: those of table local unless the list
	// holds any route of that table, those to the connected networks unless
	// the list holds them or the address says NoPrefixRoute.
	Routes []Route
	// Neighbours are entries of the ARP and neighbour discovery tables.
	Neighbours []Neighbour
	// FDB are entries of the forwarding databases of bridges.
	FDB []ForwardingEntry
	// Sysctl holds kernel settings by their path below /proc/sys, for example
	// "net/ipv4/ip_forward".
	Sysctl map[string]string
}

// Host is the simulated host.
type Host struct {
	config      Config
	interfaces  []*Interface // in order of index
	byName      map[string]*Interface
	byIndex     map[int]*Interface
	tables      map[uint32]*routeTable
	local       *routeTable // of table local, which every packet asks
	neighbours  map[neighbourKey]MAC
	assumptions []Assumption
}

// New checks a configuration and builds the host. The error is an *Error
// whose Field says where in the configuration it lies, without a position.
func New(config Config) (*Host, error) {
	h := &Host{
		config:     config,
		byName:     make(map[string]*Interface),
		byIndex:    make(map[int]*Interface),
		tables:     make(map[uint32]*routeTable),
		neighbours: make(map[neighbourKey]MAC),
	}
	for _, build := range []func() *Error{h.addInterfaces, h.linkInterfaces, h.addRoutes, h.addNeighbours, h.checkForwarding} {
		if err := build(); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// ByName finds an interface by name.
func (h *Host) ByName(name string) (*Interface, bool) {
	i, ok := h.byName[name]
	return i, ok
}

// ByIndex finds an interface by index.
func (h *Host) ByIndex(index int) (*Interface, bool) {
	i, ok := h.byIndex[index]
	return i, ok
}

// Interfaces lists all interfaces in order of index. The list must not be
// changed.
func (h *Host) Interfaces() []*Interface { return h.interfaces }

// InterfaceGroup returns the number of an interface group; "default" is 0.
func (h *Host) InterfaceGroup(name string) (uint32, bool) {
	if number, ok := h.config.InterfaceGroups[name]; ok {
		return number, true
	}
	return 0, name == "default"
}

// UserID returns the number of a user; "root" is 0 unless given otherwise.
func (h *Host) UserID(name string) (uint32, bool) {
	if id, ok := h.config.Users[name]; ok {
		return id, true
	}
	return 0, name == "root"
}

// GroupID returns the number of a group of users; "root" is 0 unless given
// otherwise.
func (h *Host) GroupID(name string) (uint32, bool) {
	if id, ok := h.config.Groups[name]; ok {
		return id, true
	}
	return 0, name == "root"
}

// Sysctl returns a kernel setting by its path below /proc/sys.
func (h *Host) Sysctl(name string) (string, bool) {
	value, ok := h.config.Sysctl[name]
	return value, ok
}

// FDB lists the entries of the bridges' forwarding databases.
func (h *Host) FDB() []ForwardingEntry { return h.config.FDB }

// Neighbours lists the neighbour entries.
func (h *Host) Neighbours() []Neighbour { return h.config.Neighbours }

// Addresses lists the local addresses: those of all interfaces in order of
// index, then the further ones. It allocates.
func (h *Host) Addresses() []netip.Addr {
	var list []netip.Addr
	for _, i := range h.interfaces {
		for _, a := range i.Addresses {
			list = append(list, a.Prefix.Addr())
		}
	}
	for _, a := range h.config.Local {
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}
