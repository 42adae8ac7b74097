package expr

import "syscall"

// Exthdr operations. Ref: enum nft_exthdr_op.
const (
	ExthdrIPv6   uint32 = 0
	ExthdrTCPOpt uint32 = 1
	ExthdrIPv4   uint32 = 2
	ExthdrSCTP   uint32 = 3
	ExthdrDCCP   uint32 = 4
)

// exthdrNames are the names of operations in text. SCTP and DCCP have none.
var exthdrNames = [...]string{"ipv6", "tcpopt", "ipv4", "", ""}

// Exthdr loads from an extension header or option, writes into a TCP option
// (Write) or blanks one out (Strip).
// Ref: nft_exthdr.c.
type Exthdr struct {
	Op          uint32 // ExthdrIPv6, …
	Type        uint8
	Offset, Len uint32
	Present     bool // load 1 or 0 for presence
	Dst, Src    Reg
	Write       bool
	Strip       bool
}

// Kind is exthdr.
func (*Exthdr) Kind() string { return "exthdr" }

// AppendText appends `exthdr load tcpopt 2b @ 2 + 2 => reg 1`, the same with
// `present`, `exthdr write tcpopt reg 1 => 2b @ 2 + 2` or
// `exthdr reset tcpopt 30`.
func (e *Exthdr) AppendText(b []byte) []byte {
	switch {
	case e.Strip:
		b = e.appendName(append(b, "exthdr reset "...))
		return appendUint(b, uint64(e.Type))
	case e.Write:
		b = e.appendName(append(b, "exthdr write "...))
		return e.appendPlace(append(appendReg(b, e.Src), " => "...))
	}
	b = e.appendPlace(e.appendName(append(b, "exthdr load "...)))
	if e.Present {
		b = append(b, " present"...)
	}
	return appendReg(append(b, " => "...), e.Dst)
}

// appendName appends the operation's name and a blank, if it has one.
func (e *Exthdr) appendName(b []byte) []byte {
	if e.Op >= uint32(len(exthdrNames)) || exthdrNames[e.Op] == "" {
		return b
	}
	return append(append(b, exthdrNames[e.Op]...), ' ')
}

func (e *Exthdr) appendPlace(b []byte) []byte {
	b = append(appendUint(b, uint64(e.Len)), "b @ "...)
	b = append(appendUint(b, uint64(e.Type)), " + "...)
	return appendUint(b, uint64(e.Offset))
}

// IPv4 options that the kernel knows. Ref: include/uapi/linux/ip.h.
const (
	ipOptRR   = 7
	ipOptLSRR = 131
	ipOptSSRR = 137
	ipOptRA   = 148
)

// Check refuses unknown operations and options, IPv4 options in ip6 tables,
// DCCP options without Present and writes to other places than 2 or 4 bytes
// from the second byte of a TCP option (all EOPNOTSUPP), offsets and lengths
// above 255 (ERANGE), and Present with another length than 1 or on writes
// (EINVAL).
// Ref: nft_exthdr.c, nft_exthdr_select_ops and the init functions.
func (e *Exthdr) Check(c *Checker) error {
	if e.Strip || e.Write {
		return e.checkChange(c)
	}
	switch e.Op {
	case ExthdrIPv6, ExthdrTCPOpt, ExthdrSCTP:
	case ExthdrIPv4:
		if c.Place.Family == familyIP6 {
			return refuse(syscall.EOPNOTSUPP, "IPv4 option in an ip6 table")
		}
	case ExthdrDCCP:
		if !e.Present {
			return refuse(syscall.EOPNOTSUPP, "only the presence of DCCP options can be tested")
		}
	default:
		return refuse(syscall.EOPNOTSUPP, "unknown operation %d", e.Op)
	}
	if err := e.checkPlace(); err != nil {
		return err
	}
	if e.Op == ExthdrIPv4 {
		switch e.Type {
		case ipOptRR, ipOptLSRR, ipOptSSRR, ipOptRA:
		default:
			return refuse(syscall.EOPNOTSUPP, "unknown IPv4 option %d", e.Type)
		}
	}
	if e.Present && e.Len != 1 {
		return refuse(syscall.EINVAL, "presence has 1 byte, not %d", e.Len)
	}
	return c.store(e.Dst, e.Len)
}

func (e *Exthdr) checkPlace() error {
	if e.Offset > 255 || e.Len > 255 {
		return refuse(syscall.ERANGE, "offset %d and length %d must not be larger than 255", e.Offset, e.Len)
	}
	return nil
}

func (e *Exthdr) checkChange(c *Checker) error {
	switch {
	case e.Op != ExthdrTCPOpt:
		return refuse(syscall.EOPNOTSUPP, "only TCP options can be changed")
	case e.Strip && e.Write:
		return refuse(syscall.EOPNOTSUPP, "both a write and a reset")
	case e.Strip:
		return nil
	case e.Present:
		return refuse(syscall.EINVAL, "write of presence")
	}
	if err := e.checkPlace(); err != nil {
		return err
	}
	if e.Offset < 2 || (e.Len != 2 && e.Len != 4) {
		return refuse(syscall.EOPNOTSUPP, "write of %d bytes at offset %d of a TCP option", e.Len, e.Offset)
	}
	return c.load(e.Src, e.Len)
}

// Registers writes Dst, or reads Src.
func (e *Exthdr) Registers(*Place) RegUse {
	switch {
	case e.Strip:
		return RegUse{}
	case e.Write:
		return reads(e.Src, e.Len)
	}
	return writes(e.Dst, e.Len)
}

func parseExthdr(p *textParser) Expr {
	form := p.oneOf("form", []string{"load", "write", "reset"})
	e := &Exthdr{Op: ExthdrSCTP, Write: form == 1, Strip: form == 2}
	for op, name := range exthdrNames[:ExthdrSCTP] {
		if p.accept(name) {
			e.Op = uint32(op)
			break
		}
	}
	if e.Strip {
		e.Type = uint8(p.uint(8))
		return e
	}
	if e.Write {
		e.Src = p.reg()
		p.expect("=>")
	}
	e.Len = uint32(p.suffixed("b", 32))
	p.expect("@")
	e.Type = uint8(p.uint(8))
	p.expect("+")
	e.Offset = uint32(p.uint(32))
	if e.Write {
		return e
	}
	e.Present = p.accept("present")
	p.expect("=>")
	e.Dst = p.reg()
	return e
}
