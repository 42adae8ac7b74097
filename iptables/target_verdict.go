package iptables

import (
	"fmt"
	"strings"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/packet"
)

// verdictTarget is ACCEPT, DROP or RETURN.
type verdictTarget struct {
	name string
	do   kind
}

var verdicts = []*verdictTarget{{"ACCEPT", doAccept}, {"DROP", doDrop}, {"RETURN", doReturn}}

func verdictByName(name string) (*verdictTarget, bool) {
	for _, v := range verdicts {
		if v.name == name {
			return v, true
		}
	}
	return nil, false
}

func (x *verdictTarget) Name() string               { return x.name }
func (x *verdictTarget) appendSave(b []byte) []byte { return b }

func (x *verdictTarget) translate(t *translator) bool {
	t.add(strings.ToLower(x.name))
	return true
}

// apply is not called: the walk does verdicts and jumps itself.
func (x *verdictTarget) apply(*Machine) action { return actContinue }

// jumpTarget goes to a chain and comes back at its end.
type jumpTarget struct{ chain string }

func (x *jumpTarget) Name() string               { return x.chain }
func (x *jumpTarget) appendSave(b []byte) []byte { return b }

func (x *jumpTarget) translate(t *translator) bool {
	t.addf("jump %s", t.chainName(x.chain))
	return true
}

func (x *jumpTarget) apply(*Machine) action { return actContinue }

// gotoTarget goes to a chain whose end returns to the last jump.
type gotoTarget struct{ chain string }

func (x *gotoTarget) Name() string               { return x.chain }
func (x *gotoTarget) appendSave(b []byte) []byte { return b }

func (x *gotoTarget) translate(t *translator) bool {
	t.addf("goto %s", t.chainName(x.chain))
	return true
}

func (x *gotoTarget) apply(*Machine) action { return actContinue }

func init() {
	registerTarget(
		&extension{name: "REJECT", target: func(f family) Target { return &rejectTarget{with: rejectsOf(f)[0]} }, options: []option{
			opt("reject-with", 1, func(x *rejectTarget, s *setting) { x.read(s) }),
		}, tables: []string{"filter"}, hooks: atInput | atForward | atOutput, finish: finishing(func(x *rejectTarget, r *Rule, _ family) string {
			if x.with.name == "tcp-reset" && (r.Header.Protocol != packet.ProtoTCP || r.Header.NotProtocol) {
				return "a TCP reset needs -p tcp"
			}
			return ""
		})},
		&extension{name: "NFQUEUE", target: madeTarget[nfqueueTarget](), options: []option{
			opt("queue-num", 1, func(x *nfqueueTarget, s *setting) {
				x.first = uint16(s.uint(65535))
				x.last = x.first
			}),
			opt("queue-balance", 1, func(x *nfqueueTarget, s *setting) {
				r := s.numbers(s.word(0), 65535)
				x.first, x.last = uint16(r.low), uint16(r.high)
				if r.low == r.high {
					s.fail("a balance needs several queues: A:B")
				}
			}),
			opt("queue-bypass", 0, func(x *nfqueueTarget, s *setting) { x.bypass = true }),
			opt("queue-cpu-fanout", 0, func(x *nfqueueTarget, s *setting) { x.fanout = true }),
		}},
		&extension{name: "QUEUE", target: func(family) Target { return &nfqueueTarget{old: true} }},
	)
}

// rejectKind is a way to answer.
type rejectKind struct {
	name, nft string
	answer    expr.Reject
}

var rejects4 = []rejectKind{
	{"icmp-port-unreachable", "", expr.Reject{Code: 3}}, {"icmp-net-unreachable", "icmp type net-unreachable", expr.Reject{Code: 0}}, {"icmp-host-unreachable", "icmp type host-unreachable", expr.Reject{Code: 1}},
	{"icmp-proto-unreachable", "icmp type prot-unreachable", expr.Reject{Code: 2}}, {"icmp-net-prohibited", "icmp type net-prohibited", expr.Reject{Code: 9}},
	{"icmp-host-prohibited", "icmp type host-prohibited", expr.Reject{Code: 10}}, {"icmp-admin-prohibited", "icmp type admin-prohibited", expr.Reject{Code: 13}}, {"tcp-reset", "tcp reset", expr.Reject{Type: expr.RejectTCP}},
}

var rejects6 = []rejectKind{
	{"icmp6-port-unreachable", "", expr.Reject{Code: 4}}, {"icmp6-no-route", "icmpv6 type no-route", expr.Reject{Code: 0}}, {"icmp6-adm-prohibited", "icmpv6 type admin-prohibited", expr.Reject{Code: 1}},
	{"icmp6-addr-unreachable", "icmpv6 type addr-unreachable", expr.Reject{Code: 3}}, {"icmp6-policy-fail", "icmpv6 type policy-fail", expr.Reject{Code: 5}},
	{"icmp6-reject-route", "icmpv6 type reject-route", expr.Reject{Code: 6}}, {"tcp-reset", "tcp reset", expr.Reject{Type: expr.RejectTCP}},
}

