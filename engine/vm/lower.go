package vm

import (
	"encoding/binary"

	"verdict/catalog"
	"verdict/nft/expr"
)

// lower turns one expression into instructions.
func (l *linker) lower(e expr.Expr) error {
	switch x := e.(type) {
	case *expr.Payload:
		return l.payload(x)
	case *expr.Cmp:
		return l.cmp(x)
	case *expr.Range:
		n := len(x.From.Bytes)
		return l.emit(inst{op: opRange, src: reg(x.Src), len: uint8(n), inv: x.Neq, off: l.constant(x.From.Bytes, x.To.Bytes)})
	case *expr.Bitwise:
		return l.bitwise(x)
	case *expr.Byteorder:
		return l.emit(inst{op: opByteorder, src: reg(x.Src), dst: reg(x.Dst), len: uint8(x.Len), sub: uint8(x.Size)})
	case *expr.Immediate:
		return l.immediate(x)
	case *expr.Meta:
		return l.meta(x)
	case *expr.CT:
		return l.ct(x)
	case *expr.Lookup:
		return l.lookup(x)
	case *expr.Dynset:
		return l.dynset(x)
	case *expr.Objref:
		return l.objref(x)
	case *expr.Inner:
		return l.inner(x)
	}
	if done, err := l.lowerLoad(e); done {
		return err
	}
	if done, err := l.lowerState(e); done {
		return err
	}
	return l.lowerAction(e)
}

// payload chooses the fast form under the kernel's conditions.
// Ref: nft_payload.c, nft_payload_select_ops.
func (l *linker) payload(x *expr.Payload) error {
	if x.Write {
		return l.emit(inst{op: opPayloadWrite, sub: uint8(x.Base), off: x.Offset, len: uint8(x.Len), src: reg(x.Src), ref: l.effectRef(x)})
	}
	if x.Base == catalog.BaseNetwork && x.Offset < 12 && x.Offset+x.Len > 7 {
		l.program.Uses.TTL = true
	}
	in := inst{op: opPayload, sub: uint8(x.Base), off: x.Offset, len: uint8(x.Len), dst: reg(x.Dst)}
	aligned := x.Len != 0 && x.Offset%x.Len == 0
	if aligned && l.forms&FormLoad != 0 {
		in.op = fastPayload(x.Base, x.Len)
	}
	return l.emit(in)
}

func fastPayload(base catalog.Base, n uint32) opcode {
	network := base == catalog.BaseNetwork
	if !network && base != catalog.BaseTransport {
		return opPayload
	}
	var op opcode
	switch n {
	case 1:
		op = opNetwork1
	case 2:
		op = opNetwork2
	case 4:
		op = opNetwork4
	default:
		return opPayload
	}
	if !network {
		op += opTransport1 - opNetwork1
	}
	return op
}

// word reads up to four bytes as little-endian word.
func word(b []byte) uint32 {
	var w [4]byte
	copy(w[:], b)
	return binary.LittleEndian.Uint32(w[:])
}

// cmp chooses the fast forms for equality and its inverse.
// Ref: nft_cmp.c, nft_cmp_select_ops.
func (l *linker) cmp(x *expr.Cmp) error {
	n := len(x.Value.Bytes)
	in := inst{op: opCmp, sub: uint8(x.Op), src: reg(x.Src), len: uint8(n)}
	equality := l.forms&FormEqual != 0 && x.Op == expr.CmpEq || l.forms&FormCmp != 0 && x.Op == expr.CmpNeq
	switch {
	case equality && n <= 4:
		in.op, in.val, in.mask = opCmpFast, word(x.Value.Bytes), uint32(1<<(8*n)-1)
		if x.Op == expr.CmpNeq {
			in.op, in.inv = opCmpFastNeq, true
		}
		return l.emit(in)
	case equality && n <= 16:
		in.op = opCmp16
		if x.Op == expr.CmpNeq {
			in.op, in.inv = opCmp16Neq, true
		}
		var value, mask [16]byte
		copy(value[:], x.Value.Bytes)
		for i := range n {
			mask[i] = 0xff
		}
		in.off = l.constant(value[:], mask[:])
		return l.emit(in)
	}
	in.off = l.constant(x.Value.Bytes)
	return l.emit(in)
}

