package conntrack

import (
	"container/list"

	"verdict/packet"
	"verdict/packet/rewrite"
)

// Defrag collects fragments ahead of connection tracking, at priority -400 of
// prerouting and output, so that rules and trackers see whole datagrams. It
// holds at most about 4 MiB, is deterministic, and not safe for concurrent use.
// The zero Defrag is ready to use.
// Ref: ip_fragment.c, inet_fragment.c; nf_conntrack_reasm.c.
type Defrag struct {
	queues map[fragmentKey]*fragmentQueue
	byAge  [2]list.List // IPv4 and IPv6: queues by time, to find the expired ones
	memory int
	arrive map[[16]byte]uint32 // fragments seen of each IPv4 source
	stats  DefragStats
}

// DefragStats counts datagrams.
type DefragStats struct {
	Complete  uint64 // put together
	Expired   uint64 // given up after their time
	Discarded uint64 // given up because their fragments do not fit
	Dropped   uint64 // single fragments that were dropped
}

// Defragged says what became of a packet.
type Defragged uint8

const (
	// NotFragment: the packet goes on as it is.
	NotFragment Defragged = iota
	// Collected: the fragment waits for others; the packet ends here.
	Collected
	// FragmentDropped: the fragment was dropped, alone or with its queue.
	FragmentDropped
	// Reassembled: the packet has become the whole datagram.
	Reassembled
)

// FragmentPlace keeps the datagrams of different places of the host apart.
type FragmentPlace struct {
	Output bool   // the output hook, else prerouting
	Bridge bool   // the hooks of a bridge
	Device uint32 // index of the input device
	Master uint32 // index of the VRF's device, 0 for none
}

// Reassembly tells how a datagram came, which decides how it leaves.
type Reassembly struct {
	MaxSize int   // largest fragment: the IPv4 packet; for IPv6 40 bytes and its payload length
	DF      bool  // that fragment had DF set
	Sizes   []int // payload of each fragment, in order
}

// fragmentKey identifies the queue of a datagram.
type fragmentKey struct {
	src, dst [16]byte
	id       uint32
	place    FragmentPlace
	zone     uint16
	protocol uint8 // IPv4
	six      bool
}

// Limits. Ref: sysctl ipfrag_time, ip6frag_time, ipfrag_high_thresh,
// ipfrag_max_dist.
const (
	fragmentTime4   = 30e9
	fragmentTime6   = 60e9
	fragmentMemory  = 4 << 20
	fragmentMaxDist = 64
	maxDatagram     = 65535
	maxSources      = 1 << 14 // IPv4 sources whose fragments are counted
)

// Stats returns the counters.
func (d *Defrag) Stats() DefragStats { return d.stats }

// Waiting is the number of datagrams that are not complete.
func (d *Defrag) Waiting() int { return len(d.queues) }

// Collect takes the packet at an IP hook. Reassembled packets are written to
// the buffer, whose view then refers to the whole datagram; its link header,
// IP header and mark are those of the first fragment, and how tells about the
// fragments until the next call. Packets that are not fragments cost a few
// nanoseconds; fragments are copied.
func (d *Defrag) Collect(p *Packet, place FragmentPlace, mark *uint32, b *rewrite.Buffer) (result Defragged, how *Reassembly) {
	v, a := p.View, p.Attachment
	if v.Validity != packet.Valid || a.Conn == nil && a.Info == InfoUntracked {
		return NotFragment, nil
	}
	var f fragment
	if v.EtherType == packet.TypeIPv6 {
		if a.Conn != nil || !f.read6(v) {
			return NotFragment, nil
		}
	} else if !f.read4(v) {
		return NotFragment, nil
	}
	d.expire(p.Now)
	if f.unfit {
		d.stats.Dropped++
		return FragmentDropped, nil
	}
	key := f.key(v, place, a.TemplateZone)
	if f.offset != 0 {
		a.Reset()
	}
	if d.memory > fragmentMemory {
		d.stats.Dropped++
		return FragmentDropped, nil
	}
	q := d.queue(key, p.Now)
	switch d.add(q, &f, p.Now) {
	case fragmentKept:
	case fragmentUseless:
		d.stats.Dropped++
		return FragmentDropped, nil
	case fragmentSpoils:
		d.discard(q)
		return FragmentDropped, nil
	case fragmentPasses:
		d.discard(q)
		return NotFragment, nil
	}
	if f.offset == 0 {
		q.keepFirst(v, &f, a, mark)
	}
	if !q.complete() {
		return Collected, nil
	}
	d.remove(q)
	if !q.rebuild(v, b) {
		d.stats.Discarded++
		return FragmentDropped, nil
	}
	d.stats.Complete++
	a.HasTemplate, a.TemplateZone = q.hasTemplate, q.template
	*mark = q.mark
	return Reassembled, q.reassembly()
}

// queue finds or makes the queue of a datagram.
func (d *Defrag) queue(key fragmentKey, now int64) *fragmentQueue {
	if q, ok := d.queues[key]; ok {
		return q
	}
	if d.queues == nil {
		d.queues = map[fragmentKey]*fragmentQueue{}
		d.arrive = map[[16]byte]uint32{}
	}
	q := &fragmentQueue{key: key, rank: d.arrive[key.src]}
	d.queues[key] = q
	d.startTime(q, now)
	return q
}

// startTime gives a queue its full time.
func (d *Defrag) startTime(q *fragmentQueue, now int64) {
	ages, time := &d.byAge[0], int64(fragmentTime4)
	if q.key.six {
		ages, time = &d.byAge[1], fragmentTime6
	}
	if q.age != nil {
		ages.Remove(q.age)
	}
	q.deadline, q.age = now+time, ages.PushBack(q)
}

// expire gives up datagrams whose time is over.
func (d *Defrag) expire(now int64) {
	for i := range d.byAge {
		for e := d.byAge[i].Front(); e != nil; e = d.byAge[i].Front() {
			q := e.Value.(*fragmentQueue)
			if now < q.deadline {
				break
			}
			d.remove(q)
			d.stats.Expired++
		}
	}
}

func (d *Defrag) discard(q *fragmentQueue) {
	d.remove(q)
	d.stats.Discarded++
}

func (d *Defrag) remove(q *fragmentQueue) {
	d.memory -= q.memory
	delete(d.queues, q.key)
	if q.key.six {
		d.byAge[1].Remove(q.age)
	} else {
		d.byAge[0].Remove(q.age)
	}
	if len(d.queues) == 0 {
		clear(d.arrive)
	}
}
