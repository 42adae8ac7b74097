package engine

import (
	"net/netip"
	"unsafe"

	"verdict/engine/vm"
	"verdict/host"
	"verdict/packet"
)

// device is an interface as packets meet it.
type device struct {
	meta     packet.Device
	mac      host.MAC
	hasMAC   bool
	loopback bool
	bridge   packet.Name // name of the bridge it is a port of
	bridgeID int
	known    bool // the host has it
	isBridge bool
	mtu      int
}

const arphrdLoopback = 772

// device finds an interface by name. One that the host does not have is made
// up, a plain Ethernet device, which the host records as an assumption.
func (e *Engine) device(name string) *device {
	if d, ok := e.knownDevice(name); ok {
		return d
	}
	e.naming.Lock()
	defer e.naming.Unlock()
	if d, ok := e.devices[name]; ok {
		return d
	}
	made := e.makeDevice(name)
	e.devices[name] = &made
	return &made
}

// knownDevice is device for interfaces that were asked for before.
func (e *Engine) knownDevice(name string) (*device, bool) {
	e.naming.RLock()
	d, ok := e.devices[name]
	e.naming.RUnlock()
	return d, ok
}

// recentDevice is the interface that was asked for last.
type recentDevice struct {
	name   string
	device *device
}

// find is device, remembering its answer: most packets come by the same
// interface.
func (r *recentDevice) find(e *Engine, name string) *device {
	if r.device != nil && len(name) == len(r.name) && (unsafe.StringData(name) == unsafe.StringData(r.name) || r.name == name) {
		return r.device
	}
	r.name, r.device = name, e.device(name)
	return r.device
}

// deviceOf finds the interface that a packet comes by, outDevice the one that
// it leaves by.
func (w *Worker) deviceOf(name string) *device  { return w.recent.find(w.engine, name) }
func (w *Worker) outDevice(name string) *device { return w.recentOut.find(w.engine, name) }

func (e *Engine) makeDevice(name string) device {
	if name == "" {
		return device{}
	}
	i, ok := e.host.ByName(name)
	if !ok {
		made, err := e.host.Assume(name)
		if err != nil {
			return device{} // no interface can have such a name
		}
		i = made
	}
	return e.fromInterface(i)
}

func (e *Engine) fromInterface(i *host.Interface) device {
	d := device{
		meta: packet.Device{
			Index: uint32(i.Index), Group: i.Group, Type: i.Type,
			Name: packet.MakeName(i.Name), Kind: packet.MakeName(i.Kind),
		},
		mac: i.MAC, hasMAC: i.HasMAC, loopback: i.Type == arphrdLoopback, known: true,
		isBridge: i.Kind == "bridge", mtu: i.MTU,
	}
	if master, ok := e.host.ByIndex(i.MasterIndex); ok && i.MasterIndex != 0 && master.Kind == "bridge" {
		d.bridge, d.bridgeID = packet.MakeName(master.Name), master.Index
	}
	return d
}

// routes answers the questions of fib and rt expressions from the host.
type routes struct{ host *host.Host }

func (r routes) AddressType(a netip.Addr, dev, of uint32) uint32 {
	return uint32(r.host.AddrTypeFor(int(of), a, int(dev)))
}

// OutputDevice finds the best route and then asks whether it leads to the
// device in question: a worse route that does is not looked for. Only
// link-local addresses of IPv6 belong to a device from the start.
// Ref: nft_fib_ipv4.c, nft_fib4_eval; nft_fib_ipv6.c, nft_fib6_eval.
func (r routes) OutputDevice(q vm.RouteQuery) (packet.Device, bool) {
	bound := 0
	if q.Dst.Is6() && q.Dst.IsLinkLocalUnicast() {
		bound = int(q.Dev)
	}
	route, ok := r.host.RouteFor(int(q.Of), q.Dst, bound)
	if !ok || !leadsOut(route.Type) || q.Dev != 0 && !route.Uses(int(q.Dev)) {
		return packet.Device{}, false
	}
	index := route.Interface
	if q.Dev != 0 {
		index = int(q.Dev)
	}
	i, ok := r.host.ByIndex(index)
	if !ok {
		return packet.Device{}, false
	}
	return packet.Device{Index: uint32(i.Index), Group: i.Group, Type: i.Type, Name: packet.MakeName(i.Name), Kind: packet.MakeName(i.Kind)}, true
}

// leadsOut tells the types of routes that have a device; the host's own
// addresses have none here.
func leadsOut(t host.RouteType) bool {
	return t == host.RouteUnicast || t == host.RouteBroadcast || t == host.RouteMulticast
}

// MTU is that of the route's device; the loopback device takes what fits into
// an IP packet.
func (r routes) MTU(a netip.Addr) (int, bool) {
	const largest = 65535
	route, ok := r.host.Route(a)
	switch {
	case !ok:
		return 0, false
	case route.Type == host.RouteLocal:
		return largest, true
	case !leadsOut(route.Type):
		return 0, false
	}
	i, ok := r.host.ByIndex(route.Interface)
	if !ok {
		return 0, false
	}
	return min(i.MTU, largest), true
}

func (r routes) NextHop(a netip.Addr) (netip.Addr, bool) {
	route, ok := r.host.Route(a)
	if !ok {
		return netip.Addr{}, false
	}
	if route.Gateway.IsValid() {
		return route.Gateway, true
	}
	return a, true
}
