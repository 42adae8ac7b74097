package host

import (
	"cmp"
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
	groups  map[netip.Prefix]routeGroup
}

// routeGroup is a run of routes with the same Dst.
type routeGroup struct{ from, to int }

func (t *routeTable) family(address netip.Addr) *routeFamily {
	if address.Is4() {
		return &t.v4
	}
	return &t.v6
}

// lookup finds the best route of a table; nil when there is none.
func (h *Host) lookup(table uint32, dst netip.Addr, index int) *Route {
	t, ok := h.tables[table]
	if !ok || !dst.IsValid() {
		return nil
	}
	f := t.family(dst)
	for _, length := range f.lengths {
		prefix, err := dst.Prefix(length)
		if err != nil {
			return nil
		}
		group, ok := f.groups[prefix]
		if !ok {
			continue
		}
		for n := group.from; n < group.to; n++ {
			if route := &f.routes[n]; index == 0 || route.Uses(index) {
				return route
			}
		}
	}
	return nil
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
	f := table.family(r.Dst.Addr())
	f.routes = append(f.routes, r)
}

// build sorts the routes and fills the look-ups.
func (f *routeFamily) build() {
	slices.SortStableFunc(f.routes, func(a, b Route) int {
		return cmp.Or(cmp.Compare(b.Dst.Bits(), a.Dst.Bits()), a.Dst.Addr().Compare(b.Dst.Addr()), cmp.Compare(a.Metric, b.Metric))
	})
	f.groups = make(map[netip.Prefix]routeGroup, len(f.routes))
	for n := range f.routes {
		dst := f.routes[n].Dst
		group, known := f.groups[dst]
		if !known {
			group.from = n
		}
		group.to = n + 1
		f.groups[dst] = group
		if last := len(f.lengths) - 1; last < 0 || f.lengths[last] != dst.Bits() {
			f.lengths = append(f.lengths, dst.Bits())
		}
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
