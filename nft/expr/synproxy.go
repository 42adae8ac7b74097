package expr

import "syscall"

// Synproxy flags. Ref: include/uapi/linux/netfilter/nf_synproxy.h.
const (
	SynproxyMSS       uint32 = 1
	SynproxyWScale    uint32 = 2
	SynproxySackPerm  uint32 = 4
	SynproxyTimestamp uint32 = 8

	synproxyAll = SynproxyMSS | SynproxyWScale | SynproxySackPerm | SynproxyTimestamp
)

// Synproxy answers SYN packets in place of the server.
// Ref: nft_synproxy.c.
type Synproxy struct {
	MSS    uint16
	WScale uint8
	Flags  uint32 // SynproxyMSS, …; text does not show them
}

// Kind is synproxy.
func (*Synproxy) Kind() string { return "synproxy" }

// AppendText appends `synproxy mss 1460 wscale 7`.
func (e *Synproxy) AppendText(b []byte) []byte {
	b = appendNamed(append(b, "synproxy"...), "mss", uint64(e.MSS))
	return appendNamed(b, "wscale", uint64(e.WScale))
}

// Check refuses unknown flags (EOPNOTSUPP) and arp and netdev tables
// (EPROTO).
// Ref: nft_synproxy.c, nft_synproxy_do_init.
func (e *Synproxy) Check(c *Checker) error {
	if e.Flags&^synproxyAll != 0 {
		return refuse(syscall.EOPNOTSUPP, "unknown flags %#x", e.Flags)
	}
	return c.tracked("synproxy")
}

// Registers uses none.
func (*Synproxy) Registers(*Place) RegUse { return RegUse{} }

func parseSynproxy(p *textParser) Expr {
	e := &Synproxy{}
	p.expect("mss")
	e.MSS = uint16(p.uint(16))
	p.expect("wscale")
	e.WScale = uint8(p.uint(8))
	if e.MSS != 0 {
		e.Flags |= SynproxyMSS
	}
	if e.WScale != 0 {
		e.Flags |= SynproxyWScale
	}
	return e
}
