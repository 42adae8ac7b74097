package expr

import (
	"strconv"
	"strings"
	"syscall"
)

// Log flags. Ref: include/uapi/linux/netfilter/nf_log.h.
const (
	LogTCPSeq    uint32 = 0x01
	LogTCPOpt    uint32 = 0x02
	LogIPOpt     uint32 = 0x04
	LogUID       uint32 = 0x08
	LogMACDecode uint32 = 0x20

	logAll = LogTCPSeq | LogTCPOpt | LogIPOpt | LogUID | LogMACDecode
)

// logFlags are the flags' names, in the order of text.
var logFlags = []struct {
	name string
	bit  uint32
}{{"tcpseq", LogTCPSeq}, {"tcpopt", LogTCPOpt}, {"ipopt", LogIPOpt}, {"uid", LogUID}, {"macdecode", LogMACDecode}}

// Log logs the packet. Which attributes are present matters for the text.
// Ref: nft_log.c.
type Log struct {
	Prefix     string
	HasPrefix  bool
	Group      uint16
	HasGroup   bool
	Snaplen    uint32
	HasSnaplen bool
	QThreshold uint16
	HasQThresh bool
	Level      uint32
	HasLevel   bool
	Flags      uint32 // LogTCPSeq, …
	HasFlags   bool
}

// Kind is log.
func (*Log) Kind() string { return "log" }

// AppendText appends `log prefix x level 6 uid` or
// `log group 2 snaplen 0 qthreshold 0`. The prefix is not quoted.
func (e *Log) AppendText(b []byte) []byte {
	b = append(b, "log"...)
	if e.HasPrefix {
		b = append(append(b, " prefix "...), e.Prefix...)
	}
	if e.HasGroup {
		b = appendNamed(b, "group", uint64(e.Group))
		b = appendNamed(b, "snaplen", uint64(e.Snaplen))
		return appendNamed(b, "qthreshold", uint64(e.QThreshold))
	}
	if e.HasLevel {
		b = appendNamed(b, "level", uint64(e.Level))
	}
	for _, f := range logFlags {
		if e.Flags&f.bit != 0 {
			b = append(append(b, ' '), f.name...)
		}
	}
	return b
}

const (
	maxLogPrefix = 127
	maxLogLevel  = 8 // audit
)

// Check refuses prefixes of more than 127 bytes (ERANGE), a level together
// with a group, unknown levels and unknown flags (EINVAL).
// Ref: nft_log.c, nft_log_init.
func (e *Log) Check(*Checker) error {
	switch {
	case len(e.Prefix) > maxLogPrefix:
		return refuse(syscall.ERANGE, "log prefix of %d bytes, more than %d", len(e.Prefix), maxLogPrefix)
	case e.HasLevel && e.HasGroup:
		return refuse(syscall.EINVAL, "both a level and a group")
	case e.HasLevel && e.Level > maxLogLevel:
		return refuse(syscall.EINVAL, "unknown level %d", e.Level)
	case e.HasFlags && e.Flags&^logAll != 0:
		return refuse(syscall.EINVAL, "unknown flags %#x", e.Flags)
	}
	return nil
}

// Registers uses none.
func (*Log) Registers(*Place) RegUse { return RegUse{} }

// parseLog reads from the end of the line, since nothing marks the end of the
// prefix: whatever cannot be one of the other attributes belongs to it.
func parseLog(p *textParser) Expr {
	e := &Log{}
	start := p.space()
	rest := p.s[start:]
	if i := strings.LastIndexByte(rest, ']'); i >= 0 && p.bracketed() {
		rest = rest[:i]
	}
	p.pos = start + len(rest)
	if text, ok := strings.CutPrefix(rest, "prefix "); ok {
		e.HasPrefix = true
		if p.bracketed() {
			text = strings.TrimSuffix(text, " ") // the blank before the bracket
		}
		e.Prefix = e.cutAttributes(text)
		return e
	}
	if left := e.cutAttributes(" " + strings.TrimRight(rest, " \t\r")); strings.TrimSpace(left) != "" {
		p.failAt(start, "unknown attributes %q", strings.TrimSpace(left))
	}
	return e
}

// bracketed reports whether the line is in brackets.
func (p *textParser) bracketed() bool {
	return strings.HasPrefix(strings.TrimLeft(p.s, " \t"), "[")
}

// cutAttributes takes the attributes off the end of text and gives what is
// left.
func (e *Log) cutAttributes(text string) string {
	if rest, ok := e.cutGroup(text); ok {
		return rest
	}
	for i := len(logFlags) - 1; i >= 0; i-- {
		if rest, ok := strings.CutSuffix(text, " "+logFlags[i].name); ok {
			text = rest
			e.Flags |= logFlags[i].bit
			e.HasFlags = true
		}
	}
	if rest, n, ok := cutNumber(text, "level", 32); ok {
		text = rest
		e.Level, e.HasLevel = uint32(n), true
	}
	return text
}

func (e *Log) cutGroup(text string) (string, bool) {
	rest, threshold, ok := cutNumber(text, "qthreshold", 16)
	if !ok {
		return text, false
	}
	rest, snaplen, ok := cutNumber(rest, "snaplen", 32)
	if !ok {
		return text, false
	}
	rest, group, ok := cutNumber(rest, "group", 16)
	if !ok {
		return text, false
	}
	e.Group, e.HasGroup = uint16(group), true
	e.Snaplen, e.HasSnaplen = uint32(snaplen), snaplen != 0
	e.QThreshold, e.HasQThresh = uint16(threshold), threshold != 0
	return rest, true
}

// cutNumber takes ` name N` off the end of text.
func cutNumber(text, name string, bits int) (rest string, n uint64, ok bool) {
	i := strings.LastIndexByte(text, ' ')
	if i < 0 {
		return text, 0, false
	}
	n, err := strconv.ParseUint(text[i+1:], 10, bits)
	if err != nil {
		return text, 0, false
	}
	rest, ok = strings.CutSuffix(text[:i], " "+name)
	return rest, n, ok
}
