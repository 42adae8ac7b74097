package netlink

import (
	"verdict/catalog"
	"verdict/nft/expr"
)

// Expressions that load from the packet, its metadata and the host, or write
// there: payload, exthdr, meta, ct, rt, socket, fib, osf, tunnel, xfrm.

func (w *encoder) loading(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Payload:
		w.payload(e)
	case *expr.Exthdr:
		w.exthdr(e)
	case *expr.Meta:
		w.key(2, e.Key)
		w.source(1, 3, e.Dst, e.Src, e.Set)
	case *expr.CT:
		w.key(2, e.Key)
		w.source(1, 4, e.Dst, e.Src, e.Set)
		if e.HasDir {
			w.u8(3, e.Dir)
		}
	case *expr.RT:
		w.reg(1, e.Dst)
		w.key(2, e.Key)
	case *expr.Socket:
		w.key(1, e.Key)
		w.reg(2, e.Dst)
		if e.Level != 0 {
			w.u32(3, e.Level)
		}
	case *expr.Fib:
		w.reg(1, e.Dst)
		w.u32(2, e.Result)
		w.u32(3, e.Flags)
	case *expr.OSF:
		w.reg(1, e.Dst)
		w.u8(2, e.TTL)
		w.u32(3, e.Flags)
	case *expr.Tunnel:
		w.key(1, e.Key)
		w.reg(2, e.Dst)
	case *expr.XFRM:
		w.reg(1, e.Dst)
		w.key(2, e.Key)
		w.u8(3, uint8(bit(e.Out)))
		w.u32(4, e.Spnum)
	default:
		return false
	}
	return true
}

func (w *builder) key(t uint16, k *catalog.Key) {
	if k != nil {
		w.u32(t, k.Number)
	}
}

// source appends the register that is read or written.
func (w *builder) source(load, store uint16, dst, src expr.Reg, set bool) {
	if set {
		w.reg(store, src)
	} else {
		w.reg(load, dst)
	}
}

// key reads a key's number; one that the catalog lacks cannot be represented.
func (f *fields) key(t uint16, find func(uint32) *catalog.Key) *catalog.Key {
	k := find(f.u32(t))
	if k == nil || !f.has(t) {
		f.odd = true
	}
	return k
}

// Numbers of payload.
const (
	payloadDst        = 1
	payloadBase       = 2
	payloadOffset     = 3
	payloadLen        = 4
	payloadSrc        = 5
	payloadCsumType   = 6
	payloadCsumOffset = 7
	payloadCsumFlags  = 8
)

func (w *encoder) payload(e *expr.Payload) {
	w.source(payloadDst, payloadSrc, e.Dst, e.Src, e.Write)
	w.u32(payloadBase, uint32(e.Base))
	w.u32(payloadOffset, e.Offset)
	w.u32(payloadLen, e.Len)
	if !e.Write {
		return
	}
	w.u32(payloadCsumType, e.CsumType)
	w.u32(payloadCsumOffset, e.CsumOffset)
	w.u32(payloadCsumFlags, e.CsumFlags)
}

func readPayload(f *fields) expr.Expr {
	e := &expr.Payload{
		Base: catalog.Base(f.small(payloadBase, uint32(catalog.BaseTunnel))), Offset: f.u32(payloadOffset), Len: f.u32(payloadLen),
		Dst: f.reg(payloadDst),
	}
	if e.Src, e.Write = f.present(payloadSrc); e.Write {
		e.CsumType, e.CsumOffset, e.CsumFlags = f.u32(payloadCsumType), f.u32(payloadCsumOffset), f.u32(payloadCsumFlags)
	}
	return e
}

// Numbers of exthdr.
const (
	exthdrDst    = 1
	exthdrType   = 2
	exthdrOffset = 3
	exthdrLen    = 4
	exthdrFlags  = 5
	exthdrOp     = 6
	exthdrSrc    = 7
)

func (w *encoder) exthdr(e *expr.Exthdr) {
	w.u8(exthdrType, e.Type)
	w.u32(exthdrOp, e.Op)
	if e.Strip {
		return
	}
	w.source(exthdrDst, exthdrSrc, e.Dst, e.Src, e.Write)
	w.u32(exthdrOffset, e.Offset)
	w.u32(exthdrLen, e.Len)
	if e.Present {
		w.u32(exthdrFlags, 1)
	}
}

func readExthdr(f *fields) expr.Expr {
	e := &expr.Exthdr{
		Type: f.u8(exthdrType), Offset: f.u32(exthdrOffset), Len: f.u32(exthdrLen),
		Present: f.flag(exthdrFlags), Op: f.u32(exthdrOp), Dst: f.reg(exthdrDst),
	}
	e.Src, e.Write = f.present(exthdrSrc)
	e.Strip = !e.Write && !f.has(exthdrDst)
	return e
}

func readMeta(f *fields) expr.Expr {
	e := &expr.Meta{Key: f.key(2, catalog.MetaKeyByNumber), Dst: f.reg(1)}
	e.Src, e.Set = f.present(3)
	return e
}

func readCT(f *fields) expr.Expr {
	e := &expr.CT{Key: f.key(2, catalog.CTKeyByNumber), Dst: f.reg(1), HasDir: f.has(3), Dir: f.u8(3)}
	e.Src, e.Set = f.present(4)
	return e
}

func readRT(f *fields) expr.Expr {
	return &expr.RT{Dst: f.reg(1), Key: f.key(2, catalog.RTKeyByNumber)}
}

func readSocket(f *fields) expr.Expr {
	return &expr.Socket{Key: f.key(1, catalog.SocketKeyByNumber), Dst: f.reg(2), Level: f.u32(3)}
}

func readFib(f *fields) expr.Expr {
	return &expr.Fib{Dst: f.reg(1), Result: f.u32(2), Flags: f.u32(3)}
}

func readOSF(f *fields) expr.Expr {
	return &expr.OSF{Dst: f.reg(1), TTL: f.u8(2), Flags: f.u32(3)}
}

func readTunnel(f *fields) expr.Expr {
	f.small(3, 0) // of the modes, package expr knows the one that means either
	return &expr.Tunnel{Key: f.key(1, catalog.TunnelKeyByNumber), Dst: f.reg(2)}
}

func readXFRM(f *fields) expr.Expr {
	e := &expr.XFRM{Dst: f.reg(1), Key: f.key(2, catalog.XFRMKeyByNumber), Spnum: f.u32(4)}
	switch f.u8(3) {
	case 0:
	case 1:
		e.Out = true
	default:
		return nil
	}
	return e
}
