package ruleset

import (
	"fmt"
	"strings"

	"verdict/catalog"
	"verdict/nft/expr"
)

// appendObjectDebug appends an object as it goes to the kernel: its names are
// not part of the text.
func appendObjectDebug(b []byte, o *Object) []byte {
	b = append(b, "table (null) name (null) use 0 [ "...)
	b = appendObjectBody(b, o)
	return append(b, "]\n"...)
}

// appendObjectBody appends type and operands of an object, with a blank at the
// end except after a ct timeout.
func appendObjectBody(b []byte, o *Object) []byte {
	switch {
	case o.Type == expr.ObjectCounter:
		c := o.Counter
		if c == nil {
			c = &expr.Counter{}
		}
		return fmt.Appendf(b, "counter pkts %d bytes %d ", c.Packets, c.Bytes)
	case o.Quota != nil:
		return fmt.Appendf(b, "quota bytes %d flags %d ", o.Quota.Bytes, bit(o.Quota.Over))
	case o.Limit != nil:
		l := o.Limit
		return fmt.Appendf(b, "limit rate %d unit %d burst %d type %d flags %d ", l.Rate, l.Unit, l.Burst, bit(l.Bytes), bit(l.Over))
	case o.ConnLimit != nil:
		return fmt.Appendf(b, "connlimit count %d flags %x ", o.ConnLimit.Count, bit(o.ConnLimit.Over))
	case o.Synproxy != nil:
		return fmt.Appendf(b, "synproxy mss %d wscale %d ", o.Synproxy.MSS, o.Synproxy.WScale)
	case o.Helper != nil:
		return fmt.Appendf(b, "ct_helper name %s family %d protocol %d ", o.Helper.Name, o.Helper.L3Proto, o.Helper.Protocol)
	case o.TimeoutPol != nil:
		return appendTimeoutDebug(b, o.TimeoutPol)
	case o.Expectation != nil:
		e := o.Expectation
		return fmt.Appendf(b, "ct_expect protocol %d dport %d timeout %d size %d ", e.Protocol, e.Dport, e.Timeout, e.Size)
	case o.Tunnel != nil:
		return fmt.Appendf(b, "tunnel id %d ", o.Tunnel.ID)
	case o.Secmark != "":
		return fmt.Appendf(b, "secmark context %s ", o.Secmark)
	}
	return b
}

func bit(set bool) uint32 {
	if set {
		return 1
	}
	return 0
}

func appendTimeoutDebug(b []byte, p *TimeoutPolicy) []byte {
	b = fmt.Appendf(b, "ct_timeout protocol %d policy = {", p.Protocol)
	for _, state := range catalog.TimeoutStates(p.Protocol) {
		if v, ok := p.Values[state.Name]; ok {
			b = fmt.Appendf(b, "%s = %d,", strings.ToUpper(state.Name), v)
		}
	}
	return append(b, '}')
}
