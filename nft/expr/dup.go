package expr

import "syscall"

// Dup sends a copy elsewhere.
// Ref: nft_dup_ipv4.c, nft_dup_ipv6.c, nft_dup_netdev.c.
type Dup struct {
	Addr, Dev       Reg
	HasAddr, HasDev bool
}

// Kind is dup.
func (*Dup) Kind() string { return "dup" }

// AppendText appends `dup sreg_addr 1 sreg_dev 2` with what applies.
func (e *Dup) AppendText(b []byte) []byte {
	b = append(b, "dup"...)
	if e.HasAddr {
		b = appendNamed(b, "sreg_addr", uint64(e.Addr))
	}
	if e.HasDev {
		b = appendNamed(b, "sreg_dev", uint64(e.Dev))
	}
	return b
}

const ifindexLen = 4

// Check refuses families other than ip, ip6 and netdev (ENOENT), no address
// in ip and ip6 tables, and no device in netdev tables (EINVAL).
func (e *Dup) Check(c *Checker) error {
	if err := c.only("dup", familyIP, familyIP6, familyNetdev); err != nil {
		return err
	}
	if c.Place.Family == familyNetdev {
		if !e.HasDev {
			return refuse(syscall.EINVAL, "no device")
		}
		return c.load(e.Dev, ifindexLen)
	}
	if !e.HasAddr {
		return refuse(syscall.EINVAL, "no address")
	}
	if err := c.load(e.Addr, addressLen(c.Place.Family)); err != nil {
		return err
	}
	if !e.HasDev {
		return nil
	}
	return c.load(e.Dev, ifindexLen)
}

// Registers reads the address and device that are there.
func (e *Dup) Registers(p *Place) (u RegUse) {
	if e.HasAddr {
		u.addRead(e.Addr, addressLen(p.Family))
	}
	if e.HasDev {
		u.addRead(e.Dev, ifindexLen)
	}
	return u
}

func parseDup(p *textParser) Expr {
	e := &Dup{}
	if e.HasAddr = p.accept("sreg_addr"); e.HasAddr {
		e.Addr = p.regNumber()
	}
	if e.HasDev = p.accept("sreg_dev"); e.HasDev {
		e.Dev = p.regNumber()
	}
	return e
}
