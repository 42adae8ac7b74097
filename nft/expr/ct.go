package expr

import (
	"syscall"

	"verdict/catalog"
)

// CT loads a conntrack key into Dst, or sets it from Src.
// Ref: nft_ct.c.
type CT struct {
	Key      *catalog.Key
	Dst, Src Reg
	Set      bool
	HasDir   bool
	Dir      uint8 // 0 original, 1 reply
}

// Kind is ct.
func (*CT) Kind() string { return "ct" }

// AppendText appends `ct load state => reg 1`, perhaps with ` , dir original`,
// or `ct set mark with reg 1`.
func (e *CT) AppendText(b []byte) []byte {
	b = appendKey(append(b, "ct "...), e.Key, e.Set, e.Src, e.Dst)
	if !e.HasDir {
		return b
	}
	if e.Dir == 0 {
		return append(b, " , dir original"...)
	}
	return append(b, " , dir reply"...)
}

// Keys of ct that checks look at, by the kernel's number.
const (
	ctSrc  = 8
	ctDst  = 9
	ctZone = 17
)

// keyLen is the size of the value: addresses without a family are as long as
// those of the table's.
func (e *CT) keyLen(p *Place) uint32 {
	if e.Key != nil && (e.Key.Number == ctSrc || e.Key.Number == ctDst) {
		return p.addressLen()
	}
	return keyLen(e.Key)
}

// Check refuses unknown keys and keys that cannot be read or set
// (EOPNOTSUPP), unknown directions, directions for keys that have none and
// keys that lack their direction (EINVAL), and addresses without a family
// outside ip, ip6 and inet (EAFNOSUPPORT), and arp and netdev tables
// (EPROTO).
// Ref: nft_ct.c, nft_ct_get_init, nft_ct_set_init.
func (e *CT) Check(c *Checker) error {
	switch {
	case e.Key == nil:
		return refuse(syscall.EOPNOTSUPP, "unknown ct key")
	case e.HasDir && e.Dir > 1:
		return refuse(syscall.EINVAL, "unknown direction %d", e.Dir)
	case e.Set && !e.Key.Settable:
		return refuse(syscall.EOPNOTSUPP, "ct %s cannot be set", e.Key.Name)
	case e.Set && e.HasDir && e.Key.Number != ctZone:
		return refuse(syscall.EINVAL, "ct %s is set without a direction", e.Key.Name)
	case e.Set:
		if err := c.load(e.Src, keyLen(e.Key)); err != nil {
			return err
		}
		return c.tracked("ct")
	case e.Key.SetOnly:
		return refuse(syscall.EOPNOTSUPP, "ct %s can only be set", e.Key.Name)
	case e.HasDir && !e.Key.DirOK:
		return refuse(syscall.EINVAL, "ct %s has no direction", e.Key.Name)
	case !e.HasDir && e.Key.NeedsDir:
		return refuse(syscall.EINVAL, "ct %s needs a direction", e.Key.Name)
	}
	if e.Key.Number == ctSrc || e.Key.Number == ctDst {
		switch c.Place.Family {
		case familyIP, familyIP6, familyInet:
		default:
			return refuse(syscall.EAFNOSUPPORT, "ct %s without a family", e.Key.Name)
		}
	}
	if err := c.store(e.Dst, e.keyLen(&c.Place)); err != nil {
		return err
	}
	return c.tracked("ct")
}

// Registers writes Dst, or reads Src.
func (e *CT) Registers(p *Place) RegUse {
	if e.Set {
		return reads(e.Src, keyLen(e.Key))
	}
	return writes(e.Dst, e.keyLen(p))
}

func parseCT(p *textParser) Expr {
	e := &CT{Set: p.oneOf("form", []string{"load", "set"}) == 1}
	e.Key = p.key("ct key", catalog.CTKeys)
	e.Src, e.Dst = p.keyRegister(e.Set)
	if p.accept(",") {
		p.expect("dir")
		e.HasDir, e.Dir = true, uint8(p.oneOf("direction", []string{"original", "reply"}))
	}
	return e
}
