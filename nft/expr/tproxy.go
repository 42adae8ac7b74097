package expr

import "syscall"

// TProxy hands the packet to a local socket.
// Ref: nft_tproxy.c.
type TProxy struct {
	Family           uint8 // 2, 10, or 0 for either
	Addr, Port       Reg
	HasAddr, HasPort bool
}

// Kind is tproxy.
func (*TProxy) Kind() string { return "tproxy" }

// AppendText appends `tproxy ip addr reg 1 port reg 2` with what applies.
func (e *TProxy) AppendText(b []byte) []byte {
	b = append(b, "tproxy"...)
	switch e.Family {
	case familyIP:
		b = append(b, " ip"...)
	case familyIP6:
		b = append(b, " ip6"...)
	}
	b = appendNamedReg(b, "addr", e.Addr, e.HasAddr)
	return appendNamedReg(b, "port", e.Port, e.HasPort)
}

// Check refuses rules with neither address nor port and families other than
// the table's (EINVAL), tables other than ip, ip6 and inet, other families
// (EOPNOTSUPP), and an address without a family (EINVAL).
// Ref: nft_tproxy.c, nft_tproxy_init.
func (e *TProxy) Check(c *Checker) error {
	if !e.HasAddr && !e.HasPort {
		return refuse(syscall.EINVAL, "neither an address nor a port")
	}
	switch c.Place.Family {
	case familyIP, familyIP6:
		if e.Family != c.Place.Family {
			return refuse(syscall.EINVAL, "family %d in a table of family %d", e.Family, c.Place.Family)
		}
	case familyInet:
	default:
		return refuse(syscall.EOPNOTSUPP, "tproxy exists in ip, ip6 and inet tables only")
	}
	switch e.Family {
	case familyIP, familyIP6:
	case 0:
		if e.HasAddr {
			return refuse(syscall.EINVAL, "an address without a family")
		}
	default:
		return refuse(syscall.EOPNOTSUPP, "unknown family %d", e.Family)
	}
	if e.HasAddr {
		if err := c.load(e.Addr, addressLen(e.Family)); err != nil {
			return err
		}
	}
	if e.HasPort {
		return c.load(e.Port, portLen)
	}
	return nil
}

// Registers reads the address and port that are there.
func (e *TProxy) Registers(*Place) (u RegUse) {
	if e.HasAddr {
		u.addRead(e.Addr, addressLen(e.Family))
	}
	if e.HasPort {
		u.addRead(e.Port, portLen)
	}
	return u
}

func parseTProxy(p *textParser) Expr {
	e := &TProxy{}
	switch {
	case p.accept("ip"):
		e.Family = familyIP
	case p.accept("ip6"):
		e.Family = familyIP6
	}
	e.Addr, e.HasAddr = p.namedReg("addr")
	e.Port, e.HasPort = p.namedReg("port")
	return e
}
