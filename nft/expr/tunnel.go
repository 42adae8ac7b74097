package expr

import (
	"syscall"

	"verdict/catalog"
)

// Tunnel loads a key of tunnel metadata.
// Ref: nft_tunnel.c.
type Tunnel struct {
	Key *catalog.Key // path, id
	Dst Reg
}

// Kind is tunnel.
func (*Tunnel) Kind() string { return "tunnel" }

// AppendText appends `tunnel load id => reg 1`.
func (e *Tunnel) AppendText(b []byte) []byte {
	return appendKey(append(b, "tunnel "...), e.Key, false, 0, e.Dst)
}

// Check refuses families other than netdev (ENOENT) and unknown keys
// (EOPNOTSUPP).
// Ref: nft_tunnel.c, nft_tunnel_get_init.
func (e *Tunnel) Check(c *Checker) error {
	if err := c.only("tunnel", familyNetdev); err != nil {
		return err
	}
	if e.Key == nil {
		return refuse(syscall.EOPNOTSUPP, "unknown tunnel key")
	}
	return c.store(e.Dst, keyLen(e.Key))
}

// Registers writes Dst.
func (e *Tunnel) Registers(*Place) RegUse { return writes(e.Dst, keyLen(e.Key)) }

func parseTunnel(p *textParser) Expr {
	p.expect("load")
	e := &Tunnel{Key: p.key("tunnel key", catalog.TunnelKeys)}
	_, e.Dst = p.keyRegister(false)
	return e
}
