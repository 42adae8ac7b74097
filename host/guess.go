package host

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"
)

// Way is the direction of a captured frame as its capture records it, in the
// packet type of a Linux cooked header or the direction flags of pcapng.
type Way uint8

const (
	WayUnknown  Way = iota // not recorded
	WayReceived            // received, and addressed to the host or a group
	WaySent                // sent by the host
	WayForeign             // overheard, between other hosts
)

// Sighting is what one frame shows of addresses. Fields that the frame does
// not have are left zero.
type Sighting struct {
	Interface      int // index of the capture interface
	Way            Way
	HasMAC         bool // both MAC addresses are present
	SrcMAC, DstMAC MAC
	SrcIP, DstIP   netip.Addr
	// OwnsSource says that the frame states that the sender's MAC address has
	// the address SrcIP: ARP packets (sender fields), neighbour advertisements.
	OwnsSource bool
	// WireLength is the frame's original length in bytes, 0 if not known.
	WireLength int
}

// Confidence is how sure a guess is.
type Confidence uint8

const (
	NoGuess   Confidence = iota // nothing found
	Unsure                      // plausible, the capture allows others
	Likely                      // statistics agree
	Confirmed                   // the capture itself records it
)

// String returns "none", "unsure", "likely" or "confirmed".
func (c Confidence) String() string {
	return [...]string{"none", "unsure", "likely", "confirmed"}[min(c, Confirmed)]
}

// Identity is the result of Guess.
type Identity struct {
	// MACs and Addresses are the host's own, in order of how often they were
	// seen.
	MACs      []MAC
	Addresses []netip.Addr
	// Router says that the host seems to forward packets of others. Its
	// addresses are then only those that the capture proves.
	Router     bool
	Confidence Confidence
	// Conflict says that several hosts are equally good candidates, which
	// Candidates names; MACs and Addresses are then empty.
	Conflict   bool
	Candidates []string
	// Reason explains the guess, or why there is none, in words.
	Reason string
}

// Guess finds out which host a capture was taken on. It uses the recorded
// directions; without any, the MAC address that takes part in nearly all
// frames, and the addresses seen with it; without MAC addresses, the address
// that takes part in nearly every packet. Cost: one pass over the frames;
// memory for the addresses seen, at most some ten thousand.
func Guess(frames iter.Seq[Sighting]) Identity {
	perInterface := make(map[int]*tally)
	var order []int
	for frame := range frames {
		t, known := perInterface[frame.Interface]
		if !known {
			if len(order) == maxTallies {
				continue
			}
			t = newTally()
			perInterface[frame.Interface] = t
			order = append(order, frame.Interface)
		}
		t.add(&frame)
	}
	if len(order) == 0 {
		return Identity{Reason: "the capture holds no frames"}
	}
	identities, views := make([]Identity, len(order)), make([]*sides, len(order))
	elsewhere := make(map[netip.Addr]int)
	for n, index := range order {
		identities[n], views[n] = perInterface[index].identity()
		if views[n] != nil {
			for address, count := range views[n].far {
				elsewhere[address] += count
			}
		}
	}
	var result Identity
	for n := range order {
		if views[n] != nil {
			perInterface[order[n]].ownAddresses(views[n], elsewhere, &identities[n])
		}
		if n == 0 {
			result = identities[n]
		} else {
			result = merge(result, identities[n])
		}
	}
	return result
}

const maxTallies = 256

// merge joins what two interfaces of one host tell. An interface without a
// guess does not spoil that of another.
func merge(a, b Identity) Identity {
	found := func(i *Identity) bool { return i.Confidence != NoGuess && !i.Conflict }
	switch {
	case !found(&a) && !found(&b):
		a.Conflict = a.Conflict || b.Conflict
		a.Candidates = append(a.Candidates, b.Candidates...)
		a.Reason = joinReasons(a.Reason, b.Reason)
		return a
	case !found(&a):
		return b
	case !found(&b):
		return a
	}
	for _, mac := range b.MACs {
		if !slices.Contains(a.MACs, mac) {
			a.MACs = append(a.MACs, mac)
		}
	}
	for _, address := range b.Addresses {
		if !slices.Contains(a.Addresses, address) {
			a.Addresses = append(a.Addresses, address)
		}
	}
	a.Router = a.Router || b.Router
	a.Confidence = min(a.Confidence, b.Confidence)
	a.Reason = joinReasons(a.Reason, b.Reason)
	return a
}

