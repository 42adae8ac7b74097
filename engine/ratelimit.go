package engine

import "net/netip"

// peer is what the host remembers of another one, to bound how often it tells
// it about errors.
// Ref: net/ipv4/inetpeer.c.
type peer struct {
	tokens, last int64 // nanoseconds
}

const (
	second = 1e9
	// peerBurst is how many messages a peer may get at once.
	peerBurst = 6
	// errorBurst is that of errors of the routing decision.
	errorBurst = 5
)

// peer finds what is remembered of an address.
func (e *Engine) peer(a netip.Addr, now int64) *peer {
	if e.peers == nil {
		e.peers = map[netip.Addr]*peer{}
	}
	p, ok := e.peers[a]
	if !ok {
		p = &peer{last: now - 60*second}
		e.peers[a] = p
	}
	return p
}

// limit notes that an error goes to an address. Its own limit is off, but it
// uses up what the peer has for others.
// Ref: net/ipv4/icmp.c, icmpv4_xrlim_allow; net/ipv6/icmp.c, icmpv6_xrlim_allow.
func (w *Worker) limit(to way, a netip.Addr) {
	if !to.out.loopback {
		w.engine.peer(a, w.now).allow(w.now, 0, peerBurst)
	}
}

// allow takes the cost of a message from the peer's tokens; false means that it
// gets none now.
// Ref: net/ipv4/icmp.c, inet_peer_xrlim_allow.
func (p *peer) allow(now, cost, burst int64) bool {
	if now != p.last {
		p.tokens = min(p.tokens+now-p.last, burst*cost)
		p.last = now
	}
	if p.tokens < cost {
		return false
	}
	p.tokens -= cost
	return true
}
