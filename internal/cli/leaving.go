package cli

import (
	"fmt"
	"strings"

	"verdict/capture"
	"verdict/engine"
	"verdict/packet"
)

// write hands a packet to the sink for its fate, as it leaves, and with it what
// the host made because of it. Each is commented with the verdict and what
// decided.
func (r *replay) write(f *capture.Frame, o *engine.Outcome) error {
	comment := ""
	if r.accepted != nil || r.dropped != nil {
		comment = r.comment(o)
	}
	switch {
	case o.Fate != engine.Accepted:
		if err := r.writeItself(r.dropped, f, o, comment); err != nil {
			return err
		}
	case !sentItself(o):
		if err := r.writeItself(r.accepted, f, o, comment); err != nil {
			return err
		}
	}
	if r.accepted == nil {
		return nil
	}
	return r.writeSent(f, o, comment)
}

// sentItself reports whether the packet's own bytes, or the pieces it was cut
// into, are among the frames that left.
func sentItself(o *engine.Outcome) bool {
	for i := range o.Sent {
		if s := &o.Sent[i]; !s.Made || s.Kind == engine.MadeFragment {
			return true
		}
	}
	return false
}

// writeItself writes the packet, as rules left it. Where it goes out by an
// interface that is known, that is its interface.
func (r *replay) writeItself(sink capture.Sink, f *capture.Frame, o *engine.Outcome, comment string) error {
	if sink == nil {
		return nil
	}
	out := *f
	out.Comment = comment
	if o.Changed {
		out.Data, out.OrigLen = o.Data, max(len(o.Data), f.OrigLen+len(o.Data)-len(f.Data))
	}
	if name := o.Out.String(); name != "" && !(r.interfaceAssumed && name == assumedInterface) {
		out.InterfaceName, out.Direction = name, capture.Outbound
	}
	return sink.Write(named(&out))
}

// writeSent writes the frames that left because of a packet, and what the host
// made but could not send for want of the next hop's hardware address.
func (r *replay) writeSent(f *capture.Frame, o *engine.Outcome, comment string) error {
	cause := fmt.Sprintf("because of packet %d (%s)", r.packets, strings.TrimPrefix(comment, "verdict: "))
	for i := range o.Sent {
		s := &o.Sent[i]
		text := comment
		if s.Made {
			text = s.Kind.String() + ", " + cause
		}
		if err := r.writeFrame(f, s.Device, s.Data, text); err != nil {
			return err
		}
	}
	for i := range o.Made {
		m := &o.Made[i]
		if !waiting(m) {
			continue
		}
		text := fmt.Sprintf("%s, %s; not sent: %s", m.Kind, cause, m.Reason)
		if err := r.writeFrame(f, m.Device, m.Data, text); err != nil {
			return err
		}
	}
	return nil
}

// writeFrame writes a frame that the host sends, at the time of the packet that
// made it do so.
func (r *replay) writeFrame(f *capture.Frame, device string, data []byte, comment string) error {
	return r.accepted.Write(named(&capture.Frame{
		Data: data, OrigLen: len(data), LinkType: uint16(packet.LinkEthernet), Direction: capture.Outbound,
		HasTime: f.HasTime, Time: f.Time, Interface: f.Interface, InterfaceName: device, Comment: comment,
	}))
}

// named makes frames of interfaces with the same name ones of the same
// interface, whichever capture they are from.
func named(f *capture.Frame) *capture.Frame {
	if f.InterfaceName != "" {
		f.Interface = 0
	}
	return f
}
