package iptables

import (
	"fmt"
	"net/netip"
	"strings"

	"verdict/packet"
)

func init() {
	registerTarget(
		&extension{name: "LOG", target: func(family) Target { return &logTarget{level: 4} }, options: []option{
			opt("log-level", 1, (*logTarget).readLevel),
			opt("log-prefix", 1, func(x *logTarget, s *setting) { x.prefix = cutPrefix(s.word(0), 29) }),
			opt("log-tcp-sequence", 0, func(x *logTarget, s *setting) { x.flags |= logSequence }),
			opt("log-tcp-options", 0, func(x *logTarget, s *setting) { x.flags |= logTCPOptions }),
			opt("log-ip-options", 0, func(x *logTarget, s *setting) { x.flags |= logIPOptions }),
			opt("log-uid", 0, func(x *logTarget, s *setting) { x.flags |= logUser }),
			opt("log-macdecode", 0, func(x *logTarget, s *setting) { x.flags |= logLink }),
		}},
		&extension{name: "NFLOG", target: madeTarget[nflogTarget](), options: []option{
			opt("nflog-group", 1, func(x *nflogTarget, s *setting) { x.group = uint16(s.uint(65535)) }),
			opt("nflog-prefix", 1, func(x *nflogTarget, s *setting) { x.prefix = cutPrefix(s.word(0), 63) }),
			opt("nflog-size", 1, func(x *nflogTarget, s *setting) { x.size, x.hasSize = uint32(s.uint(1<<32-1)), true }),
			opt("nflog-range", 1, func(x *nflogTarget, s *setting) { x.length = uint32(s.uint(1<<32 - 1)) }),
			opt("nflog-threshold", 1, func(x *nflogTarget, s *setting) { x.threshold = uint16(s.uint(65535)) }),
		}},
		&extension{name: "TRACE", target: madeTarget[traceTarget](), tables: []string{"raw"}},
		&extension{name: "TEE", target: madeTarget[teeTarget](), options: []option{
			opt("gateway", 1, func(x *teeTarget, s *setting) { x.gateway = s.address(s.word(0)) }),
			opt("oif", 1, func(x *teeTarget, s *setting) { x.device = s.word(0) }),
		}, finish: finishing(func(x *teeTarget, _ *Rule, _ family) string { return needed(x.gateway.IsValid(), "--gateway") })},
	)
}

func cutPrefix(text string, limit int) string { return text[:min(len(text), limit)] }

// Flags of LOG. Ref: include/uapi/linux/netfilter/nf_log.h.
const (
	logSequence = 1 << iota
	logTCPOptions
	logIPOptions
	logUser
	_
	logLink
)

var logLevels = []struct{ name, nft string }{
	{"emerg", "emerg"}, {"alert", "alert"}, {"crit", "crit"}, {"error", "err"}, {"warning", "warn"}, {"notice", "notice"}, {"info", "info"}, {"debug", "debug"},
}

// logTarget is -j LOG. Ref: xt_LOG.c.
type logTarget struct {
	level  uint8
	prefix string
	flags  uint8
}

func (x *logTarget) readLevel(s *setting) {
	if word := s.word(0); word != "" && word[0] >= '0' && word[0] <= '9' {
		x.level = uint8(s.uint(7))
		return
	}
	word := strings.ToLower(s.word(0))
	if word == "panic" {
		word = "emerg"
	}
	var names []string
	for _, l := range logLevels {
		names = append(names, l.name)
	}
	if i := s.choice(word, names, "level of logs"); i >= 0 {
		x.level = uint8(i)
	}
}

func (x *logTarget) Name() string { return "LOG" }

func (x *logTarget) appendSave(b []byte) []byte {
	if x.prefix != "" {
		b = appendQuoted(append(b, " --log-prefix "...), x.prefix)
	}
	if x.level != 4 {
		b = fmt.Appendf(b, " --log-level %d", x.level)
	}
	for _, f := range []struct {
		bit  uint8
		name string
	}{{logSequence, "tcp-sequence"}, {logTCPOptions, "tcp-options"}, {logIPOptions, "ip-options"}, {logUser, "uid"}, {logLink, "macdecode"}} {
		if x.flags&f.bit != 0 {
			b = append(append(b, " --log-"...), f.name...)
		}
	}
	return b
}

