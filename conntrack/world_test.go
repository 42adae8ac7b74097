package conntrack

import (
	"encoding/binary"
	"strings"
	"testing"

	"verdict/catalog"
	"verdict/packet"
	"verdict/packet/build"
	"verdict/packet/rewrite"
)

// start is the time at which tests begin.
const start = int64(1_700_000_000e9)

const second = int64(1e9)

// world is a table with a clock, and the packet on its way.
type world struct {
	t      testing.TB
	table  *Table
	now    int64
	view   packet.View
	at     Attachment
	buffer rewrite.Buffer
	packet Packet
	zone   Zone // of the template that packets get, if not zero
	link   packet.LinkType
}

func newWorld(t testing.TB, c Config) *world {
	w := &world{t: t, table: NewTable(c), now: start, link: packet.LinkRaw}
	w.at.Reset()
	return w
}

// take decodes a frame, whose capture may be cut to its first bytes.
func (w *world) take(frame []byte, captured int) *Packet {
	w.at.Reset()
	w.buffer.Start()
	w.view.Decode(w.link, frame[:captured], len(frame))
	w.packet = Packet{View: &w.view, Attachment: &w.at, Family: catalog.FamilyIP, Prerouting: true, Now: w.now, Buffer: &w.buffer}
	if w.view.EtherType == packet.TypeIPv6 {
		w.packet.Family = catalog.FamilyIP6
	}
	if w.zone != (Zone{}) {
		w.at.HasTemplate, w.at.TemplateZone = true, w.zone
	}
	return &w.packet
}

// track tracks a frame without confirming its connection.
func (w *world) track(frame []byte) Result { return w.table.Track(w.take(frame, len(frame))) }

// send takes a frame through tracking and confirmation.
func (w *world) send(frame []byte) Result {
	if r := w.track(frame); r != Accept {
		return r
	}
	return w.table.Confirm(&w.packet)
}

// sendText makes the frame from text.
func (w *world) sendText(text string) Result {
	w.t.Helper()
	return w.send(w.frame(text))
}

func (w *world) frame(text string) []byte {
	w.t.Helper()
	p, err := build.Parse("link raw " + text)
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	return p.Data
}

// state names the packet's ct state.
func (w *world) state() string { return stateName(&w.at) }

func stateName(a *Attachment) string {
	if a.Unknown() {
		return "unknown"
	}
	switch a.State() {
	case StateNew:
		return "new"
	case StateEstablished:
		return "established"
	case StateRelated:
		return "related"
	case StateUntracked:
		return "untracked"
	}
	return "invalid"
}

// direction names the packet's ct direction.
func (w *world) direction() string {
	if w.at.Info.Direction() == Reply {
		return "reply"
	}
	return "original"
}

// flags names the interesting status bits of the packet's connection.
func (w *world) flags() string {
	if w.at.Conn == nil {
		return ""
	}
	var out []string
	for _, f := range []struct {
		bit  uint32
		name string
	}{{StatusExpected, "expected"}, {StatusSeenReply, "seen-reply"}, {StatusAssured, "assured"}, {StatusSrcNAT, "snat"}, {StatusDstNAT, "dnat"}, {StatusDying, "dying"}} {
		if w.at.Conn.Status&f.bit != 0 {
			out = append(out, f.name)
		}
	}
	return strings.Join(out, " ")
}

// seconds is the rest of the packet's connection's life.
func (w *world) seconds() int64 {
	if w.at.Conn == nil {
		return 0
	}
	return w.at.Conn.Remaining(w.now) / second
}

// ipv4 puts an IPv4 header before a transport segment, whose checksum is made
// right if it lies in the usual place.
func ipv4(src, dst [4]byte, protocol uint8, segment []byte) []byte {
	h := make([]byte, 20, 20+len(segment))
	h[0], h[8], h[9] = 0x45, 64, protocol
	binary.BigEndian.PutUint16(h[2:], uint16(20+len(segment)))
	copy(h[12:], src[:])
	copy(h[16:], dst[:])
	binary.BigEndian.PutUint16(h[10:], packet.IPv4HeaderChecksum(h))
	frame := append(h, segment...)
	fixChecksum(frame)
	return frame
}

// fixChecksum makes the transport checksum of a raw IP packet right.
func fixChecksum(frame []byte) {
	var v packet.View
	v.Decode(packet.LinkRaw, frame, len(frame))
	if v.L4Proto == packet.ProtoSCTP {
		binary.LittleEndian.PutUint32(frame[v.ThOff+8:], packet.SCTPChecksum(frame[v.ThOff:]))
		return
	}
	off, _, ok := packet.ChecksumOffset(v.L4Proto)
	if !ok {
		return
	}
	if sum, result := v.ComputeTransport(); result == packet.OK {
		binary.BigEndian.PutUint16(frame[v.ThOff+off:], sum)
	}
}
