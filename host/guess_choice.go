package host

import (
	"fmt"
	"net/netip"
	"slices"
)

// chooseStation decides between stations which share all frames, as a host
// and its only gateway do.
func (t *tally) chooseStation(rivals []MAC) (own MAC, reason string, found bool) {
	// Only frames that the capturing host sends are seen before padding.
	var unpadded []MAC
	padding := false
	for _, mac := range rivals {
		s := t.stations[mac]
		padding = padding || s.padded > 0 && s.unpadded == 0
		if s.unpadded > 0 {
			unpadded = append(unpadded, mac)
		}
	}
	if padding && len(unpadded) == 1 {
		return unpadded[0], fmt.Sprintf("only %v sends frames that were captured before they were padded", unpadded[0]), true
	}
	// A host has few addresses; behind its gateway there are many.
	slices.SortStableFunc(rivals, func(a, b MAC) int { return len(t.stations[a].near) - len(t.stations[b].near) })
	few, more := len(t.stations[rivals[0]].near), len(t.stations[rivals[1]].near)
	if few > 0 && more >= few+3 && more >= 3*few {
		return rivals[0], fmt.Sprintf("%v has %s, its peer %v has %d", rivals[0], addressCount(few), rivals[1], more), true
	}
	return MAC{}, "", false
}

func addressCount(n int) string {
	if n == 1 {
		return "1 address"
	}
	return fmt.Sprintf("%d addresses", n)
}

// directedSides joins what was sent and received.
func (t *tally) directedSides() sides {
	joined := newSides()
	for _, from := range []*sides{&t.sent, &t.received} {
		for address, n := range from.near {
			joined.near[address] += n
		}
		for address, n := range from.far {
			joined.far[address] += n
		}
		for address, n := range from.owned {
			joined.owned[address] += n
		}
	}
	return joined
}

// ownAddresses decides which addresses on the host's side are its own.
// Link-local ones always are, since they are never forwarded; those that are
// as much at home on the far side (elsewhere: of any interface) never. On an
// end host the others are its own, too. On a router most belong to hosts
// behind it: there only those count that it claims in ARP or neighbour
// discovery, and those in a network of the hosts on the link.
func (t *tally) ownAddresses(s *sides, elsewhere map[netip.Addr]int, id *Identity) {
	forwards := false
	for _, is4 := range []bool{true, false} {
		near, owned := ofFamily(s.near, is4), ofFamily(s.owned, is4)
		far := routable(ofFamily(s.far, is4))
		all, passing := 0, 0
		for address, n := range near {
			all += n
			if address.IsLinkLocalUnicast() {
				owned[address] += n
			} else if elsewhere[address]*10 >= n {
				passing += n
				delete(near, address)
			}
		}
		// A few frames may be misdirected or forged.
		forwards = forwards || all > 0 && passing*20 >= all
		common := covering(routable(near))
		own := ranked(owned)
		switch {
		case len(common) == 0:
		case len(common) > len(far) || len(common) > maxOwnAddresses || t.severalPeers(id.MACs, common, far, is4) ||
			is4 && disowned(common, s.owned):
			forwards = true
			own = routerAddresses(routable(near), far, owned)
		default:
			for _, address := range own {
				if !slices.Contains(common, address) {
					common = append(common, address)
				}
			}
			own = common
		}
		id.Addresses = append(id.Addresses, own...)
	}
	if !forwards {
		return
	}
	id.Router = true
	reason := "it forwards packets of others"
	if len(id.Addresses) == 0 {
		reason += ", and none of its own addresses is seen"
	}
	id.Reason = joinReasons(id.Reason, reason)
	if id.Confidence == Likely {
		id.Confidence = Unsure
	}
}

// routable returns the addresses that are not link-local.
func routable(counters map[netip.Addr]int) map[netip.Addr]int {
	part := make(map[netip.Addr]int)
	for address, n := range counters {
		if !address.IsLinkLocalUnicast() {
			part[address] = n
		}
	}
	return part
}

// maxOwnAddresses is how many addresses of a family one end host plausibly
// uses.
const maxOwnAddresses = 16

// severalPeers says whether the far side consists of several stations of one
// address each, while the near side has more than one address: a gateway
// among the hosts of its link.
func (t *tally) severalPeers(own []MAC, common []netip.Addr, far map[netip.Addr]int, is4 bool) bool {
	if len(common) < 2 || len(own) == 0 {
		return false
	}
	single := 0
	for mac, s := range t.stations {
		if !slices.Contains(own, mac) && len(ofFamily(s.near, is4)) == 1 {
			single++
		}
	}
	return single >= 2 && single >= len(far)
}

// disowned says that the host claims IPv4 addresses on the link, but none of
// those that packets carry.
func disowned(common []netip.Addr, owned map[netip.Addr]int) bool {
	for _, address := range common {
		if owned[address] > 0 {
			return false
		}
	}
	return len(ofFamily(owned, true)) > 0
}

// covering returns the most frequent addresses that together make up 95 of
// 100 sightings.
func covering(counters map[netip.Addr]int) []netip.Addr {
	total := 0
	for _, n := range counters {
		total += n
	}
	order := ranked(counters)
	sum := 0
	for n, address := range order {
		if sum*100 >= total*95 {
			return order[:n]
		}
		sum += counters[address]
	}
	return order
}

func ofFamily(counters map[netip.Addr]int, is4 bool) map[netip.Addr]int {
	part := make(map[netip.Addr]int)
	for address, n := range counters {
		if address.Is4() == is4 {
			part[address] = n
		}
	}
	return part
}

// routerAddresses returns the addresses that a router owns for sure, then
// those it has in a network of its link: of the /24 or /64 of an address on
// the far side.
func routerAddresses(near, far, owned map[netip.Addr]int) []netip.Addr {
	own := ranked(owned)
	networks := make(map[netip.Prefix]bool)
	for address := range far {
		networks[linkNetwork(address)] = true
	}
	for _, address := range ranked(near) {
		if networks[linkNetwork(address)] && far[address] == 0 && !slices.Contains(own, address) {
			own = append(own, address)
		}
	}
	return own
}

func linkNetwork(a netip.Addr) netip.Prefix {
	bits := 64
	if a.Is4() {
		bits = 24
	}
	network, _ := a.Prefix(bits) // the length always fits
	return network
}
