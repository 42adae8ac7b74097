package host

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
)

// routeTable holds the routes of one table.
type routeTable struct{ v4, v6 routeFamily }

// routeFamily finds routes of one address family: one probe for each prefix
// length in use, from the longest on.
type routeFamily struct {
	routes  []Route // grouped by Dst, in order of metric
	lengths []int   // prefix lengths in use, longest first
	// Where each Dst's group lies; IPv4 has keys that hash faster.
	groups4 map[uint64]routeGroup
	groups6 map[key6]routeGroup
	// blocks4 tells by the first 16 bits of an IPv4 address whether a route
	// can lead there: of most addresses, table local knows nothing.
	blocks4 *[1 << 16 / 64]uint64
}

// routeGroup is a run of routes with the same Dst.
type routeGroup struct{ from, to int }

// key4 is an IPv4 prefix in one word: its bits, then its length.
func key4(bits uint32, length int) uint64 {
	return uint64(bits>>(32-length)<<(32-length))<<8 | uint64(length)
}

// key6 is an IPv6 prefix.
type key6 struct {
	high, low uint64
	length    int
}

func newKey6(high, low uint64, length int) key6 {
	if length <= 64 {
		return key6{high >> (64 - length) << (64 - length), 0, length}
	}
	return key6{high, low >> (128 - length) << (128 - length), length}
}

func words(a netip.Addr) (high, low uint64) {
	b := a.As16()
	return binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])
}

func word4(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

// lookup finds the best route of a table; nil when there is none.
func (h *Host) lookup(table uint32, dst netip.Addr, index int) *Route {
	t := h.local
	if table != TableLocal {
		t = h.tables[table]
	}
	switch {
	case t == nil:
		return nil
	case dst.Is4():
		return t.v4.lookup4(word4(dst), index)
	case dst.Is6():
		high, low := words(dst)
		return t.v6.lookup6(high, low, index)
	}
	return nil
}

func (f *routeFamily) lookup4(dst uint32, index int) *Route {
	if f.blocks4 == nil || f.blocks4[dst>>22]>>(dst>>16&63)&1 == 0 {
		return nil
	}
	for _, length := range f.lengths {
		if group, ok := f.groups4[key4(dst, length)]; ok {
			if route := f.choose(group, index); route != nil {
				return route
			}
		}
	}
	return nil
}

func (f *routeFamily) lookup6(high, low uint64, index int) *Route {
	for _, length := range f.lengths {
		if group, ok := f.groups6[newKey6(high, low, length)]; ok {
			if route := f.choose(group, index); route != nil {
				return route
			}
		}
	}
	return nil
}

// choose returns the first route of a group that leaves by an interface; 0
// admits all.
func (f *routeFamily) choose(group routeGroup, index int) *Route {
	for n := group.from; n < group.to; n++ {
		if route := &f.routes[n]; index == 0 || route.Uses(index) {
			return route
		}
	}
	return nil
}

// mark enters an IPv4 prefix into blocks4.
func (f *routeFamily) mark(bits uint32, length int) {
	if f.blocks4 == nil {
		f.blocks4 = new([1 << 16 / 64]uint64)
	}
	first, n := bits>>16, uint32(1)
	if length < 16 {
		n = 1 << (16 - length)
		first &^= n - 1
	}
	for i := first; i < first+n; i++ {
		f.blocks4[i/64] |= 1 << (i & 63)
	}
}

// addRoutes checks the given routes, adds the kernel's own, and builds the
// tables.
func (h *Host) addRoutes() *Error {
	for n := range h.config.Routes {
		route := h.config.Routes[n]
		if err := h.completeRoute(&route, fmt.Sprintf("routes[%d]", n)); err != nil {
			return err
		}
		h.addRoute(route)
	}
	for _, route := range h.kernelRoutes() {
		h.addRoute(route)
	}
	h.local = h.tables[TableLocal]
	for _, table := range h.tables {
		table.v4.build()
		table.v6.build()
	}
	return nil
}

// completeRoute fills in defaults and indexes.
func (h *Host) completeRoute(r *Route, field string) *Error {
	if !r.Dst.IsValid() {
		return &Error{Field: field + ".dst", Reason: "a route needs a destination"}
	}
	r.Dst = r.Dst.Masked()
	if r.Type == RouteUnspec {
		r.Type = RouteUnicast
	}
	if r.Table == 0 {
		r.Table = TableMain
	}
	r.Nexthops = slices.Clone(r.Nexthops)
	for n := range r.Nexthops {
		hop := &r.Nexthops[n]
		dev, err := h.resolve(hop.Dev, fmt.Sprintf("%s.nexthops[%d].dev", field, n))
		if err != nil {
			return err
		}
		hop.Interface = dev.Index
		hop.Weight = max(hop.Weight, 1)
	}
	if len(r.Nexthops) > 0 {
		r.Gateway, r.Dev = r.Nexthops[0].Gateway, r.Nexthops[0].Dev
	}
	if r.Dev == "" {
		if r.Type == RouteUnicast {
			return &Error{Field: field + ".dev", Reason: "a unicast route needs a device"}
		}
		return nil
	}
	dev, err := h.resolve(r.Dev, field+".dev")
	if err != nil {
		return err
	}
	r.Interface = dev.Index
	return nil
}

func (h *Host) addRoute(r Route) {
	table, ok := h.tables[r.Table]
	if !ok {
		table = new(routeTable)
		h.tables[r.Table] = table
	}
	f := &table.v6
	if r.Dst.Addr().Is4() {
		f = &table.v4
	}
	f.routes = append(f.routes, r)
}

// build sorts the routes and fills the look-ups.
func (f *routeFamily) build() {
	slices.SortStableFunc(f.routes, func(a, b Route) int {
		return cmp.Or(cmp.Compare(b.Dst.Bits(), a.Dst.Bits()), a.Dst.Addr().Compare(b.Dst.Addr()), cmp.Compare(a.Metric, b.Metric))
	})
	f.groups4, f.groups6 = make(map[uint64]routeGroup), make(map[key6]routeGroup)
	for from := 0; from < len(f.routes); {
		dst, to := f.routes[from].Dst, from+1
		for to < len(f.routes) && f.routes[to].Dst == dst {
			to++
		}
		if dst.Addr().Is4() {
			f.groups4[key4(word4(dst.Addr()), dst.Bits())] = routeGroup{from, to}
			f.mark(word4(dst.Addr()), dst.Bits())
		} else {
			high, low := words(dst.Addr())
			f.groups6[newKey6(high, low, dst.Bits())] = routeGroup{from, to}
		}
		if last := len(f.lengths) - 1; last < 0 || f.lengths[last] != dst.Bits() {
			f.lengths = append(f.lengths, dst.Bits())
		}
		from = to
	}
}

// Routes lists the routes of a table, IPv4 first, longest prefixes first,
// those included that the kernel makes for addresses. It allocates.
func (h *Host) Routes(table uint32) []Route {
	t, ok := h.tables[table]
	if !ok {
		return nil
	}
	return slices.Concat(t.v4.routes, t.v6.routes)
}
