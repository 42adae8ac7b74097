package host

import (
	"fmt"
	"net/netip"
)

// Neighbour is an entry of the ARP or neighbour discovery table.
type Neighbour struct {
	Address netip.Addr
	Dev     string
	MAC     MAC
	HasMAC  bool   // false for entries whose resolution failed
	State   string // "permanent", "reachable", "stale", "failed", ...
}

// ForwardingEntry is an entry of a bridge's forwarding database.
type ForwardingEntry struct {
	MAC    MAC
	Dev    string // the port, or the bridge itself
	Bridge string // empty for entries of a device's own filter
	VLAN   uint16
	State  string // "permanent" for the ports' own addresses, "static", ...
}

type neighbourKey struct {
	index   int
	address netip.Addr
}

// Neighbour finds the link layer address of an on-link address.
func (h *Host) Neighbour(index int, address netip.Addr) (MAC, bool) {
	mac, ok := h.neighbours[neighbourKey{index, plain(address)}]
	return mac, ok
}

func (h *Host) addNeighbours() *Error {
	for n := range h.config.Neighbours {
		neighbour := &h.config.Neighbours[n]
		field := fmt.Sprintf("neighbours[%d]", n)
		if !neighbour.Address.IsValid() {
			return &Error{Field: field + ".dst", Reason: "a neighbour needs an address"}
		}
		dev, err := h.resolve(neighbour.Dev, field+".dev")
		if err != nil {
			return err
		}
		if neighbour.HasMAC {
			h.neighbours[neighbourKey{dev.Index, plain(neighbour.Address)}] = neighbour.MAC
		}
	}
	return nil
}

// checkForwarding checks the names in the forwarding databases.
func (h *Host) checkForwarding() *Error {
	for n := range h.config.FDB {
		entry := &h.config.FDB[n]
		if _, err := h.resolve(entry.Dev, fmt.Sprintf("fdb[%d].dev", n)); err != nil {
			return err
		}
		if entry.Bridge == "" {
			continue
		}
		if _, err := h.resolve(entry.Bridge, fmt.Sprintf("fdb[%d].bridge", n)); err != nil {
			return err
		}
	}
	return nil
}
