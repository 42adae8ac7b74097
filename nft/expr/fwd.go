package expr

import "syscall"

// Fwd forwards the packet to a device.
// Ref: nft_fwd_netdev.c.
type Fwd struct {
	Dev, Addr Reg
	HasAddr   bool
	NFProto   uint8
}

// Kind is fwd.
func (*Fwd) Kind() string { return "fwd" }

// AppendText appends `fwd sreg_dev 1`, perhaps with ` sreg_addr 2 nfproto 2`.
func (e *Fwd) AppendText(b []byte) []byte {
	b = appendNamed(append(b, "fwd"...), "sreg_dev", uint64(e.Dev))
	if e.HasAddr {
		b = appendNamed(b, "sreg_addr", uint64(e.Addr))
		b = appendNamed(b, "nfproto", uint64(e.NFProto))
	}
	return b
}

// Check refuses families other than netdev (ENOENT) and addresses of other
// protocols than IPv4 and IPv6 (EOPNOTSUPP).
// Ref: nft_fwd_netdev.c, nft_fwd_netdev_init, nft_fwd_neigh_init.
func (e *Fwd) Check(c *Checker) error {
	if err := c.only("fwd", familyNetdev); err != nil {
		return err
	}
	if e.HasAddr && addressLen(e.NFProto) == 0 {
		return refuse(syscall.EOPNOTSUPP, "an address of protocol %d", e.NFProto)
	}
	if err := c.load(e.Dev, ifindexLen); err != nil {
		return err
	}
	if !e.HasAddr {
		return nil
	}
	return c.load(e.Addr, addressLen(e.NFProto))
}

// Registers reads the device and perhaps the address.
func (e *Fwd) Registers(*Place) RegUse {
	u := reads(e.Dev, ifindexLen)
	if e.HasAddr {
		u.addRead(e.Addr, addressLen(e.NFProto))
	}
	return u
}

func parseFwd(p *textParser) Expr {
	e := &Fwd{}
	p.expect("sreg_dev")
	e.Dev = p.regNumber()
	if e.HasAddr = p.accept("sreg_addr"); e.HasAddr {
		e.Addr = p.regNumber()
		p.expect("nfproto")
		e.NFProto = uint8(p.uint(8))
	}
	return e
}
