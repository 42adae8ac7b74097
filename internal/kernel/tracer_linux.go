package kernel

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"

	"verdict"
	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/netlink"
	"verdict/nft/ruleset"
)

// tracerRules trace what the interfaces receive and what the host itself sends.
// Messages that the host sends in its own time (neighbour discovery, group
// membership), and redirects, whose limit lasts from case to case, are dropped
// before anybody counts them. The engine runs these tables too.
const tracerRules = `
table netdev verdict_oracle {
	chain first {
		type filter hook ingress devices = { "lan0", "wan0" } priority -2147483647;
		meta nftrace set 1
	}
	chain leaving {
		type filter hook egress devices = { "lan0", "wan0" } priority -2147483647;
		meta nftrace set 1
	}
}
table inet verdict_oracle {
	chain output {
		type filter hook output priority -2147483647;
		icmpv6 type { 130, 131, 132, 133, 134, 135, 136, 137, 143 } drop
		meta nftrace set 1
	}
}
table arp verdict_oracle {
	chain output {
		type filter hook output priority -2147483647;
		arp operation request drop
		meta nftrace set 1
	}
}
`

// tracer collects trace events.
type tracer struct {
	socket  *socket
	buffers [][]byte
	vectors []unix.Iovec
	headers []messageHeader
}

// messageHeader is struct mmsghdr.
type messageHeader struct {
	header unix.Msghdr
	length uint32
	_      uint32
}

const (
	tracerBatch  = 64
	tracerBuffer = 4096 // an event is far smaller
)

func newTracer() (*tracer, error) {
	s, err := openSocket(traceGroup)
	if err != nil {
		return nil, err
	}
	t := &tracer{socket: s, vectors: make([]unix.Iovec, tracerBatch), headers: make([]messageHeader, tracerBatch)}
	for i := range tracerBatch {
		b := make([]byte, tracerBuffer)
		t.buffers = append(t.buffers, b)
		t.vectors[i].Base = &b[0]
		t.vectors[i].SetLen(len(b))
		t.headers[i].header.Iov = &t.vectors[i]
		t.headers[i].header.SetIovlen(1)
	}
	return t, nil
}

func (t *tracer) close() { t.socket.close() }

// drain appends the events that have come, oldest first. Those of the tracer's
// own tables, and those that mark the end of a chain's rules, are left out.
func (t *tracer) drain(events []netlink.Trace) ([]netlink.Trace, error) {
	for {
		n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(t.socket.fd), uintptr(unsafe.Pointer(&t.headers[0])), tracerBatch, unix.MSG_DONTWAIT, 0, 0)
		switch {
		case errors.Is(errno, unix.EAGAIN):
			return events, nil
		case errors.Is(errno, unix.EINTR):
			continue
		case errno != 0:
			return events, errno
		}
		for i := range int(n) {
			messages, err := netlink.ParseMessages(t.buffers[i][:t.headers[i].length])
			if err != nil {
				return events, err
			}
			for j := range messages {
				e, err := netlink.ReadTrace(&messages[j])
				if err != nil {
					return events, err
				}
				if e.Table != tracerTable && !endOfChain(&e) {
					events = append(events, e)
				}
			}
		}
		if int(n) < tracerBatch {
			return events, nil
		}
	}
}

// endOfChain: Linux reports the end of a base chain's rules as a rule that
// continues, without a handle.
func endOfChain(e *netlink.Trace) bool {
	return e.Kind == netlink.TraceRule && e.Handle == 0 && e.Verdict == catalog.VerdictContinue
}

// loadTracer loads the tracer's own tables.
func (l *Lab) loadTracer() error {
	var batch []ruleset.Change
	rules, found := verdict.LoadSources(verdict.LoadOptions{
		Host: l.Host, Strict: true, Now: start,
		Batch: func(_ *ruleset.Ruleset, changes []ruleset.Change) { batch = changes },
	}, diag.NewSource("tracer", []byte(tracerRules)))
	if err := found.Err(); err != nil {
		return err
	}
	l.base = rules
	refused, err := l.Load(batch, nil)
	if err == nil && len(refused) > 0 {
		err = refused[0].Errno
	}
	return err
}