// rejectAliases are other names for the same.
var rejectAliases = map[string]string{
	"net-unreach": "icmp-net-unreachable", "host-unreach": "icmp-host-unreachable", "proto-unreach": "icmp-proto-unreachable",
	"port-unreach": "icmp-port-unreachable", "net-prohib": "icmp-net-prohibited", "host-prohib": "icmp-host-prohibited",
	"admin-prohib": "icmp-admin-prohibited", "tcp-rst": "tcp-reset", "no-route": "icmp6-no-route", "adm-prohibited": "icmp6-adm-prohibited",
	"addr-unreach": "icmp6-addr-unreachable",
}

func rejectsOf(f family) []rejectKind {
	if f == catalog.FamilyIP6 {
		return rejects6
	}
	return rejects4
}

// rejectTarget is -j REJECT: drop, and tell the sender.
// Ref: ipt_REJECT.c, ip6t_REJECT.c.
type rejectTarget struct{ with rejectKind }

func (x *rejectTarget) read(s *setting) {
	word := strings.ToLower(s.word(0))
	kinds := rejectsOf(s.rule.family())
	var names []string
	var found []rejectKind
	for _, k := range kinds {
		names = append(names, k.name)
		if k.name == word || rejectAliases[word] == k.name {
			x.with = k
			return
		}
		if strings.HasPrefix(k.name, word) {
			found = append(found, k)
		}
	}
	if port := "port-unreach"; six(s.rule.family()) && word == port {
		x.with = kinds[0]
		return
	}
	if len(found) != 1 {
		s.choice(s.word(0), names, "way to reject")
		return
	}
	x.with = found[0]
}

func (x *rejectTarget) Name() string { return "REJECT" }

func (x *rejectTarget) appendSave(b []byte) []byte {
	return append(append(b, " --reject-with "...), x.with.name...)
}

func (x *rejectTarget) translate(t *translator) bool {
	if x.with.nft == "" {
		t.add("reject")
	} else {
		t.add("reject with " + x.with.nft)
	}
	return true
}

func (x *rejectTarget) apply(m *Machine) action {
	m.Reject = &x.with.answer
	return actDrop
}

// nfqueueTarget is -j NFQUEUE and the old -j QUEUE.
// Ref: xt_NFQUEUE.c.
type nfqueueTarget struct {
	first, last    uint16
	bypass, fanout bool
	old            bool
}

func (x *nfqueueTarget) Name() string {
	if x.old {
		return "QUEUE"
	}
	return "NFQUEUE"
}

func (x *nfqueueTarget) appendSave(b []byte) []byte {
	switch {
	case x.old:
		return b
	case x.first != x.last:
		b = fmt.Appendf(b, " --queue-balance %d:%d", x.first, x.last)
	default:
		b = fmt.Appendf(b, " --queue-num %d", x.first)
	}
	if x.bypass {
		b = append(b, " --queue-bypass"...)
	}
	if x.fanout {
		b = append(b, " --queue-cpu-fanout"...)
	}
	return b
}

func (x *nfqueueTarget) translate(t *translator) bool {
	if x.old && t.reference {
		return false
	}
	text := fmt.Sprintf("queue num %d", x.first)
	if x.first != x.last {
		text += fmt.Sprintf("-%d", x.last)
	}
	var flags []string
	if x.bypass {
		flags = append(flags, "bypass")
	}
	if x.fanout {
		flags = append(flags, "fanout")
	}
	if len(flags) > 0 {
		text += " " + strings.Join(flags, ",")
	}
	t.add(text)
	return true
}

func (x *nfqueueTarget) apply(m *Machine) action {
	m.queue, m.bypass = x.first, x.bypass
	if n := uint32(x.last-x.first) + 1; n > 1 {
		if x.fanout {
			m.queue += uint16(m.CPU % n)
		} else {
			m.queue += uint16(uint64(m.flowHash()) * uint64(n) >> 32)
		}
	}
	return actQueue
}

// flowHash is equal for both directions of a flow; the kernel's seed is not
// known.
func (m *Machine) flowHash() uint32 {
	v := m.pkt.View
	a, b := addrBytes(v.SrcAddr()), addrBytes(v.DstAddr())
	var key [32]byte
	for i := range a {
		key[i], key[16+i] = min(a[i], b[i]), max(a[i], b[i])
	}
	return jhashWords(key[:], m.HashSeed^uint32(m.fields.protocol))
}