// bitwise chooses the fast form for masks of one word. The kernel does so for
// four bytes only; shorter ones, whose constants are zero behind their length,
// give the same word. Ref: nft_bitwise.c, nft_bitwise_select_ops.
func (l *linker) bitwise(x *expr.Bitwise) error {
	in := inst{op: opBitwise, sub: uint8(x.Op), src: reg(x.Src), dst: reg(x.Dst), len: uint8(x.Len), val: x.Shift}
	switch x.Op {
	case expr.BitwiseMaskXor:
		if x.Len <= 4 && l.forms&FormBitwise != 0 {
			in.op, in.mask, in.val = opBitwiseFast, word(x.Mask.Bytes), word(x.Xor.Bytes)
			return l.emit(in)
		}
		in.off = l.constant(padded(x.Mask.Bytes), padded(x.Xor.Bytes))
	case expr.BitwiseAnd, expr.BitwiseOr, expr.BitwiseXor:
		if x.HasSrc2 {
			in.inv, in.off = true, uint32(reg(x.Src2))
		} else {
			in.off = l.constant(padded(x.Data.Bytes))
		}
	}
	return l.emit(in)
}

func (l *linker) immediate(x *expr.Immediate) error {
	if v := x.Data.Verdict; v != nil {
		in := inst{op: opVerdict, val: uint32(v.Kind)}
		if v.Kind == catalog.VerdictJump || v.Kind == catalog.VerdictGoto {
			target, err := l.target(v.Chain)
			if err != nil {
				return err
			}
			in.off = target
		}
		return l.emit(in)
	}
	b := x.Data.Value.Bytes
	if len(b) <= 4 && l.forms&FormLoad != 0 {
		return l.emit(inst{op: opImmediate4, dst: reg(x.Dst), val: word(b)})
	}
	return l.emit(inst{op: opImmediate, dst: reg(x.Dst), len: uint8(len(b)), off: l.constant(b)})
}

// target is the number of a chain that a verdict leads to.
func (l *linker) target(chain string) (uint32, error) {
	n, ok := l.chains[l.table][chain]
	if !ok {
		return 0, l.unsupported("jump to missing chain " + chain)
	}
	return n, nil
}

func (l *linker) meta(x *expr.Meta) error {
	u := &l.program.Uses
	switch x.Key.Number {
	case metaSkuid, metaSkgid:
		u.SKUID = true
	case metaCPU:
		u.CPU = true
	case metaPrandom:
		u.Random = true
	case metaTimeNS, metaTimeDay, metaTimeHour:
		u.Time = true
	case metaCgroup:
		u.Cgroup = true
	case metaIif, metaOif, metaIifname, metaOifname, metaIifgroup, metaOifgroup:
		u.Interfaces = true
	}
	if x.Set {
		return l.emit(inst{op: opMetaSet, sub: uint8(x.Key.Number), src: reg(x.Src)})
	}
	in := inst{op: opMeta, sub: uint8(x.Key.Number), dst: reg(x.Dst)}
	if l.forms&FormLoad == 0 {
		return l.emit(in)
	}
	switch x.Key.Number {
	case metaL4proto:
		in.op = opL4Proto
	case metaNfproto:
		in.op = opNFProto
	case metaMark:
		in.op = opMark
	case metaIifname:
		in.op = opIIFName
	}
	return l.emit(in)
}

func (l *linker) ct(x *expr.CT) error {
	l.tracks()
	in := inst{op: opCT, sub: uint8(x.Key.Number), dst: reg(x.Dst), off: noDirection, len: uint8(x.Key.Bits / 8)}
	if x.HasDir {
		in.off = uint32(x.Dir)
	}
	if (x.Key.Number == ctSrc || x.Key.Number == ctDst) && l.table.Family == catalog.FamilyIP {
		in.len = 4
	}
	if x.Key.Number == ctLabels {
		l.program.NeedsCTLabels = true
	}
	switch {
	case x.Set:
		in.op, in.src = opCTSet, reg(x.Src)
	case x.Key.Number == ctState && l.forms&FormFused != 0:
		in.op = opCTState
	}
	return l.emit(in)
}

