package engine

import "verdict/packet"

// Packet priorities. Ref: include/uapi/linux/pkt_sched.h.
const (
	prioBulk            = 2
	prioInteractiveBulk = 4
	prioInteractive     = 6
)

// tosPriorities are the priorities of the four values that the upper two bits
// of the old type of service have.
// Ref: net/ipv4/route.c, ip_tos2prio.
var tosPriorities = [4]uint32{0, prioBulk, prioInteractive, prioInteractiveBulk}

// prioritize gives a packet that is forwarded the priority that its type of
// service asks for. IPv6 has no such step.
// Ref: net/ipv4/ip_forward.c, ip_forward.
func (w *Worker) prioritize() {
	if w.view.EtherType != packet.TypeIPv4 {
		return
	}
	if tos, ok := w.view.Load8(w.view.NetOff + 1); ok {
		w.meta.Priority = tosPriorities[tos>>3&3]
	}
}
