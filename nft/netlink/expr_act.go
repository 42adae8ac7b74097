package netlink

import (
	"verdict/nft/expr"
)

// Expressions that do something with the packet: nat, masq, redir, tproxy,
// dup, fwd, log, queue, reject, notrack, synproxy, flow_offload, and
// iptables' match and target.

func (w *encoder) acting(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.NAT:
		w.nat(e)
	case *expr.Masq:
		w.natFlags(1, e.Flags)
		w.ports(2, 3, e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax)
	case *expr.Redir:
		w.ports(1, 2, e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax)
		w.natFlags(3, e.Flags)
	case *expr.TProxy:
		w.u32(1, uint32(e.Family))
		w.regIf(2, e.Addr, e.HasAddr)
		w.regIf(3, e.Port, e.HasPort)
	case *expr.Dup:
		w.regIf(1, e.Addr, e.HasAddr)
		w.regIf(2, e.Dev, e.HasDev)
	case *expr.Fwd:
		w.reg(1, e.Dev)
		w.regIf(2, e.Addr, e.HasAddr)
		if e.HasAddr || e.NFProto != 0 {
			w.u32(3, uint32(e.NFProto))
		}
	case *expr.Log:
		w.log(e)
	case *expr.Queue:
		w.queue(e)
	case *expr.Reject:
		w.u32(1, e.Type)
		w.u8(2, e.Code)
	case *expr.Notrack:
	case *expr.Synproxy:
		w.synproxy(e)
	case *expr.FlowOffload:
		w.str(1, e.Flowtable)
	case *expr.XT:
		w.str(1, e.Name)
		w.u32(2, e.Rev)
		w.bytes(3, e.Info)
	default:
		return false
	}
	return true
}

func (w *builder) natFlags(t uint16, flags uint32) {
	if flags != 0 {
		w.u32(t, flags)
	}
}

func (w *builder) ports(from, to uint16, low expr.Reg, hasLow bool, high expr.Reg, hasHigh bool) {
	w.regIf(from, low, hasLow)
	w.regIf(to, high, hasHigh)
}

// Numbers of nat.
const (
	natType     = 1
	natFamily   = 2
	natAddrMin  = 3
	natAddrMax  = 4
	natProtoMin = 5
	natProtoMax = 6
	natFlagBits = 7
)

func (w *encoder) nat(e *expr.NAT) {
	w.u32(natType, bit(e.Destination))
	w.u32(natFamily, uint32(e.Family))
	w.regIf(natAddrMin, e.AddrMin, e.HasAddr)
	w.regIf(natAddrMax, e.AddrMax, e.HasAddrMax)
	w.ports(natProtoMin, natProtoMax, e.ProtoMin, e.HasProto, e.ProtoMax, e.HasProtoMax)
	w.natFlags(natFlagBits, e.Flags)
}

func readNAT(f *fields) expr.Expr {
	e := &expr.NAT{Destination: f.flag(natType), Family: uint8(f.small(natFamily, 255)), Flags: f.u32(natFlagBits)}
	e.AddrMin, e.HasAddr = f.present(natAddrMin)
	e.AddrMax, e.HasAddrMax = f.present(natAddrMax)
	e.ProtoMin, e.HasProto = f.present(natProtoMin)
	e.ProtoMax, e.HasProtoMax = f.present(natProtoMax)
	return e
}

func readMasq(f *fields) expr.Expr {
	e := &expr.Masq{Flags: f.u32(1)}
	e.ProtoMin, e.HasProto = f.present(2)
	e.ProtoMax, e.HasProtoMax = f.present(3)
	return e
}

func readRedir(f *fields) expr.Expr {
	e := &expr.Redir{Flags: f.u32(3)}
	e.ProtoMin, e.HasProto = f.present(1)
	e.ProtoMax, e.HasProtoMax = f.present(2)
	return e
}

func readTProxy(f *fields) expr.Expr {
	e := &expr.TProxy{Family: uint8(f.small(1, 255))}
	e.Addr, e.HasAddr = f.present(2)
	e.Port, e.HasPort = f.present(3)
	return e
}

func readDup(f *fields) expr.Expr {
	e := &expr.Dup{}
	e.Addr, e.HasAddr = f.present(1)
	e.Dev, e.HasDev = f.present(2)
	return e
}

func readFwd(f *fields) expr.Expr {
	e := &expr.Fwd{Dev: f.reg(1), NFProto: uint8(f.small(3, 255))}
	e.Addr, e.HasAddr = f.present(2)
	return e
}

// Numbers of log.
const (
	logGroup   = 1
	logPrefix  = 2
	logSnaplen = 3
	logQThresh = 4
	logLevel   = 5
	logFlags   = 6
)

func (w *encoder) log(e *expr.Log) {
	if e.HasGroup {
		w.u16(logGroup, e.Group)
	}
	if e.HasPrefix {
		w.str(logPrefix, e.Prefix)
	}
	if e.HasSnaplen {
		w.u32(logSnaplen, e.Snaplen)
	}
	if e.HasQThresh {
		w.u16(logQThresh, e.QThreshold)
	}
	if e.HasLevel {
		w.u32(logLevel, e.Level)
	}
	if e.HasFlags {
		w.u32(logFlags, e.Flags)
	}
}

func readLog(f *fields) expr.Expr {
	return &expr.Log{
		Group: f.u16(logGroup), HasGroup: f.has(logGroup), Prefix: f.str(logPrefix), HasPrefix: f.has(logPrefix),
		Snaplen: f.u32(logSnaplen), HasSnaplen: f.has(logSnaplen), QThreshold: f.u16(logQThresh), HasQThresh: f.has(logQThresh),
		Level: f.u32(logLevel), HasLevel: f.has(logLevel), Flags: f.u32(logFlags), HasFlags: f.has(logFlags),
	}
}

func (w *encoder) queue(e *expr.Queue) {
	if e.HasSrc {
		w.reg(4, e.Src)
	} else {
		w.u16(1, e.Num)
		w.u16(2, e.Total)
	}
	if e.Flags != 0 {
		w.u16(3, e.Flags)
	}
}

func readQueue(f *fields) expr.Expr {
	e := &expr.Queue{Num: f.u16(1), Total: f.u16(2), Flags: f.u16(3)}
	e.Src, e.HasSrc = f.present(4)
	return e
}

func readReject(f *fields) expr.Expr { return &expr.Reject{Type: f.u32(1), Code: f.u8(2)} }

func readNotrack(*fields) expr.Expr { return &expr.Notrack{} }

func (w *builder) synproxy(e *expr.Synproxy) {
	w.u16(1, e.MSS)
	w.u8(2, e.WScale)
	w.u32(3, e.Flags)
}

func readSynproxy(f *fields) expr.Expr {
	return &expr.Synproxy{MSS: f.u16(1), WScale: f.u8(2), Flags: f.u32(3)}
}

func readFlowOffload(f *fields) expr.Expr { return &expr.FlowOffload{Flowtable: f.str(1)} }

func readMatch(f *fields) expr.Expr  { return readXT(f, false) }
func readTarget(f *fields) expr.Expr { return readXT(f, true) }

func readXT(f *fields, target bool) expr.Expr {
	return &expr.XT{Target: target, Name: f.str(1), Rev: f.u32(2), Info: f.take(3)}
}
