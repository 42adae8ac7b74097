package workload

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"verdict/capture"
)

const linkEthernet = 1

// start is when every capture begins.
var start = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// trace collects frames in any order.
type trace struct {
	random
	frames []capture.Frame
	names  []string // of the interfaces
	ipID   uint16
}

// leg says how packets of one direction of a flow look at the place where
// they are captured.
type leg struct {
	iface          int
	direction      capture.Direction
	srcMAC, dstMAC mac
	src, dst       netip.AddrPort
	ttl            uint8
}

// flow is both directions, from the side that starts it.
type flow struct{ forward, reverse leg }

// mirrored returns the flow whose replies take the same way back.
func mirrored(forward leg, replyTTL uint8) flow {
	reverse := leg{iface: forward.iface, srcMAC: forward.dstMAC, dstMAC: forward.srcMAC, src: forward.dst, dst: forward.src, ttl: replyTTL}
	switch forward.direction {
	case capture.Inbound:
		reverse.direction = capture.Outbound
	case capture.Outbound:
		reverse.direction = capture.Inbound
	}
	return flow{forward: forward, reverse: reverse}
}

// emit adds a frame at a time after the start.
func (t *trace) emit(at time.Duration, l *leg, data []byte) *capture.Frame {
	t.frames = append(t.frames, capture.Frame{
		Data: data, OrigLen: len(data), LinkType: linkEthernet,
		HasTime: true, Time: start.Add(at).UnixNano(),
		Interface: l.iface, InterfaceName: t.names[l.iface], Direction: l.direction,
	})
	return &t.frames[len(t.frames)-1]
}

// send adds an IP packet of a leg.
func (t *trace) send(at time.Duration, l *leg, protocol uint8, payload []byte) *capture.Frame {
	t.ipID++
	header := ipHeader{src: l.src.Addr(), dst: l.dst.Addr(), protocol: protocol, ttl: l.ttl, id: t.ipID, fragment: 0x4000}
	etherType, b := header.packet(payload)
	return t.emit(at, l, ethernet(l.dstMAC, l.srcMAC, etherType, b))
}

// odd marks the frame just added as deliberately unusual.
func (t *trace) odd(why string) { t.frames[len(t.frames)-1].Comment = why }

// sorted returns the frames in order of time, numbered.
func (t *trace) sorted() []capture.Frame {
	slices.SortStableFunc(t.frames, func(a, b capture.Frame) int { return cmp.Compare(a.Time, b.Time) })
	for i := range t.frames {
		t.frames[i].Index = i
	}
	return t.frames
}