// lowerLoad handles the loads that are not frequent.
func (l *linker) lowerLoad(e expr.Expr) (done bool, err error) {
	p, u := l.program, &l.program.Uses
	switch x := e.(type) {
	case *expr.Exthdr:
		p.exthdrs = append(p.exthdrs, x)
		op := opExthdr
		if x.Write || x.Strip {
			op = opExthdrWrite
		}
		return true, l.emit(inst{op: op, ref: uint32(len(p.exthdrs) - 1), dst: reg(x.Dst), src: reg(x.Src)})
	case *expr.Fib:
		u.Fib = true
		p.fibs = append(p.fibs, x)
		return true, l.emit(inst{op: opFib, ref: uint32(len(p.fibs) - 1), dst: reg(x.Dst)})
	case *expr.RT:
		u.RT = true
		return true, l.emit(inst{op: opRT, sub: uint8(x.Key.Number), dst: reg(x.Dst)})
	case *expr.Socket:
		u.Socket = true
		return true, l.emit(inst{op: opSocket, sub: uint8(x.Key.Number), dst: reg(x.Dst)})
	case *expr.OSF:
		u.OSF = true
		return true, l.emit(inst{op: opOSF, dst: reg(x.Dst)})
	case *expr.XFRM:
		u.XFRM = true
		return true, l.emit(inst{op: opXFRM, dst: reg(x.Dst)})
	case *expr.Tunnel:
		return true, l.emit(inst{op: opTunnel, dst: reg(x.Dst)})
	case *expr.Hash:
		u.Hash = u.Hash || x.Symmetric
		p.hashes = append(p.hashes, x)
		return true, l.emit(inst{op: opHash, ref: uint32(len(p.hashes) - 1), src: reg(x.Src), dst: reg(x.Dst)})
	case *expr.Numgen:
		u.Random = u.Random || x.Random
		p.numgens = append(p.numgens, l.state.Numgen(x))
		return true, l.emit(inst{op: opNumgen, ref: uint32(len(p.numgens) - 1), dst: reg(x.Dst)})
	}
	return false, nil
}

// lowerState handles the expressions that keep state.
func (l *linker) lowerState(e expr.Expr) (done bool, err error) {
	op, ref, ok := l.stateful(e)
	if !ok {
		return false, nil
	}
	return true, l.emit(inst{op: op, ref: ref})
}

// stateful finds or makes the state of a stateful expression.
func (l *linker) stateful(e expr.Expr) (op opcode, ref uint32, ok bool) {
	p := l.program
	switch x := e.(type) {
	case *expr.Counter:
		p.counters = append(p.counters, l.state.Counter(x))
		return opCounter, uint32(len(p.counters) - 1), true
	case *expr.Limit:
		p.limits = append(p.limits, l.state.Limit(x))
		return opLimit, uint32(len(p.limits) - 1), true
	case *expr.Quota:
		p.quotas = append(p.quotas, l.state.Quota(x))
		return opQuota, uint32(len(p.quotas) - 1), true
	case *expr.ConnLimit:
		l.tracks()
		p.conns = append(p.conns, l.state.ConnLimit(x))
		return opConnLimit, uint32(len(p.conns) - 1), true
	case *expr.Last:
		p.lasts = append(p.lasts, l.state.Last(x))
		return opLast, uint32(len(p.lasts) - 1), true
	}
	return 0, 0, false
}

func (l *linker) effectRef(e expr.Expr) uint32 {
	l.program.effects = append(l.program.effects, e)
	return uint32(len(l.program.effects) - 1)
}

// lowerAction handles the statements that act on the packet.
func (l *linker) lowerAction(e expr.Expr) error {
	var op opcode
	switch x := e.(type) {
	case *expr.Log:
		l.program.logs = append(l.program.logs, x)
		return l.emit(inst{op: opLog, ref: uint32(len(l.program.logs) - 1)})
	case *expr.Reject:
		op = opReject
	case *expr.NAT:
		op = opNAT
	case *expr.Masq:
		op = opMasq
	case *expr.Redir:
		op = opRedir
	case *expr.Queue:
		op = opQueue
	case *expr.Notrack:
		return l.emit(inst{op: opNotrack})
	case *expr.Dup:
		op = opDup
	case *expr.Fwd:
		op = opFwd
	case *expr.TProxy:
		op = opTProxy
	case *expr.Synproxy:
		op = opSynproxy
	case *expr.FlowOffload:
		op = opFlowOffload
	default:
		return l.unsupported(e.Kind() + " expression")
	}
	switch op {
	case opNAT: // for the family of its addresses, whatever the table's
		l.tracksFamily(catalog.Family(e.(*expr.NAT).Family))
	case opMasq, opRedir, opSynproxy, opFlowOffload:
		l.tracks()
	}
	return l.emit(inst{op: op, ref: l.effectRef(e)})
}
