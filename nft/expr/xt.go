package expr

import "syscall"

// XT stands for an iptables extension in a rule of iptables-nft. It has no
// native form.
// Ref: nft_compat.c.
type XT struct {
	Target bool
	Name   string
	Rev    uint32
	Info   []byte
}

// Kind is match or target.
func (e *XT) Kind() string {
	if e.Target {
		return "target"
	}
	return "match"
}

// AppendText appends `match name conntrack rev 3`. It does not show Info.
func (e *XT) AppendText(b []byte) []byte {
	b = append(append(append(b, e.Kind()...), " name "...), e.Name...)
	return appendNamed(b, "rev", uint64(e.Rev))
}

// Check refuses extensions without a name (ENOENT) and revisions above 255
// (ERANGE).
func (e *XT) Check(*Checker) error {
	if e.Name == "" {
		return refuse(syscall.ENOENT, "%s without a name", e.Kind())
	}
	if e.Rev > 255 {
		return refuse(syscall.ERANGE, "revision %d is larger than 255", e.Rev)
	}
	return nil
}

// Registers uses none.
func (*XT) Registers(*Place) RegUse { return RegUse{} }

func parseMatch(p *textParser) Expr  { return parseXT(p, false) }
func parseTarget(p *textParser) Expr { return parseXT(p, true) }

func parseXT(p *textParser, target bool) Expr {
	e := &XT{Target: target}
	p.expect("name")
	e.Name = p.name("an extension")
	p.expect("rev")
	e.Rev = uint32(p.uint(32))
	return e
}
