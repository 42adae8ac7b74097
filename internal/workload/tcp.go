package workload

import (
	"encoding/binary"
	"time"
)

const maxSegment = 1448 // with timestamps, over Ethernet

// exchange is a request of a session and what answers it.
type exchange struct{ request, response []byte }

// ending is how a TCP session ends.
type ending uint8

const (
	closed    ending = iota // both sides say FIN
	reset                   // the client aborts
	abandoned               // it is still open when the capture ends
)

// session is a TCP connection while it is generated.
type session struct {
	*trace
	flow
	at     time.Duration // of the next packet
	rtt    time.Duration
	client side
	server side
}

// side is the state of one end.
type side struct {
	next   uint32 // sequence number
	stamp  uint32 // offset of its timestamp clock
	window uint16
}

// tcp generates a whole session and returns when it ended.
func (t *trace) tcp(at time.Duration, f flow, rtt time.Duration, exchanges []exchange, end ending) time.Duration {
	s := session{trace: t, flow: f, at: at, rtt: rtt,
		client: side{next: uint32(t.next()), stamp: uint32(t.next()), window: 502},
		server: side{next: uint32(t.next()), stamp: uint32(t.next()), window: 509}}
	s.handshake()
	for _, e := range exchanges {
		s.data(true, e.request)
		s.wait(time.Millisecond, 20*time.Millisecond)
		s.data(false, e.response)
		s.wait(20*time.Millisecond, 300*time.Millisecond)
	}
	s.finish(end)
	return s.at
}

// wait lets time pass on top of a jitter.
func (s *session) wait(low, high time.Duration) { s.at += s.delay(low, high) }

// halfway is the time a packet and its answer take, with jitter: the capture
// sees both close to the server.
func (s *session) halfway() { s.at += s.rtt + s.delay(0, s.rtt/8) }

func (s *session) handshake() {
	mss := []byte{2, 4, 5, 180, 4, 2} // 1460, selective acknowledgements
	if s.forward.src.Addr().Is6() {
		mss[3] = 160 // 1440
	}
	synOptions := func(own, other uint32) []byte {
		o := append([]byte(nil), mss...)
		o = append(o, 8, 10)
		o = binary.BigEndian.AppendUint32(o, own)
		o = binary.BigEndian.AppendUint32(o, other)
		return append(o, 1, 3, 3, 7)
	}
	stamp := s.stampNow()
	s.packet(true, flagSYN, synOptions(s.client.stamp+stamp, 0), nil, 64240)
	s.client.next++
	s.wait(30*time.Microsecond, 90*time.Microsecond)
	s.packet(false, flagSYN|flagACK, synOptions(s.server.stamp+stamp, s.client.stamp+stamp), nil, 65160)
	s.server.next++
	s.halfway()
	s.acknowledge(true)
	s.wait(50*time.Microsecond, 400*time.Microsecond)
}

// stampNow is the milliseconds since the capture's start.
func (s *session) stampNow() uint32 { return uint32(s.at / time.Millisecond) }

func (s *session) timestamps(fromClient bool) []byte {
	own, other := s.client.stamp, s.server.stamp
	if !fromClient {
		own, other = other, own
	}
	now := s.stampNow()
	o := []byte{1, 1, 8, 10}
	o = binary.BigEndian.AppendUint32(o, own+now)
	return binary.BigEndian.AppendUint32(o, other+now)
}

// packet adds one segment.
func (s *session) packet(fromClient bool, flags uint8, options, data []byte, window uint16) {
	l, own, other := &s.forward, &s.client, &s.server
	if !fromClient {
		l, own, other = &s.reverse, &s.server, &s.client
	}
	header := tcpHeader{src: l.src, dst: l.dst, seq: own.next, flags: flags, window: window, options: options}
	if flags&flagACK != 0 {
		header.ack = other.next
	}
	s.send(s.at, l, protoTCP, header.segment(data))
}

func (s *session) acknowledge(fromClient bool) { s.plain(fromClient, flagACK, nil) }

// plain adds a segment of an established connection.
func (s *session) plain(fromClient bool, flags uint8, data []byte) {
	own := &s.client
	if !fromClient {
		own = &s.server
	}
	s.packet(fromClient, flags, s.timestamps(fromClient), data, own.window)
	own.next += uint32(len(data))
}

// data sends bytes in segments; the other side acknowledges every second one
// and the last.
func (s *session) data(fromClient bool, data []byte) {
	for n := 1; len(data) > 0; n++ {
		size := min(len(data), maxSegment)
		flags := uint8(flagACK)
		if size == len(data) {
			flags |= flagPSH
		}
		s.plain(fromClient, flags, data[:size])
		data = data[size:]
		if n%2 != 0 && len(data) > 0 {
			s.wait(5*time.Microsecond, 40*time.Microsecond)
			continue
		}
		if fromClient {
			s.wait(10*time.Microsecond, 80*time.Microsecond)
		} else {
			s.halfway()
		}
		s.acknowledge(!fromClient)
		s.wait(10*time.Microsecond, 200*time.Microsecond)
	}
}

func (s *session) finish(end ending) {
	switch end {
	case closed:
		s.plain(true, flagFIN|flagACK, nil)
		s.client.next++
		s.wait(30*time.Microsecond, 300*time.Microsecond)
		s.plain(false, flagFIN|flagACK, nil)
		s.server.next++
		s.halfway()
		s.acknowledge(true)
	case reset:
		s.plain(true, flagRST|flagACK, nil)
	}
}

// probe adds a lone segment, as scanners send them, and the answer if any.
func (t *trace) probe(at time.Duration, f flow, flags uint8, answer uint8) {
	seq := uint32(t.next())
	header := tcpHeader{src: f.forward.src, dst: f.forward.dst, seq: seq, flags: flags, window: 1024}
	if flags == flagSYN {
		header.options = []byte{2, 4, 5, 180}
	}
	if flags&flagACK != 0 {
		header.ack = uint32(t.next())
	}
	t.send(at, &f.forward, protoTCP, header.segment(nil))
	if answer == 0 {
		return
	}
	reply := tcpHeader{src: f.reverse.src, dst: f.reverse.dst, flags: answer, ack: seq + 1}
	t.send(at+t.delay(20*time.Microsecond, 60*time.Microsecond), &f.reverse, protoTCP, reply.segment(nil))
}
