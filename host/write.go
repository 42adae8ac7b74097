package host

import (
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
)

// Write writes the host file that describes the host: Parse of it gives an
// equal host. What Assume made up is not part of it.
func (h *Host) Write(w io.Writer) error {
	out := fileHost{Interfaces: []fileInterface{},
		InterfaceGroups: h.config.InterfaceGroups, Users: h.config.Users, Groups: h.config.Groups,
		Local: h.config.Local, Sysctl: h.config.Sysctl,
	}
	for i := range h.config.Interfaces {
		given := &h.config.Interfaces[i]
		out.Interfaces = append(out.Interfaces, writtenInterface(given, h.byName[given.Name]))
	}
	for i := range h.config.Routes {
		out.Routes = append(out.Routes, writtenRoute(&h.config.Routes[i]))
	}
	for _, n := range h.config.Neighbours {
		out.Neighbours = append(out.Neighbours, fileNeighbour{n.Address, n.Dev, optionalMAC(n.MAC, n.HasMAC), n.State})
	}
	for _, e := range h.config.FDB {
		out.FDB = append(out.FDB, fileForwarding{e.MAC.String(), e.Dev, e.Bridge, e.VLAN, e.State})
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("host: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// The file types mirror docs/host.md.
type (
	fileHost struct {
		Interfaces      []fileInterface   `json:"interfaces"`
		InterfaceGroups map[string]uint32 `json:"interface_groups,omitempty"`
		Users           map[string]uint32 `json:"users,omitempty"`
		Groups          map[string]uint32 `json:"groups,omitempty"`
		Local           []netip.Addr      `json:"local,omitempty"`
		Routes          []fileRoute       `json:"routes,omitempty"`
		Neighbours      []fileNeighbour   `json:"neighbours,omitempty"`
		FDB             []fileForwarding  `json:"fdb,omitempty"`
		Sysctl          map[string]string `json:"sysctl,omitempty"`
	}
	fileInterface struct {
		Name      string        `json:"name"`
		Index     int           `json:"index"`
		Type      any           `json:"type"`
		Group     uint32        `json:"group,omitempty"`
		Kind      string        `json:"kind,omitempty"`
		MAC       string        `json:"mac,omitempty"`
		MTU       int           `json:"mtu,omitempty"`
		Up        bool          `json:"up"`
		Master    string        `json:"master,omitempty"`
		Lower     string        `json:"lower,omitempty"`
		VLAN      uint16        `json:"vlan,omitempty"`
		Table     uint32        `json:"table,omitempty"`
		Addresses []fileAddress `json:"addresses,omitempty"`
	}
	fileAddress struct {
		Address       netip.Prefix  `json:"address"`
		Broadcast     *netip.Addr   `json:"broadcast,omitempty"`
		Peer          *netip.Prefix `json:"peer,omitempty"`
		Scope         any           `json:"scope"`
		Secondary     bool          `json:"secondary,omitempty"`
		Deprecated    bool          `json:"deprecated,omitempty"`
		Tentative     bool          `json:"tentative,omitempty"`
		NoPrefixRoute bool          `json:"noprefixroute,omitempty"`
	}
	fileRoute struct {
		Dst      netip.Prefix  `json:"dst"`
		Type     string        `json:"type,omitempty"`
		Gateway  *netip.Addr   `json:"gateway,omitempty"`
		Dev      string        `json:"dev,omitempty"`
		PrefSrc  *netip.Addr   `json:"prefsrc,omitempty"`
		Table    any           `json:"table,omitempty"`
		Metric   uint32        `json:"metric,omitempty"`
		Scope    any           `json:"scope,omitempty"`
		Protocol string        `json:"protocol,omitempty"`
		Nexthops []fileNexthop `json:"nexthops,omitempty"`
	}
	fileNexthop struct {
		Gateway *netip.Addr `json:"gateway,omitempty"`
		Dev     string      `json:"dev"`
		Weight  int         `json:"weight,omitempty"`
	}
	fileNeighbour struct {
		Dst   netip.Addr `json:"dst"`
		Dev   string     `json:"dev"`
		MAC   string     `json:"mac,omitempty"`
		State string     `json:"state,omitempty"`
	}
	fileForwarding struct {
		MAC    string `json:"mac"`
		Dev    string `json:"dev"`
		Bridge string `json:"bridge,omitempty"`
		VLAN   uint16 `json:"vlan,omitempty"`
		State  string `json:"state,omitempty"`
	}
)

// writtenInterface takes what was given, and the index and defaults from the
// interface that New made of it.
func writtenInterface(given, built *Interface) fileInterface {
	out := fileInterface{Name: built.Name, Index: built.Index, Type: built.Type, Group: built.Group, Kind: built.Kind,
		MAC: optionalMAC(built.MAC, built.HasMAC), MTU: built.MTU, Up: !built.Down, Master: built.Master,
		Lower: built.Lower, VLAN: built.VLAN, Table: built.Table}
	if name := hardwareName(built.Type); name != "" {
		out.Type = name
	}
	for i := range given.Addresses {
		a := &given.Addresses[i]
		written := fileAddress{Address: a.Prefix, Broadcast: optionalAddress(a.Broadcast), Scope: scopeValue(a.Scope),
			Secondary: a.Secondary, Deprecated: a.Deprecated, Tentative: a.Tentative, NoPrefixRoute: a.NoPrefixRoute}
		if a.Peer.IsValid() {
			written.Peer = &a.Peer
		}
		out.Addresses = append(out.Addresses, written)
	}
	return out
}

func writtenRoute(r *Route) fileRoute {
	out := fileRoute{Dst: r.Dst, Gateway: optionalAddress(r.Gateway), Dev: r.Dev, PrefSrc: optionalAddress(r.PrefSrc),
		Metric: r.Metric, Protocol: r.Protocol}
	if r.Type != RouteUnspec && r.Type != RouteUnicast {
		out.Type = r.Type.String()
	}
	if r.Scope != ScopeGlobal {
		out.Scope = scopeValue(r.Scope)
	}
	if r.Table != 0 && r.Table != TableMain {
		out.Table = r.Table
		for name, number := range tableNames {
			if number == r.Table {
				out.Table = name
			}
		}
	}
	for i := range r.Nexthops {
		hop := &r.Nexthops[i]
		out.Nexthops = append(out.Nexthops, fileNexthop{optionalAddress(hop.Gateway), hop.Dev, hop.Weight})
	}
	return out
}

// scopeValue is the name of a scope, or its number.
func scopeValue(s Scope) any {
	for _, known := range scopeNames {
		if known.scope == s {
			return known.name
		}
	}
	return uint8(s)
}

func optionalMAC(mac MAC, has bool) string {
	if !has {
		return ""
	}
	return mac.String()
}

func optionalAddress(a netip.Addr) *netip.Addr {
	if !a.IsValid() {
		return nil
	}
	return &a
}
