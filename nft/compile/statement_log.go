package compile

import (
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

var logLevelNames = []string{"emerg", "alert", "crit", "err", "warn", "notice", "info", "debug", "audit"}

const logLevelAudit = 8

// Log flags. Ref: include/uapi/linux/netfilter/nf_log.h.
const (
	logTCPSequence = 1
	logTCPOptions  = 2
	logIPOptions   = 4
	logUID         = 8
	logMACDecode   = 0x20
	logAll         = 0x2f
)

func (r *rule) logStatement(s *syntax.Log) {
	l := &expr.Log{}
	if s.Prefix != nil {
		x, ok := r.logPrefix(s.Prefix)
		if !ok {
			return
		}
		l.Prefix, l.HasPrefix = x, true
	}
	for _, f := range s.Flags {
		l.Flags |= logFlagBits(f)
		l.HasFlags = true
	}
	if s.Level.Given() {
		level := -1
		for i, name := range logLevelNames {
			if name == s.Level.Text {
				level = i
			}
		}
		if level < 0 {
			r.errorf(s.Level.Span, "compile/log", "invalid log level '%s'", s.Level.Text).Expected = logLevelNames
			return
		}
		l.Level, l.HasLevel = uint32(level), true
	}
	group := s.Group != nil || s.Snaplen != nil || s.QueueThreshold != nil
	switch {
	case group && l.HasLevel:
		r.errorf(s.Span, "compile/log", "level and group are mutually exclusive")
		return
	case group && l.HasFlags:
		r.errorf(s.Span, "compile/log", "flags and group are mutually exclusive")
		return
	case l.Level == logLevelAudit && l.HasLevel && (l.HasFlags || l.HasPrefix):
		r.errorf(s.Span, "compile/log", "log level audit doesn't support any additional options")
		return
	}
	if s.Group != nil {
		l.Group, l.HasGroup = uint16(s.Group.Value), true
	}
	if s.Snaplen != nil {
		l.Snaplen, l.HasSnaplen = uint32(s.Snaplen.Value), true
	}
	if s.QueueThreshold != nil {
		l.QThreshold, l.HasQThresh = uint16(s.QueueThreshold.Value), true
	}
	if group {
		l.HasGroup = true
	}
	r.insert(emitted{l})
}

const maxLogPrefix = 127

// logPrefix evaluates the prefix, which may hold variables.
func (r *rule) logPrefix(e syntax.Expr) (string, bool) {
	l, ok := r.expand(e).(*syntax.Literal)
	if !ok {
		r.errorf(e.Place(), "compile/log", "a string is needed here")
		return "", false
	}
	text := l.Text
	if l.Kind == syntax.LitQuoted {
		text, ok = r.substitute(l)
		if !ok {
			return "", false
		}
	}
	if len(text) > maxLogPrefix {
		r.errorf(e.Place(), "compile/log", "log prefix is too long")
		return "", false
	}
	return text, true
}

// substitute replaces $name inside a string.
func (r *rule) substitute(l *syntax.Literal) (string, bool) {
	text := l.Text
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '$' {
			out = append(out, text[i])
			continue
		}
		end := i + 1
		for end < len(text) && isNameByte(text[end]) {
			end++
		}
		if end == i+1 {
			out = append(out, '$')
			continue
		}
		b := r.scope.find(text[i+1 : end])
		if b == nil {
			r.unknownSymbol(l.Span, text[i+1:end])
			return "", false
		}
		v, ok := r.peek(b.value).(*syntax.Literal)
		if !ok {
			r.errorf(l.Span, "compile/log", "unknown identifier '%s' in string", text[i+1:end])
			return "", false
		}
		out = append(out, v.Text...)
		i = end - 1
	}
	return string(out), true
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func logFlagBits(f syntax.LogFlag) uint32 {
	switch f.Name.Text {
	case "all":
		return logAll
	case "skuid":
		return logUID
	case "ether":
		return logMACDecode
	case "ip":
		return logIPOptions
	}
	var bits uint32
	for _, s := range f.Sub {
		if s.Text == "sequence" {
			bits |= logTCPSequence
		} else {
			bits |= logTCPOptions
		}
	}
	return bits
}
