package expr

import (
	"syscall"

	"verdict/catalog"
)

// Payload loads bytes of the packet into a register, or writes them
// (Write true, then Src is read).
// Ref: nft_payload.c.
type Payload struct {
	Base        catalog.Base
	Offset, Len uint32
	Dst, Src    Reg
	Write       bool
	CsumType    uint32 // 0 none, 1 inet, 2 sctp
	CsumOffset  uint32
	CsumFlags   uint32 // 1: pseudo header
}

// Kind is payload.
func (*Payload) Kind() string { return "payload" }

// AppendText appends `payload load 2b @ transport header + 2 => reg 1` or
// `payload write reg 1 => 2b @ … csum_type 1 csum_off 16 csum_flags 0x0`.
func (e *Payload) AppendText(b []byte) []byte {
	if !e.Write {
		b = e.appendPlace(append(b, "payload load "...))
		return appendReg(append(b, " => "...), e.Dst)
	}
	b = appendReg(append(b, "payload write "...), e.Src)
	b = e.appendPlace(append(b, " => "...))
	b = appendNamed(b, "csum_type", uint64(e.CsumType))
	b = appendNamed(b, "csum_off", uint64(e.CsumOffset))
	return appendHex(append(b, " csum_flags "...), uint64(e.CsumFlags))
}

func (e *Payload) appendPlace(b []byte) []byte {
	b = append(appendUint(b, uint64(e.Len)), "b @ "...)
	b = append(append(b, e.Base.String()...), " header + "...)
	return appendUint(b, uint64(e.Offset))
}

// Check refuses unknown bases (EOPNOTSUPP), offsets above 65535 and lengths
// above 255 (ERANGE); for writes also checksum offsets above 255 (ERANGE),
// unknown checksum types (EOPNOTSUPP), flags (EINVAL) and SCTP checksums
// elsewhere than in the SCTP header (EINVAL).
// Ref: nft_payload.c, nft_payload_select_ops, nft_payload_init,
// nft_payload_set_init.
func (e *Payload) Check(c *Checker) error {
	if e.Base > catalog.BaseInner {
		return refuse(syscall.EOPNOTSUPP, "no %s header outside tunnels", e.Base)
	}
	if err := e.checkPlace(); err != nil {
		return err
	}
	if !e.Write {
		return c.store(e.Dst, e.Len)
	}
	if err := e.checkChecksum(); err != nil {
		return err
	}
	return c.load(e.Src, e.Len)
}

func (e *Payload) checkPlace() error {
	if e.Offset > 65535 {
		return refuse(syscall.ERANGE, "offset %d is larger than 65535", e.Offset)
	}
	if e.Len > 255 {
		return refuse(syscall.ERANGE, "length %d is larger than 255", e.Len)
	}
	return nil
}

// sctpChecksum is where the SCTP header has its checksum.
const sctpChecksum = 8

func (e *Payload) checkChecksum() error {
	switch {
	case e.CsumOffset > 255:
		return refuse(syscall.ERANGE, "checksum offset %d is larger than 255", e.CsumOffset)
	case e.CsumFlags&^1 != 0:
		return refuse(syscall.EINVAL, "unknown checksum flags %#x", e.CsumFlags)
	}
	switch e.CsumType {
	case catalog.ChecksumNone, catalog.ChecksumInet:
	case catalog.ChecksumSCTP:
		if e.Base != catalog.BaseTransport || e.CsumOffset != sctpChecksum {
			return refuse(syscall.EINVAL, "an SCTP checksum is at %d of the transport header", sctpChecksum)
		}
	default:
		return refuse(syscall.EOPNOTSUPP, "unknown checksum type %d", e.CsumType)
	}
	return nil
}

// Registers writes Dst, or reads Src.
func (e *Payload) Registers(*Place) RegUse {
	if e.Write {
		return reads(e.Src, e.Len)
	}
	return writes(e.Dst, e.Len)
}

var payloadBases = []string{"link", "network", "transport", "inner", "tunnel"}

func parsePayload(p *textParser) Expr {
	e := &Payload{Write: p.oneOf("form", []string{"load", "write"}) == 1}
	if e.Write {
		e.Src = p.reg()
		p.expect("=>")
	}
	e.Len = uint32(p.suffixed("b", 32))
	p.expect("@")
	e.Base = catalog.Base(p.oneOf("header", payloadBases))
	p.expect("header", "+")
	e.Offset = uint32(p.uint(32))
	if !e.Write {
		p.expect("=>")
		e.Dst = p.reg()
		return e
	}
	p.expect("csum_type")
	e.CsumType = uint32(p.uint(32))
	p.expect("csum_off")
	e.CsumOffset = uint32(p.uint(32))
	p.expect("csum_flags")
	e.CsumFlags = uint32(p.uint(32))
	return e
}
