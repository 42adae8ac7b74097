package cli

import (
	"fmt"
	"io"
	"iter"
	"net/netip"
	"strings"

	"verdict/capture"
	"verdict/host"
	"verdict/packet"
)

// rewindable is a source whose first frames were read ahead and are given out
// again: what a guess about the host needs.
type rewindable struct {
	capture.Source
	name  string // of the file
	ahead []capture.Frame
	next  int
	err   error
}

// lookAhead bounds the frames that a guess looks at, and their bytes.
const (
	lookAheadFrames = 5000
	lookAheadBytes  = 8 << 20
)

// readAhead reads the first frames of a source.
func readAhead(src capture.Source) *rewindable {
	r := &rewindable{Source: src}
	var frame capture.Frame
	size := 0
	for len(r.ahead) < lookAheadFrames && size < lookAheadBytes {
		if r.err = src.Next(&frame); r.err != nil {
			break
		}
		kept := frame
		kept.Data = append([]byte(nil), frame.Data...)
		r.ahead = append(r.ahead, kept)
		size += len(kept.Data)
	}
	return r
}

// Next gives the frames that were read ahead, then the rest.
func (r *rewindable) Next(f *capture.Frame) error {
	if r.next < len(r.ahead) {
		*f = r.ahead[r.next]
		r.ahead[r.next].Data = nil
		r.next++
		return nil
	}
	if r.err != nil {
		return r.err
	}
	return r.Source.Next(f)
}

// sightings shows the frames that were read ahead as host.Guess wants them.
func (r *rewindable) sightings() iter.Seq[host.Sighting] {
	return func(yield func(host.Sighting) bool) {
		var view packet.View
		for i := range r.ahead {
			if !yield(sighting(&r.ahead[i], &view)) {
				return
			}
		}
	}
}

func sighting(f *capture.Frame, v *packet.View) host.Sighting {
	v.Decode(packet.LinkType(f.LinkType), f.Data, f.OrigLen)
	s := host.Sighting{
		Interface: f.Interface, WireLength: f.OrigLen, Way: way(f, v),
		SrcIP: v.SrcAddr(), DstIP: v.DstAddr(),
	}
	if v.Link == packet.LinkEthernet && len(f.Data) >= 14 {
		s.HasMAC = true
		s.DstMAC, s.SrcMAC = host.MAC(f.Data[:6]), host.MAC(f.Data[6:12])
	}
	if v.EtherType == packet.TypeARP && v.NetOff+28 <= len(f.Data) {
		arp := f.Data[v.NetOff:]
		s.SrcIP, s.OwnsSource = netip.AddrFrom4([4]byte(arp[14:18])), true
	}
	return s
}

// way is the direction that the capture itself records.
func way(f *capture.Frame, v *packet.View) host.Way {
	switch {
	case f.Direction == capture.Outbound, v.PktType == packet.PktOutgoing:
		return host.WaySent
	case v.PktType == packet.PktOtherHost, f.Reception == capture.ReceptionPromiscuous:
		return host.WayForeign
	case f.Direction == capture.Inbound, v.PktType == packet.PktHost && v.Link != packet.LinkEthernet && cooked(v.Link):
		return host.WayReceived
	}
	return host.WayUnknown
}

func cooked(l packet.LinkType) bool {
	return l == packet.LinkLinuxSLL || l == packet.LinkLinuxSLL2
}

// explain says what a guess about the host means for the run.
func explain(g host.Identity) (local []netip.Addr, assumption string) {
	switch {
	case g.Conflict:
		return nil, fmt.Sprintf("several hosts could be this one (%s): no address is taken as local, so all packets are forwarded; name the host's addresses with --local ADDR, or one hook with --hook NAME",
			strings.Join(clip(g.Candidates, 4), ", "))
	case g.Confidence == host.NoGuess:
		return nil, "no address is taken as the host's own, so all packets are forwarded (" + g.Reason + "); --local ADDR or --hook NAME say otherwise"
	}
	if len(g.Addresses) == 0 {
		return nil, fmt.Sprintf("none of the host's own addresses is seen (%s: %s); --local ADDR names them", g.Confidence, g.Reason)
	}
	var names []string
	for _, a := range g.Addresses {
		names = append(names, a.String())
	}
	return g.Addresses, fmt.Sprintf("the host's own addresses are %s (%s: %s)", strings.Join(clip(names, 6), ", "), g.Confidence, g.Reason)
}

// clip shortens a list for people.
func clip(words []string, n int) []string {
	if len(words) <= n {
		return words
	}
	return append(append([]string(nil), words[:n]...), fmt.Sprintf("and %d more", len(words)-n))
}

var _ io.Closer = (*rewindable)(nil)
