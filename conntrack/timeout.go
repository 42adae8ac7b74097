package conntrack

import (
	"fmt"
	"time"

	"verdict/packet"
)

// timeouts holds one protocol's timeouts in nanoseconds, by state.
type timeouts [maxTimeouts]int64

const maxTimeouts = 14

// TimeoutPolicy is what a ct timeout object holds: the timeouts of one
// protocol, which replace the table's for connections that got it.
type TimeoutPolicy struct {
	Protocol uint8
	values   timeouts
}

// timeoutClass is a protocol with timeouts of its own.
type timeoutClass struct {
	protocol uint8
	names    []string // by index; "" where there is none
	defaults []int64  // in seconds
}

// Indexes of the timeouts that are not named after a state.
const (
	timeoutUnreplied  = 0 // UDP, GRE
	timeoutReplied    = 1
	timeoutRetrans    = 10 // TCP
	timeoutUnacked    = 11
	timeoutOnly       = 0 // ICMP, ICMPv6, generic
	protocolOfGeneric = 255
)

// Ref: the tables of timeouts in nf_conntrack_proto_*.c; names as of nft's ct
// timeout objects.
var timeoutClasses = []timeoutClass{
	{packet.ProtoTCP, []string{"", "syn_sent", "syn_recv", "established", "fin_wait", "close_wait", "last_ack", "time_wait", "close", "syn_sent2", "retrans", "unack"},
		[]int64{0, 120, 60, 432000, 120, 60, 30, 120, 10, 120, 300, 300}},
	{packet.ProtoUDP, []string{"unreplied", "replied"}, []int64{30, 120}},
	{packet.ProtoUDPLite, []string{"unreplied", "replied"}, []int64{30, 120}},
	{packet.ProtoICMP, []string{"timeout"}, []int64{30}},
	{packet.ProtoICMPv6, []string{"timeout"}, []int64{30}},
	{packet.ProtoSCTP, []string{"", "closed", "cookie_wait", "cookie_echoed", "established", "shutdown_sent", "shutdown_recd", "shutdown_ack_sent", "heartbeat_sent"},
		[]int64{0, 10, 3, 3, 210, 3, 3, 3, 30}},
	{packet.ProtoGRE, []string{"unreplied", "replied"}, []int64{30, 180}},
	{protocolOfGeneric, []string{"timeout"}, []int64{600}},
}

// protocolTimeouts are the timeouts of all protocols.
type protocolTimeouts struct {
	tcp, udp, udpLite, icmp, icmp6, sctp, gre, generic timeouts
}

func (p *protocolTimeouts) of(protocol uint8) *timeouts {
	switch protocol {
	case packet.ProtoTCP:
		return &p.tcp
	case packet.ProtoUDP:
		return &p.udp
	case packet.ProtoUDPLite:
		return &p.udpLite
	case packet.ProtoICMP:
		return &p.icmp
	case packet.ProtoICMPv6:
		return &p.icmp6
	case packet.ProtoSCTP:
		return &p.sctp
	case packet.ProtoGRE:
		return &p.gre
	}
	return &p.generic
}

func (p *protocolTimeouts) init() {
	for _, class := range timeoutClasses {
		to := p.of(class.protocol)
		for i, seconds := range class.defaults {
			to[i] = seconds * int64(time.Second)
		}
	}
}

// TimeoutError names a timeout that a protocol does not have.
type TimeoutError struct {
	Protocol uint8
	Name     string
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("protocol %d has no timeout %q", e.Protocol, e.Name)
}

// SetTimeout changes one of the table's own timeouts (the kernel's sysctls).
// Names are those of nft's ct timeout objects (TCP: syn_sent, syn_recv,
// established, fin_wait, close_wait, last_ack, time_wait, close, syn_sent2,
// retrans, unack; UDP and GRE: unreplied, replied; SCTP: its states; ICMP,
// ICMPv6 and all others: timeout). The error is a *TimeoutError.
func (t *Table) SetTimeout(protocol uint8, name string, d time.Duration) error {
	return setTimeout(t.timeouts.of(protocol), protocol, name, d)
}

// NewTimeoutPolicy makes a policy; what values do not name has the table's
// current value. The error is a *TimeoutError.
// Ref: nft_ct.c, nft_ct_timeout_parse_policy.
func (t *Table) NewTimeoutPolicy(protocol uint8, values map[string]time.Duration) (*TimeoutPolicy, error) {
	p := &TimeoutPolicy{Protocol: protocol, values: *t.timeouts.of(protocol)}
	for name, d := range values {
		if err := setTimeout(&p.values, protocol, name, d); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func setTimeout(to *timeouts, protocol uint8, name string, d time.Duration) error {
	class := &timeoutClasses[len(timeoutClasses)-1]
	for i := range timeoutClasses {
		if timeoutClasses[i].protocol == protocol {
			class = &timeoutClasses[i]
		}
	}
	for i, known := range class.names {
		if known == name && name != "" {
			to[i] = int64(d)
			return nil
		}
	}
	return &TimeoutError{Protocol: protocol, Name: name}
}

// SetTimeoutPolicy gives a connection that is not confirmed yet its own
// timeouts, and the first of them as its time to live. It does nothing, and
// reports false, for confirmed connections and other protocols.
// Ref: nft_ct.c, nft_ct_timeout_obj_eval.
func (t *Table) SetTimeoutPolicy(c *Conn, policy *TimeoutPolicy) bool {
	if c == nil || c.Confirmed() || c.Protocol() != policy.Protocol {
		return false
	}
	c.rarely().timeouts = policy
	first := 0
	switch policy.Protocol {
	case packet.ProtoTCP, packet.ProtoSCTP:
		first = 1
	}
	c.expires = policy.values[first]
	return true
}

// Delete makes the connections that have the policy fall back to the table's
// timeouts.
func (p *TimeoutPolicy) Delete(t *Table) { p.values = *t.timeouts.of(p.Protocol) }

// policy returns the timeouts that count for a connection.
func (c *Conn) policy(own *timeouts) *timeouts {
	if c.rare != nil && c.rare.timeouts != nil {
		return &c.rare.timeouts.values
	}
	return own
}
