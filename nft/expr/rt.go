package expr

import (
	"syscall"

	"verdict/catalog"
)

// RT loads a routing key.
// Ref: nft_rt.c.
type RT struct {
	Key *catalog.Key // classid, nexthop4, nexthop6, tcpmss, ipsec
	Dst Reg
}

// Kind is rt.
func (*RT) Kind() string { return "rt" }

// AppendText appends `rt load classid => reg 1`.
func (e *RT) AppendText(b []byte) []byte {
	return appendKey(append(b, "rt "...), e.Key, false, 0, e.Dst)
}

// Check refuses unknown keys (EOPNOTSUPP).
// Ref: nft_rt.c, nft_rt_get_init.
func (e *RT) Check(c *Checker) error {
	if e.Key == nil {
		return refuse(syscall.EOPNOTSUPP, "unknown rt key")
	}
	return c.store(e.Dst, keyLen(e.Key))
}

// Registers writes Dst.
func (e *RT) Registers(*Place) RegUse { return writes(e.Dst, keyLen(e.Key)) }

func parseRT(p *textParser) Expr {
	p.expect("load")
	e := &RT{Key: p.key("rt key", catalog.RTKeys)}
	_, e.Dst = p.keyRegister(false)
	return e
}
