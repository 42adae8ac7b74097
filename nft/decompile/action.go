package decompile

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

// action takes the expressions that are statements by themselves.
func (r *rule) action(e expr.Expr) {
	switch e := e.(type) {
	case *expr.Counter, *expr.Limit, *expr.Quota, *expr.ConnLimit, *expr.Last:
		r.emit(r.o.stateful(e))
	case *expr.Log:
		r.emit(logStatement(e))
	case *expr.Reject:
		r.reject(e)
	case *expr.NAT:
		r.nat(e)
	case *expr.Masq:
		r.emit(&syntax.NAT{Kind: syntax.NATMasquerade, Port: r.portRange(e.HasProto, e.HasProtoMax, e.ProtoMin, e.ProtoMax), Flags: natFlags(e.Flags)})
	case *expr.Redir:
		r.emit(&syntax.NAT{Kind: syntax.NATRedirect, Port: r.portRange(e.HasProto, e.HasProtoMax, e.ProtoMin, e.ProtoMax), Flags: natFlags(e.Flags)})
	case *expr.TProxy:
		r.tproxy(e)
	case *expr.Synproxy:
		r.emit(synproxy(e))
	case *expr.Queue:
		r.queue(e)
	case *expr.Dup:
		r.dup(e)
	case *expr.Fwd:
		r.fwd(e)
	case *expr.Notrack:
		r.emit(&syntax.Notrack{})
	case *expr.FlowOffload:
		r.emit(&syntax.FlowAdd{Table: &syntax.SetRef{Name: e.Flowtable}})
	case *expr.XT:
		r.emit(&syntax.XT{Target: e.Target, Name: text(e.Name)})
	}
}

// Log flags. Ref: include/uapi/linux/netfilter/nf_log.h.
const (
	logTCPSequence = 0x01
	logTCPOptions  = 0x02
	logIPOptions   = 0x04
	logUID         = 0x08
	logMAC         = 0x20
	logAll         = logTCPSequence | logTCPOptions | logIPOptions | logUID | logMAC
)

func logStatement(e *expr.Log) *syntax.Log {
	s := &syntax.Log{}
	if e.HasPrefix && e.Prefix != "" {
		s.Prefix = quoted(e.Prefix)
	}
	if e.HasGroup {
		s.Group = number(uint64(e.Group))
	}
	if e.Snaplen != 0 {
		s.Snaplen = number(uint64(e.Snaplen))
	}
	if e.QThreshold != 0 {
		s.QueueThreshold = number(uint64(e.QThreshold))
	}
	const warn = 4
	if e.HasLevel && e.Level != warn {
		for _, l := range catalog.LogLevels {
			if l.Value == uint64(e.Level) {
				s.Level = text(l.Name)
				break
			}
		}
	}
	s.Flags = logFlags(e.Flags)
	return s
}

func logFlags(flags uint32) []syntax.LogFlag {
	if flags&logAll == logAll {
		return []syntax.LogFlag{{Name: text("all")}}
	}
	var list []syntax.LogFlag
	if flags&(logTCPSequence|logTCPOptions) != 0 {
		f := syntax.LogFlag{Name: text("tcp")}
		if flags&logTCPSequence != 0 {
			f.Sub = append(f.Sub, text("sequence"))
		}
		if flags&logTCPOptions != 0 {
			f.Sub = append(f.Sub, text("options"))
		}
		list = append(list, f)
	}
	if flags&logIPOptions != 0 {
		list = append(list, syntax.LogFlag{Name: text("ip"), Sub: []syntax.Word{text("options")}})
	}
	if flags&logUID != 0 {
		list = append(list, syntax.LogFlag{Name: text("skuid")})
	}
	if flags&logMAC != 0 {
		list = append(list, syntax.LogFlag{Name: text("ether")})
	}
	return list
}

// Reject codes that need not be written.
const (
	icmpPortUnreachable   = 3
	icmpv6PortUnreachable = 4
	icmpxPortUnreachable  = 1
)

