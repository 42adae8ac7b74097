package host

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
)

// tally counts what the frames of one capture interface show.
type tally struct {
	directed int // frames with a recorded direction
	unicast  int // frames with a unicast destination MAC address

	packets, packets4 int                // frames with IP addresses; those with IPv4
	parties           map[netip.Addr]int // frames that an address takes part in
	stations          map[MAC]*station
	ownMACs           map[MAC]int // from recorded directions
	sent, received    sides       // addresses of frames by recorded direction
}

// station is what one MAC address was seen with.
type station struct {
	frames   int // unicast frames it takes part in
	unpadded int // frames it sent below Ethernet's minimum
	padded   int // and of exactly that minimum
	sides
}

// sides are the addresses on the side of a host, and on the far side.
type sides struct {
	near, far map[netip.Addr]int
	owned     map[netip.Addr]int // addresses that the host's own frames claim
}

func newSides() sides {
	return sides{near: map[netip.Addr]int{}, far: map[netip.Addr]int{}, owned: map[netip.Addr]int{}}
}

func newTally() *tally {
	return &tally{parties: map[netip.Addr]int{}, stations: map[MAC]*station{}, ownMACs: map[MAC]int{},
		sent: newSides(), received: newSides()}
}

// maxSeen bounds how many different addresses are counted.
const maxSeen = 1 << 14

// count adds to a counter unless there are too many counters already.
func count[K comparable](counters map[K]int, key K) {
	if _, known := counters[key]; known || len(counters) < maxSeen {
		counters[key]++
	}
}

// minimumFrame is the least length of an Ethernet frame on the wire without
// its check sequence. A capture shows shorter ones only before the network
// card has padded them: on the host that sends them.
const minimumFrame = 60

func (t *tally) add(s *Sighting) {
	if s.Way == WayForeign {
		t.directed++
		return
	}
	src, dst := plain(s.SrcIP), plain(s.DstIP)
	if src.IsValid() && dst.IsValid() && !s.OwnsSource {
		t.packets++
		if src.Is4() {
			t.packets4++
		}
		if hostAddress(src) {
			count(t.parties, src)
		}
		if hostAddress(dst) && dst != src {
			count(t.parties, dst)
		}
	}
	if s.Way != WayUnknown {
		t.addDirected(s, src, dst)
	}
	if s.HasMAC {
		t.addStations(s, src, dst)
	}
}

// hostAddress says whether an address can be that of one host.
func hostAddress(a netip.Addr) bool {
	return a.IsValid() && !a.IsMulticast() && !a.IsUnspecified() && a != limitedBroadcast
}

func (t *tally) addDirected(s *Sighting, src, dst netip.Addr) {
	t.directed++
	if s.Way == WaySent {
		if s.HasMAC && !s.SrcMAC.IsGroup() {
			count(t.ownMACs, s.SrcMAC)
		}
		t.sent.add(src, dst, s.OwnsSource)
		return
	}
	if s.HasMAC && !s.DstMAC.IsGroup() {
		count(t.ownMACs, s.DstMAC)
	}
	if !s.HasMAC || !s.DstMAC.IsGroup() {
		t.received.add(dst, src, false)
	}
}

// add counts the addresses of a frame seen from the near side.
func (s *sides) add(near, far netip.Addr, owned bool) {
	if owned && hostAddress(near) {
		count(s.owned, near)
	}
	if hostAddress(near) {
		count(s.near, near)
	}
	if hostAddress(far) {
		count(s.far, far)
	}
}

func (t *tally) addStations(s *Sighting, src, dst netip.Addr) {
	unicast := !s.DstMAC.IsGroup()
	if sender := t.station(s.SrcMAC); sender != nil {
		if unicast {
			sender.frames++
			sender.add(src, dst, s.OwnsSource)
		} else if s.OwnsSource && hostAddress(src) {
			count(sender.owned, src)
		}
		switch {
		case s.WireLength > 0 && s.WireLength < minimumFrame:
			sender.unpadded++
		case s.WireLength == minimumFrame:
			sender.padded++
		}
	}
	if !unicast {
		return
	}
	t.unicast++
	if receiver := t.station(s.DstMAC); receiver != nil && s.DstMAC != s.SrcMAC {
		receiver.frames++
		receiver.add(dst, src, false)
	}
}

// station returns the record of a MAC address; nil for groups, the zero
// address of local frames, and when there are too many.
func (t *tally) station(mac MAC) *station {
	if mac.IsGroup() || mac == (MAC{}) {
		return nil
	}
	s, known := t.stations[mac]
	if !known {
		if len(t.stations) >= maxSeen {
			return nil
		}
		s = &station{sides: newSides()}
		t.stations[mac] = s
	}
	return s
}

// ranked lists counted addresses, the most frequent first.
func ranked[K interface {
	comparable
	fmt.Stringer
}](counters map[K]int) []K {
	list := make([]K, 0, len(counters))
	for key := range counters {
		list = append(list, key)
	}
	slices.SortFunc(list, func(a, b K) int {
		return cmp.Or(cmp.Compare(counters[b], counters[a]), cmp.Compare(a.String(), b.String()))
	})
	return list
}

func (t *tally) rankedStations() []MAC {
	frames := make(map[MAC]int, len(t.stations))
	for mac, s := range t.stations {
		frames[mac] = s.frames
	}
	return ranked(frames)
}

// nearlyEqual says that two counts differ by less than a tenth.
func nearlyEqual(a, b int) bool { return 10*a >= 9*b && 10*b >= 9*a }

// rivals are the stations that take part in nearly as many frames as the first.
func (t *tally) rivals(order []MAC) []MAC {
	best := t.stations[order[0]].frames
	n := 1
	for n < len(order) && nearlyEqual(t.stations[order[n]].frames, best) {
		n++
	}
	return order[:n]
}

func stationNames(macs []MAC) []string {
	names := make([]string, len(macs))
	for i, mac := range macs {
		names[i] = mac.String()
	}
	return names
}

func percent(part, whole int) string { return fmt.Sprintf("%d %%", part*100/max(whole, 1)) }
