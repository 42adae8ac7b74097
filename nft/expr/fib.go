package expr

import (
	"syscall"

	"verdict/catalog"
)

// Fib result kinds. Ref: include/uapi/linux/netfilter/nf_tables.h.
const (
	FibResultOif     uint32 = 1
	FibResultOifname uint32 = 2
	FibResultType    uint32 = 3
)

// Fib flags.
const (
	FibSaddr   uint32 = 1
	FibDaddr   uint32 = 2
	FibMark    uint32 = 4
	FibIif     uint32 = 8
	FibOif     uint32 = 16
	FibPresent uint32 = 32

	fibAll = FibSaddr | FibDaddr | FibMark | FibIif | FibOif | FibPresent
)

// Fib looks up the routing table.
// Ref: nft_fib.c.
type Fib struct {
	Result uint32
	Flags  uint32
	Dst    Reg
}

// Kind is fib.
func (*Fib) Kind() string { return "fib" }

// AppendText appends `fib saddr . iif oif => reg 1`.
func (e *Fib) AppendText(b []byte) []byte {
	b = append(b, "fib "...)
	sep := ""
	for _, f := range catalog.FibFlags {
		if e.Flags&uint32(f.Value) != 0 {
			b = append(append(b, sep...), f.Name...)
			sep = " . "
		}
	}
	name := "unknown"
	if k := catalog.FibResultByNumber(e.Result); k != nil {
		name = k.Name
	}
	b = append(append(b, ' '), name...)
	if e.Flags&FibPresent != 0 {
		b = append(b, " present"...)
	}
	return appendReg(append(b, " => "...), e.Dst)
}

// Check refuses families other than ip, ip6, inet and netdev (ENOENT),
// unknown results (EOPNOTSUPP in ip and ip6 tables, else EINVAL), unknown
// flags, tuples with none or both of the addresses or with both interfaces,
// interface results of a tuple with oif, and presence of anything but oif
// (all EINVAL).
// Ref: nft_fib.c, nft_fib_init.
func (e *Fib) Check(c *Checker) error {
	if err := c.only("fib", familyIP, familyIP6, familyInet, familyNetdev); err != nil {
		return err
	}
	if e.Result < FibResultOif || e.Result > FibResultType {
		if c.Place.Family == familyIP || c.Place.Family == familyIP6 {
			return refuse(syscall.EOPNOTSUPP, "unknown result %d", e.Result)
		}
		return refuse(syscall.EINVAL, "unknown result %d", e.Result)
	}
	switch f := e.Flags; {
	case f == 0 || f&^fibAll != 0:
		return refuse(syscall.EINVAL, "unknown flags %#x", f)
	case f&(FibSaddr|FibDaddr) == FibSaddr|FibDaddr:
		return refuse(syscall.EINVAL, "both saddr and daddr")
	case f&(FibIif|FibOif) == FibIif|FibOif:
		return refuse(syscall.EINVAL, "both iif and oif")
	case f&(FibSaddr|FibDaddr) == 0:
		return refuse(syscall.EINVAL, "neither saddr nor daddr")
	case f&FibOif != 0 && e.Result != FibResultType:
		return refuse(syscall.EINVAL, "output interface of a tuple with oif")
	case f&FibPresent != 0 && e.Result != FibResultOif:
		return refuse(syscall.EINVAL, "presence of something else than oif")
	}
	return c.store(e.Dst, e.length())
}

// length is the size of the result.
func (e *Fib) length() uint32 {
	if e.Result == FibResultOifname {
		return 16
	}
	return 4
}

// Registers writes Dst.
func (e *Fib) Registers(*Place) RegUse { return writes(e.Dst, e.length()) }

func parseFib(p *textParser) Expr {
	e := &Fib{}
	for {
		start := p.space()
		w := p.word()
		var bit uint32
		for _, f := range catalog.FibFlags {
			if f.Name == w {
				bit = uint32(f.Value)
			}
		}
		if bit == 0 {
			p.failAt(start, "unknown part %s of the tuple", found(w))
			return e
		}
		e.Flags |= bit
		if !p.accept(".") {
			break
		}
	}
	if k := p.key("fib result", catalog.FibResults); k != nil {
		e.Result = k.Number
	}
	if p.accept("present") {
		e.Flags |= FibPresent
	}
	p.expect("=>")
	e.Dst = p.reg()
	return e
}