// reject takes a reject statement. ICMP codes belong to the family of the
// rule, or in the mixed families to the one that it tested for.
func (r *rule) reject(e *expr.Reject) {
	s := &syntax.Reject{}
	family := r.table.Family
	mixed := r.outer.restrictsFamily()
	switch e.Type {
	case expr.RejectTCP:
		s.With = text("tcp")
		if !mixed {
			r.drop(&r.outer, slotTransport)
		}
	case expr.RejectICMPX:
		if r.o.json || e.Code != icmpxPortUnreachable {
			s.With, s.Code = text("icmpx"), r.rejectCode(catalog.ICMPXCode, e.Code)
		}
	case expr.RejectICMP:
		if mixed {
			family = catalog.FamilyIP
			if known(r.outer.network) == catalog.IP6 {
				family = catalog.FamilyIP6
			}
			r.drop(&r.outer, slotNetwork)
		}
		if family == catalog.FamilyIP6 {
			if mixed || r.o.json || e.Code != icmpv6PortUnreachable {
				s.With, s.Code = text("icmpv6"), r.rejectCode(catalog.ICMPv6Code, e.Code)
			}
		} else if mixed || r.o.json || e.Code != icmpPortUnreachable {
			s.With, s.Code = text("icmp"), r.rejectCode(catalog.ICMPCode, e.Code)
		}
	}
	r.emit(s)
}

func (r *rule) rejectCode(t *catalog.Type, code uint8) syntax.Expr {
	f := formatOf(t)
	f.numeric = false
	return r.o.literal(&f, []byte{code})
}

func synproxy(e *expr.Synproxy) *syntax.Synproxy {
	s := &syntax.Synproxy{SackPerm: e.Flags&synproxySackPerm != 0, Timestamp: e.Flags&synproxyTimestamp != 0}
	if e.Flags&synproxyMSS != 0 {
		s.MSS = number(uint64(e.MSS))
	}
	if e.Flags&synproxyWScale != 0 {
		s.WScale = number(uint64(e.WScale))
	}
	return s
}

// Synproxy flags. Ref: include/uapi/linux/netfilter/nf_synproxy.h.
const (
	synproxyMSS       = 1
	synproxyWScale    = 2
	synproxySackPerm  = 4
	synproxyTimestamp = 8
)

// Queue flags. Ref: include/uapi/linux/netfilter/nf_tables.h.
const (
	queueBypass = 1
	queueFanout = 2
)

func (r *rule) queue(e *expr.Queue) {
	s := &syntax.Queue{Bypass: e.Flags&queueBypass != 0, Fanout: e.Flags&queueFanout != 0}
	switch {
	case e.HasSrc:
		f := format{typ: catalog.Integer, bits: 16, order: catalog.OrderHost}
		s.Number = r.valueAs(r.regs.get(e.Src), &f)
	case e.Total > 1:
		s.Number = &syntax.Range{From: decimal(uint64(e.Num)), To: decimal(uint64(e.Num) + uint64(e.Total) - 1)}
	default:
		s.Number = decimal(uint64(e.Num))
	}
	r.emit(s)
}

// addressFormat is the format of addresses in the rule's family, or of the
// family that a statement names.
func (r *rule) addressFormat(family catalog.Family) format {
	if family == catalog.FamilyUnspec {
		family = r.table.Family
	}
	if family == catalog.FamilyIP6 {
		return formatOf(catalog.IPv6Addr)
	}
	return formatOf(catalog.IPv4Addr)
}

func (r *rule) dup(e *expr.Dup) {
	s := &syntax.Dup{}
	if e.HasAddr {
		f := r.addressFormat(catalog.FamilyUnspec)
		s.Addr = r.valueAs(r.regs.get(e.Addr), &f)
	}
	if e.HasDev {
		f := formatOf(catalog.IfIndex)
		s.Device = r.valueAs(r.regs.get(e.Dev), &f)
	}
	if s.Addr == nil && r.table.Family == catalog.FamilyNetdev {
		s.Addr, s.Device = s.Device, nil
	}
	r.emit(s)
}

func (r *rule) fwd(e *expr.Fwd) {
	f := formatOf(catalog.IfIndex)
	s := &syntax.Fwd{Device: r.valueAs(r.regs.get(e.Dev), &f)}
	if e.HasAddr {
		family := catalog.Family(e.NFProto)
		a := r.addressFormat(family)
		s.Family = text(family.String())
		s.Addr = r.valueAs(r.regs.get(e.Addr), &a)
	}
	r.emit(s)
}
