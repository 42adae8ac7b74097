package expr

import (
	"syscall"

	"verdict/catalog"
)

// XFRM loads a key of the IPsec transformation.
// Ref: nft_xfrm.c.
type XFRM struct {
	Key   *catalog.Key // reqid, spi, saddr4, daddr4, saddr6, daddr6
	Out   bool
	Spnum uint32
	Dst   Reg
}

// Kind is xfrm.
func (*XFRM) Kind() string { return "xfrm" }

// AppendText appends `xfrm load in 0 reqid => reg 1`.
func (e *XFRM) AppendText(b []byte) []byte {
	dir := "xfrm load in "
	if e.Out {
		dir = "xfrm load out "
	}
	b = append(appendUint(append(b, dir...), uint64(e.Spnum)), ' ')
	b = append(append(b, keyName(e.Key)...), " => "...)
	return appendReg(b, e.Dst)
}

// maxTransforms is how many transformations a packet can have.
// Ref: include/net/xfrm.h, XFRM_MAX_DEPTH.
const maxTransforms = 6

// Check refuses families other than ip, ip6 and inet (EOPNOTSUPP), unknown
// keys (EINVAL), and transformations that no packet has (ERANGE).
// Ref: nft_xfrm.c, nft_xfrm_get_init.
func (e *XFRM) Check(c *Checker) error {
	switch c.Place.Family {
	case familyIP, familyIP6, familyInet:
	default:
		return refuse(syscall.EOPNOTSUPP, "ipsec exists in ip, ip6 and inet tables only")
	}
	if e.Key == nil {
		return refuse(syscall.EINVAL, "unknown ipsec key")
	}
	if e.Spnum >= maxTransforms {
		return refuse(syscall.ERANGE, "transformation %d, packets have at most %d", e.Spnum, maxTransforms)
	}
	return c.store(e.Dst, keyLen(e.Key))
}

// Registers writes Dst.
func (e *XFRM) Registers(*Place) RegUse { return writes(e.Dst, keyLen(e.Key)) }

func parseXFRM(p *textParser) Expr {
	p.expect("load")
	e := &XFRM{Out: p.oneOf("direction", []string{"in", "out"}) == 1}
	e.Spnum = uint32(p.uint(32))
	e.Key = p.key("ipsec key", catalog.XFRMKeys)
	_, e.Dst = p.keyRegister(false)
	return e
}
