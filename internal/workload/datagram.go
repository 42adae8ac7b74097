package workload

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"time"
)

// ask adds a UDP request and its answer; no answer when that is nil.
func (t *trace) ask(at time.Duration, f flow, rtt time.Duration, request, answer []byte) {
	t.send(at, &f.forward, protoUDP, udpDatagram(f.forward.src, f.forward.dst, request))
	if answer != nil {
		t.send(at+rtt+t.delay(0, rtt/4), &f.reverse, protoUDP, udpDatagram(f.reverse.src, f.reverse.dst, answer))
	}
}

// DNS record types.
const (
	dnsA    = 1
	dnsAAAA = 28
)

// dns returns a query for a name, and its answer with one record; nil data
// answers that there is none.
//
// Ref: RFC 1035, section 4
func dns(id uint16, name string, kind uint16, data []byte) (query, answer []byte) {
	var question []byte
	for _, label := range strings.Split(name, ".") {
		question = append(question, byte(len(label)))
		question = append(question, label...)
	}
	question = append(question, 0)
	question = binary.BigEndian.AppendUint16(question, kind)
	question = binary.BigEndian.AppendUint16(question, 1) // class IN

	header := func(flags, answers uint16) []byte {
		var b []byte
		for _, word := range []uint16{id, flags, 1, answers, 0, 0} {
			b = binary.BigEndian.AppendUint16(b, word)
		}
		return append(b, question...)
	}
	query = header(0x0100, 0)
	if data == nil {
		return query, header(0x8183, 0) // no such name
	}
	answer = header(0x8180, 1)
	answer = append(answer, 0xc0, 12) // the name, as in the question
	answer = binary.BigEndian.AppendUint16(answer, kind)
	answer = binary.BigEndian.AppendUint16(answer, 1)
	answer = binary.BigEndian.AppendUint32(answer, 300) // seconds to live
	answer = binary.BigEndian.AppendUint16(answer, uint16(len(data)))
	return query, append(answer, data...)
}

// resolve adds a look-up of a name.
func (t *trace) resolve(at time.Duration, f flow, rtt time.Duration, name string, address netip.Addr) {
	kind := uint16(dnsA)
	if address.Is6() {
		kind = dnsAAAA
	}
	query, answer := dns(uint16(t.next()), name, kind, address.AsSlice())
	t.ask(at, f, rtt, query, answer)
}

// ntp adds a request for the time and its answer.
//
// Ref: RFC 5905, section 7.3
func (t *trace) ntp(at time.Duration, f flow, rtt time.Duration) {
	request, answer := make([]byte, 48), make([]byte, 48)
	request[0], answer[0] = 0x23, 0x24 // version 4, client and server
	answer[1], answer[2], answer[3] = 2, 6, 0xe8
	stamp := uint64(start.Add(at).Unix()+2208988800)<<32 | t.next()>>32
	binary.BigEndian.PutUint64(request[40:], stamp)
	binary.BigEndian.PutUint64(answer[24:], stamp)
	binary.BigEndian.PutUint64(answer[32:], stamp+uint64(rtt.Nanoseconds())<<1)
	binary.BigEndian.PutUint64(answer[40:], stamp+uint64(rtt.Nanoseconds())<<1+4000)
	t.ask(at, f, rtt, request, answer)
}

// ping adds echo requests, a second apart, and their replies.
func (t *trace) ping(at time.Duration, f flow, rtt time.Duration, count int) {
	request, reply, protocol := uint8(8), uint8(0), uint8(protoICMP)
	if f.forward.src.Addr().Is6() {
		request, reply, protocol = 128, 129, protoICMPv6
	}
	id := uint32(t.next()>>48) << 16
	for n := range count {
		body := make([]byte, 56)
		binary.LittleEndian.PutUint64(body, uint64(start.Add(at).Unix()))
		for i := 16; i < len(body); i++ {
			body[i] = byte(i)
		}
		rest := id | uint32(n+1)
		t.send(at, &f.forward, protocol, icmpMessage(f.forward.src.Addr(), f.forward.dst.Addr(), request, 0, rest, body))
		t.send(at+rtt+t.delay(0, rtt/4), &f.reverse, protocol,
			icmpMessage(f.reverse.src.Addr(), f.reverse.dst.Addr(), reply, 0, rest, body))
		at += time.Second + t.delay(0, time.Millisecond)
	}
}

// unreachable adds the ICMP error about a UDP datagram of a flow: the
// datagram goes forward, the error comes back from its destination.
func (t *trace) unreachable(at time.Duration, f flow, data []byte) {
	datagram := udpDatagram(f.forward.src, f.forward.dst, data)
	t.send(at, &f.forward, protoUDP, datagram)
	quoted := ipHeader{src: f.forward.src.Addr(), dst: f.forward.dst.Addr(), protocol: protoUDP, ttl: f.forward.ttl, id: t.ipID, fragment: 0x4000}
	_, quote := quoted.packet(datagram)
	protocol, kind, code := uint8(protoICMP), uint8(3), uint8(3)
	if f.forward.src.Addr().Is6() {
		protocol, kind, code = protoICMPv6, 1, 4
	}
	t.send(at+t.delay(30*time.Microsecond, 90*time.Microsecond), &f.reverse, protocol,
		icmpMessage(f.reverse.src.Addr(), f.reverse.dst.Addr(), kind, code, 0, quote))
}
