package conntrack

import "slices"

// ConnList counts connections for one `ct count` expression, or for one element
// of a set. The zero list is empty. It holds tuples, not connections, so that
// it need not be told when they end.
// Ref: nf_conncount.c; nft_connlimit.c, nft_connlimit_do_eval.
type ConnList struct {
	items []countedConn
	swept int64 // tick of the last sweep
	added int   // since then
}

// countedConn is a connection's original tuple and zone.
type countedConn struct {
	tuple Tuple
	zone  Zone
}

// countTick is how often at most a list looks which of its connections ended.
const countTick = 4e6

// maxCountSweep bounds how many ended connections one packet removes, and
// maxCountAdded how many are added without a sweep.
const (
	maxCountSweep = 65
	maxCountAdded = 64
)

// Len is the number of connections counted.
func (l *ConnList) Len() int { return len(l.items) }

// Visit counts the packet's connection and returns how many there are now,
// itself included. A packet without connection counts by its own tuple; one
// without tuple is to be dropped. TCP connections in TIME_WAIT or CLOSE count
// no more. It costs a visit to the list and a look-up for each entry; the latter
// only once per tick for packets of new and of assured connections.
func (l *ConnList) Visit(t *Table, p *Packet) (count int, result Result) {
	item, c, ok := t.counted(p)
	if !ok {
		return len(l.items), Drop
	}
	sweptNow := p.Now/countTick == l.swept
	if c != nil && c.Status&(StatusConfirmed|StatusAssured) == StatusConfirmed|StatusAssured {
		if !sweptNow {
			l.sweep(t, p.Now, nil)
		}
		return len(l.items), Accept
	}
	if !sweptNow || l.added >= maxCountAdded || c != nil && c.Confirmed() {
		l.sweep(t, p.Now, &item)
	}
	if !slices.Contains(l.items, item) {
		l.items = append(l.items, item)
		l.added++
	}
	return len(l.items), Accept
}

// counted is what the packet counts as.
func (t *Table) counted(p *Packet) (item countedConn, c *Conn, ok bool) {
	a := p.Attachment
	if a.Conn != nil {
		return countedConn{a.Conn.Tuples[Original], a.Conn.Zone}, a.Conn, true
	}
	s := segment{before71: t.config.Before71}
	if s.find(p.View) != outcomeOK || s.tuple(&item.tuple) != outcomeOK {
		return item, nil, false
	}
	if a.HasTemplate {
		item.zone = a.TemplateZone
	}
	if c, _ = t.find(&item.tuple, item.zone, p.Now); c != nil {
		item = countedConn{c.Tuples[Original], c.Zone}
	}
	return item, c, true
}

// sweep removes connections that ended; the packet's own stays as it is, though
// it may be closing.
func (l *ConnList) sweep(t *Table, now int64, own *countedConn) {
	l.swept, l.added = now/countTick, 0
	removed := 0
	l.items = slices.DeleteFunc(l.items, func(x countedConn) bool {
		if removed >= maxCountSweep || own != nil && x == *own {
			return false
		}
		c, _ := t.find(&x.tuple, x.zone, now)
		if c != nil && !c.closed() {
			return false
		}
		removed++
		return true
	})
}

// closed reports whether a TCP connection is over.
func (c *Conn) closed() bool {
	k := &c.proto.tcp
	return c.Protocol() == 6 && (k.state == tcpTimeWait || k.state == tcpClose)
}