func (x *logTarget) translate(t *translator) bool {
	text := "log"
	if x.prefix != "" {
		text += fmt.Sprintf(` prefix "%s"`, t.quotable(x.prefix))
	}
	if x.level != 4 {
		text += " level " + logLevels[x.level].nft
	}
	const all = logSequence | logTCPOptions | logIPOptions | logUser | logLink
	if x.flags == all {
		t.add(text + " flags all")
		return true
	}
	switch x.flags & (logSequence | logTCPOptions) {
	case logSequence | logTCPOptions:
		text += " flags tcp sequence,options"
	case logSequence:
		text += " flags tcp sequence"
	case logTCPOptions:
		text += " flags tcp options"
	}
	if x.flags&logIPOptions != 0 {
		text += " flags ip options"
	}
	if x.flags&logUser != 0 {
		text += " flags skuid"
	}
	if x.flags&logLink != 0 {
		text += " flags ether"
	}
	t.add(text)
	return true
}

// quotable makes text fit between quotes of nft, which have no escapes.
func (t *translator) quotable(text string) string {
	if t.reference {
		return text
	}
	return strings.ReplaceAll(text, `"`, "'")
}

func (x *logTarget) apply(*Machine) action { return actContinue }

// nflogTarget is -j NFLOG. Ref: xt_NFLOG.c.
type nflogTarget struct {
	group, threshold uint16
	prefix           string
	size, length     uint32
	hasSize          bool
}

func (x *nflogTarget) Name() string { return "NFLOG" }

func (x *nflogTarget) appendSave(b []byte) []byte {
	if x.prefix != "" {
		b = appendQuoted(append(b, " --nflog-prefix "...), x.prefix)
	}
	if x.group != 0 {
		b = fmt.Appendf(b, " --nflog-group %d", x.group)
	}
	switch {
	case x.hasSize:
		b = fmt.Appendf(b, " --nflog-size %d", x.size)
	case x.length != 0:
		b = fmt.Appendf(b, " --nflog-range %d", x.length)
	}
	if x.threshold != 0 {
		b = fmt.Appendf(b, " --nflog-threshold %d", x.threshold)
	}
	return b
}

func (x *nflogTarget) translate(t *translator) bool {
	text := "log"
	if x.prefix != "" {
		text += fmt.Sprintf(` prefix "%s"`, t.quotable(x.prefix))
	}
	if x.hasSize {
		text += fmt.Sprintf(" snaplen %d", x.size)
	}
	if x.threshold != 0 {
		text += fmt.Sprintf(" queue-threshold %d", x.threshold)
	}
	t.addf("%s group %d", text, x.group)
	return true
}

func (x *nflogTarget) apply(*Machine) action { return actContinue }

// traceTarget is -j TRACE. Ref: xt_TRACE.c.
type traceTarget struct{}

func (x *traceTarget) Name() string               { return "TRACE" }
func (x *traceTarget) appendSave(b []byte) []byte { return b }

func (x *traceTarget) translate(t *translator) bool {
	if t.reference {
		t.add("nftrace set 1")
	} else {
		t.add("meta nftrace set 1")
	}
	return true
}

func (x *traceTarget) apply(m *Machine) action {
	m.pkt.Meta.NFTrace = true
	return actContinue
}

// teeTarget is -j TEE: the clone's way is not followed. Ref: xt_TEE.c.
type teeTarget struct {
	gateway netip.Addr
	device  string
}

func (x *teeTarget) Name() string { return "TEE" }

func (x *teeTarget) appendSave(b []byte) []byte {
	b = fmt.Appendf(b, " --gateway %s", x.gateway)
	if x.device != "" {
		b = appendWord(append(b, " --oif "...), x.device)
	}
	return b
}

func (x *teeTarget) translate(t *translator) bool {
	switch {
	case x.device == "":
		t.addf("dup to %s", x.gateway)
	case t.reference:
		t.addf("dup to %s device %s", x.gateway, x.device)
	default:
		t.addf(`dup to %s device "%s"`, x.gateway, x.device)
	}
	return true
}

func (x *teeTarget) apply(*Machine) action { return actContinue }

// hostPacket makes a multicast frame that is sent to one address the host's.
func hostPacket(m *Machine) {
	if m.pkt.Meta.PktType == packet.PktMulticast && !m.pkt.View.DstAddr().IsMulticast() {
		m.pkt.Meta.PktType = packet.PktHost
	}
}
