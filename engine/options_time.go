package engine

import (
	"net/netip"

	"verdict/host"
)

// What a timestamp option asks for. Ref: RFC 791 §3.1.
const (
	stampOnly      = 0
	stampAndOwn    = 1 // each host enters its address too
	stampPrescribe = 3 // only the hosts that are named
)

// recordTime enters the time, and the host's address where it is asked for, into
// a timestamp option that is whole. at is its offset in the header; bad is the
// offset of the byte that is wrong.
// Ref: net/ipv4/ip_options.c, __ip_options_compile.
func (w *Worker) recordTime(o []byte, at int, to way) (bad int) {
	switch {
	case len(o) < 4:
		return at + 1
	case o[2] < 5:
		return at + 2
	}
	pointer, kind := int(o[2]), o[3]&0xf
	if pointer > len(o) {
		return w.stampOverflow(o[3], at)
	}
	entry := 4
	if kind == stampAndOwn || kind == stampPrescribe {
		entry = 8
	}
	if pointer+3 > len(o) || pointer+entry-1 > len(o) {
		return at + 2
	}
	switch kind {
	case stampOnly, stampAndOwn:
	case stampPrescribe:
		named := netip.AddrFrom4([4]byte(o[pointer-1:]))
		if r, ok := w.engine.host.Route(named); !ok || r.Type == host.RouteUnicast {
			return 0
		}
	default:
		return 0
	}
	field := w.buffer.Writable(&w.view)[w.view.NetOff+at:]
	if kind == stampAndOwn {
		copy(field[pointer-1:], w.specificAddress(to).AsSlice())
		w.stampAt = at + pointer - 1
	}
	w.stampTime(field[pointer+entry-5:][:4])
	field[2] += byte(entry)
	w.optionsWritten = true
	return 0
}

// stampOverflow counts a host that found no room for its time.
func (w *Worker) stampOverflow(count byte, at int) (bad int) {
	switch {
	case count&0xf == stampPrescribe:
		return 0
	case count>>4 == 15:
		return at + 3
	}
	w.buffer.Writable(&w.view)[w.view.NetOff+at+3] += 1 << 4
	w.optionsWritten = true
	return 0
}
