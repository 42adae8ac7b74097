package cli

import (
	"encoding/hex"
	"fmt"

	"verdict/diag"
	"verdict/engine"
	"verdict/packet"
	"verdict/packet/build"
	"verdict/trace/render"
)

// hostKnown refuses --replies without a host file: what a host sends depends on
// its addresses, routes and neighbours.
func (f *runFlags) hostKnown(rules *rulesFlags) error {
	if f.replies && rules.hostFile == "" {
		return failedf("--replies needs --host FILE: what a host answers depends on its addresses, routes and neighbours (`verdict host --live` makes the file of this machine)")
	}
	return nil
}

// madeByHost lists what the host made and let out, with numbers.
func (r *replay) madeByHost() (list []string) {
	for _, kind := range engine.MadeKinds() {
		if n := r.made[kind]; n > 0 {
			list = append(list, fmt.Sprintf("%s %s", kind, thousands(n)))
		}
	}
	return list
}

// waiting reports whether a packet got through all hooks but could not be sent.
func waiting(m *engine.MadePacket) bool {
	return m.Fate == engine.Accepted && m.Reason != "" && m.Kind != engine.MadeLooped
}

// sentFrames lists the frames that left because of a packet, and those that
// were made but could not be sent.
func sentFrames(o *engine.Outcome) (list []render.Sent) {
	for i := range o.Sent {
		s := &o.Sent[i]
		kind := "packet"
		if s.Made {
			kind = s.Kind.String()
		}
		list = append(list, render.Sent{Device: s.Device, Kind: kind, Packet: frameSummary(s.Data), Hex: hex.EncodeToString(s.Data)})
	}
	for i := range o.Made {
		if m := &o.Made[i]; waiting(m) {
			list = append(list, render.Sent{Device: m.Device, Kind: m.Kind.String(), Packet: frameSummary(m.Data), Hex: hex.EncodeToString(m.Data), Reason: m.Reason})
		}
	}
	return list
}

func frameSummary(frame []byte) string {
	var v packet.View
	v.Decode(packet.LinkEthernet, frame, len(frame))
	return build.Summary(&v)
}

// sent prints the frames that left because of the traced packet.
func (c *traceCommand) sent(o *engine.Outcome) {
	for _, s := range sentFrames(o) {
		text := fmt.Sprintf("sent by %s: ", s.Device)
		if s.Reason != "" {
			text = fmt.Sprintf("not sent by %s (%s): ", s.Device, s.Reason)
		}
		if s.Kind != "packet" {
			text += s.Kind + ": "
		}
		fmt.Fprintln(c.s.Out, diag.Printable(text+s.Packet))
	}
}
