package expr

import "syscall"

// Queue flags. Ref: include/uapi/linux/netfilter/nf_tables.h.
const (
	QueueBypass uint16 = 1
	QueueFanout uint16 = 2
)

// Queue hands the packet to user space.
// Ref: nft_queue.c.
type Queue struct {
	Num, Total uint16 // Total queues from Num
	Flags      uint16 // QueueBypass, QueueFanout
	Src        Reg    // queue number from a register
	HasSrc     bool
}

// Kind is queue.
func (*Queue) Kind() string { return "queue" }

// AppendText appends `queue num 1-2 bypass fanout` or `queue sreg_qnum 1`.
func (e *Queue) AppendText(b []byte) []byte {
	b = append(b, "queue"...)
	if e.HasSrc {
		b = appendNamed(b, "sreg_qnum", uint64(e.Src))
	} else {
		b = appendNamed(b, "num", uint64(e.Num))
		if e.Total > 1 {
			b = appendUint(append(b, '-'), uint64(e.Num+e.Total-1))
		}
	}
	if e.Flags&QueueBypass != 0 {
		b = append(b, " bypass"...)
	}
	if e.Flags&QueueFanout != 0 {
		b = append(b, " fanout"...)
	}
	return b
}

// Check refuses netdev and arp tables (EOPNOTSUPP), no queues (EINVAL),
// queues above 65535 (ERANGE), unknown flags (EINVAL), and fanout together
// with a number from a register (EOPNOTSUPP).
// Ref: nft_queue.c, nft_queue_init, nft_queue_sreg_init.
func (e *Queue) Check(c *Checker) error {
	switch c.Place.Family {
	case familyNetdev, familyARP:
		return refuse(syscall.EOPNOTSUPP, "queue exists in ip, ip6, inet and bridge tables only")
	}
	if e.HasSrc {
		if err := c.load(e.Src, 4); err != nil {
			return err
		}
	} else if err := e.checkNumbers(); err != nil {
		return err
	}
	if e.Flags&^(QueueBypass|QueueFanout) != 0 {
		return refuse(syscall.EINVAL, "unknown flags %#x", e.Flags)
	}
	if e.HasSrc && e.Flags&QueueFanout != 0 {
		return refuse(syscall.EOPNOTSUPP, "fanout with a queue number from a register")
	}
	return nil
}

func (e *Queue) checkNumbers() error {
	if e.Total == 0 {
		return refuse(syscall.EINVAL, "no queues")
	}
	if last := uint32(e.Num) + uint32(e.Total) - 1; last > 65535 {
		return refuse(syscall.ERANGE, "queue %d is larger than 65535", last)
	}
	return nil
}

// Registers reads Src if the number comes from there.
func (e *Queue) Registers(*Place) RegUse {
	if !e.HasSrc {
		return RegUse{}
	}
	return reads(e.Src, 4)
}

func parseQueue(p *textParser) Expr {
	e := &Queue{HasSrc: p.oneOf("form", []string{"num", "sreg_qnum"}) == 1}
	if e.HasSrc {
		e.Src = p.regNumber()
	} else {
		e.Num, e.Total = p.queueNumbers()
	}
	if p.accept("bypass") {
		e.Flags |= QueueBypass
	}
	if p.accept("fanout") {
		e.Flags |= QueueFanout
	}
	return e
}

// queueNumbers reads N or N-M.
func (p *textParser) queueNumbers() (num, total uint16) {
	start := p.space()
	w := p.word()
	for i := range w {
		if w[i] != '-' {
			continue
		}
		lo := p.number(start, w[:i], 16)
		hi := p.number(start+i+1, w[i+1:], 16)
		if hi < lo || hi-lo+1 > 65535 {
			p.failAt(start, "queues %s run backwards or are too many", w)
			return 0, 0
		}
		return uint16(lo), uint16(hi - lo + 1)
	}
	return uint16(p.number(start, w, 16)), 1
}