func joinReasons(a, b string) string {
	if a == b || strings.Contains(a, b) {
		return a
	}
	return a + "; " + b
}

// identity draws the conclusion from one interface's tally. Where it finds
// the host by direction or MAC address, it returns the addresses seen on the
// host's side instead of deciding which are its own.
func (t *tally) identity() (Identity, *sides) {
	switch {
	case t.directed > 0:
		return t.fromDirections()
	case len(t.stations) > 0:
		return t.fromStations()
	case t.packets > 0:
		return t.fromAddresses(), nil
	}
	return Identity{Reason: "no frame shows a MAC or IP address"}, nil
}

// fromDirections uses the recorded directions.
func (t *tally) fromDirections() (Identity, *sides) {
	own := ranked(t.ownMACs)
	id := Identity{Confidence: Confirmed, Reason: "the capture records which frames were sent and received"}
	if len(own) > 0 {
		id.MACs = own[:1]
		// A second address belongs to the host only if it is about as common;
		// else it is a forwarded or spoofed one.
		for _, mac := range own[1:] {
			if t.ownMACs[mac]*10 >= t.ownMACs[own[0]] {
				id.MACs = append(id.MACs, mac)
			}
		}
	}
	joined := t.directedSides()
	if len(own) == 0 && len(joined.near) == 0 {
		id.Confidence = NoGuess
	}
	return id, &joined
}

// fromStations uses which MAC address takes part in nearly all frames.
func (t *tally) fromStations() (Identity, *sides) {
	order := t.rankedStations()
	best := t.stations[order[0]]
	if t.unicast == 0 {
		return Identity{Reason: "all frames are addressed to groups, which every station hears"}, nil
	}
	if best.frames*10 < t.unicast*9 {
		return Identity{Conflict: true, Candidates: stationNames(order[:min(3, len(order))]),
			Reason: fmt.Sprintf("no MAC address takes part in nearly all frames: the most frequent, %v, in %s",
				order[0], percent(best.frames, t.unicast))}, nil
	}
	own, reason, confidence := order[0], "", Likely
	if rivals := t.rivals(order); len(rivals) > 1 {
		var found bool
		own, reason, found = t.chooseStation(rivals)
		if !found {
			return Identity{Conflict: true, Candidates: stationNames(rivals),
				Reason: fmt.Sprintf("the MAC addresses %s take part in the same frames", strings.Join(stationNames(rivals), " and "))}, nil
		}
		confidence = Unsure
	} else {
		reason = fmt.Sprintf("the MAC address %v takes part in %s of the frames", own, percent(best.frames, t.unicast))
	}
	return Identity{MACs: []MAC{own}, Confidence: confidence, Reason: reason}, &t.stations[own].sides
}

// fromAddresses uses which IP address takes part in nearly every packet.
func (t *tally) fromAddresses() Identity {
	id := Identity{}
	for _, family := range []struct {
		name    string
		packets int
		is4     bool
	}{{"IPv4", t.packets4, true}, {"IPv6", t.packets - t.packets4, false}} {
		if family.packets == 0 {
			continue
		}
		var best []netip.Addr
		for _, address := range ranked(t.parties) {
			if address.Is4() != family.is4 {
				continue
			}
			if t.parties[address]*10 >= family.packets*9 && (len(best) == 0 || nearlyEqual(t.parties[address], t.parties[best[0]])) {
				best = append(best, address)
			}
		}
		switch len(best) {
		case 0:
			id.Reason = joinReasonsIfAny(id.Reason, fmt.Sprintf("no %s address takes part in nearly every packet", family.name))
		case 1:
			id.Addresses = append(id.Addresses, best[0])
			id.Confidence = Likely
			id.Reason = joinReasonsIfAny(id.Reason, fmt.Sprintf("%v takes part in %s of the %s packets",
				best[0], percent(t.parties[best[0]], family.packets), family.name))
		default:
			id.Conflict = true
			for _, address := range best {
				id.Candidates = append(id.Candidates, address.String())
			}
			id.Reason = joinReasonsIfAny(id.Reason, fmt.Sprintf("the addresses %s take part in the same packets",
				strings.Join(id.Candidates, " and ")))
		}
	}
	if len(id.Addresses) > 0 {
		// What one family tells is not spoilt by the other.
		id.Conflict, id.Candidates = false, nil
	}
	return id
}

func joinReasonsIfAny(a, b string) string {
	if a == "" {
		return b
	}
	return joinReasons(a, b)
}
