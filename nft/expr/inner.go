package expr

import (
	"strconv"
	"syscall"

	"verdict/catalog"
)

// Inner runs a payload or meta expression on the packet inside a tunnel.
// Ref: nft_inner.c.
type Inner struct {
	Type, HdrSize, Flags uint32
	Expr                 Expr // *Payload or *Meta
}

// Kind is inner.
func (*Inner) Kind() string { return "inner" }

// AppendText appends `inner type 1 hdrsize 8 flags f [ … ]`.
func (e *Inner) AppendText(b []byte) []byte {
	b = appendNamed(append(b, "inner"...), "type", uint64(e.Type))
	b = appendNamed(b, "hdrsize", uint64(e.HdrSize))
	b = strconv.AppendUint(append(b, " flags "...), uint64(e.Flags), 16)
	b = append(b, " [ "...)
	if e.Expr != nil {
		b = e.Expr.AppendText(b)
	}
	return append(b, " ]"...)
}

// maxTunnelHeader is the longest tunnel header. Ref: nft_inner.c.
const maxTunnelHeader = 64

// Check refuses unknown flags and header sizes outside 1 to 64 (EOPNOTSUPP),
// types above 255 (EINVAL), writes (EINVAL), and expressions other than loads
// of payload, of meta protocol and of meta l4proto (EOPNOTSUPP).
// Ref: nft_inner.c, nft_inner_init; nft_payload_inner_init;
// nft_meta_inner_init.
func (e *Inner) Check(c *Checker) error {
	const known = catalog.InnerHeaderSize | catalog.InnerLink | catalog.InnerNetwork | catalog.InnerTransport
	switch {
	case e.Flags&^known != 0:
		return refuse(syscall.EOPNOTSUPP, "unknown flags %#x", e.Flags)
	case e.Type > 255:
		return refuse(syscall.EINVAL, "unknown tunnel type %d", e.Type)
	case e.Flags&catalog.InnerHeaderSize != 0 && (e.HdrSize == 0 || e.HdrSize > maxTunnelHeader):
		return refuse(syscall.EOPNOTSUPP, "tunnel header of %d bytes", e.HdrSize)
	}
	switch x := e.Expr.(type) {
	case *Payload:
		if x.Write {
			return refuse(syscall.EINVAL, "write inside a tunnel")
		}
		if x.Base > catalog.BaseTunnel || x.Base == catalog.BaseInner {
			return refuse(syscall.EOPNOTSUPP, "no %s header inside a tunnel", x.Base)
		}
		if err := x.checkPlace(); err != nil {
			return err
		}
		return c.store(x.Dst, x.Len)
	case *Meta:
		if x.Set || x.Key == nil || (x.Key.Number != metaProtocol && x.Key.Number != metaL4Proto) {
			return refuse(syscall.EOPNOTSUPP, "only meta protocol and l4proto exist inside a tunnel")
		}
		return c.store(x.Dst, keyLen(x.Key))
	case nil:
		return refuse(syscall.EINVAL, "no expression")
	default:
		return refuse(syscall.EOPNOTSUPP, "%s inside a tunnel", x.Kind())
	}
}

// Registers is that of the expression inside.
func (e *Inner) Registers(p *Place) RegUse {
	if e.Expr == nil {
		return RegUse{}
	}
	return e.Expr.Registers(p)
}

func parseInner(p *textParser) Expr {
	e := &Inner{}
	p.expect("type")
	e.Type = uint32(p.uint(32))
	p.expect("hdrsize")
	e.HdrSize = uint32(p.uint(32))
	p.expect("flags")
	start := p.space()
	w := p.word()
	flags, err := strconv.ParseUint(w, 16, 32)
	if err != nil {
		p.failAt(start, "expected flags in hexadecimal, found %s", found(w))
	}
	e.Flags = uint32(flags)
	e.Expr = p.nested()
	return e
}
