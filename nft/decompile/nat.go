package decompile

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

func natFlags(flags uint32) []syntax.Word {
	var list []syntax.Word
	if flags&expr.NATFlagRandom != 0 {
		list = append(list, text("random"))
	}
	if flags&expr.NATFlagFully != 0 {
		list = append(list, text("fully-random"))
	}
	if flags&expr.NATFlagPersistent != 0 {
		list = append(list, text("persistent"))
	}
	return list
}

var portFormat = formatOf(catalog.InetService)

// portRange writes the ports of a NAT statement, nil if there are none.
func (r *rule) portRange(hasMin, hasMax bool, from, to expr.Reg) syntax.Expr {
	if !hasMin {
		return nil
	}
	return r.natRange(&portFormat, r.regs.get(from), hasMax, r.regs.get(to), from == to)
}

// natRange writes a value, or a range if there are two different ones.
func (r *rule) natRange(f *format, from *operand, hasMax bool, to *operand, same bool) syntax.Expr {
	if from == nil {
		return nil
	}
	if !hasMax || same || to == nil {
		return r.valueAs(from, f)
	}
	if from.kind == operandConstant && to.kind == operandConstant {
		return r.o.rangeOf(f, from.value, to.value)
	}
	return &syntax.Range{From: r.valueAs(from, f), To: r.valueAs(to, f)}
}

// nat takes snat and dnat.
func (r *rule) nat(e *expr.NAT) {
	s := &syntax.NAT{Kind: syntax.NATSource, Flags: natFlags(e.Flags)}
	if e.Destination {
		s.Kind = syntax.NATDestination
	}
	family := catalog.Family(e.Family)
	addr := r.addressFormat(family)
	if !e.HasAddr {
		s.Port = r.portRange(e.HasProto, e.HasProtoMax, e.ProtoMin, e.ProtoMax)
		r.emit(s)
		return
	}
	if family != r.table.Family {
		s.Family = text(family.String())
	}
	min := r.regs.get(e.AddrMin)
	if min != nil && min.kind == operandMap {
		r.natMap(s, e, min, &addr, family)
		return
	}
	if e.Flags&expr.NATFlagNetmap != 0 {
		s.Mode, s.Family = syntax.NATPrefix, text(family.String())
	}
	s.Addr = r.natRange(&addr, min, e.HasAddrMax, r.regs.get(e.AddrMax), e.AddrMin == e.AddrMax)
	s.Port = r.portRange(e.HasProto, e.HasProtoMax, e.ProtoMin, e.ProtoMax)
	r.emit(s)
}

// natMap writes a NAT statement whose address comes from a map, which may
// deliver the port and the upper ends as well.
func (r *rule) natMap(s *syntax.NAT, e *expr.NAT, m *operand, addr *format, family catalog.Family) {
	want := []format{*addr}
	inMap := func(has bool, reg expr.Reg) bool {
		w := word(reg) - word(e.AddrMin)
		return has && w > 0 && w < m.words() && r.regs.get(reg) == nil
	}
	concat := inMap(e.HasProto, e.ProtoMin)
	interval := inMap(e.HasAddrMax, e.AddrMax)
	if concat {
		want = append(want, portFormat)
	}
	if e.Flags&expr.NATFlagNetmap != 0 {
		s.Mode = syntax.NATPrefix
	}
	if concat || interval || s.Mode == syntax.NATPrefix {
		s.Family = text(family.String())
	}
	s.Addr = r.mapAs(m, want, interval)
	if !concat {
		s.Port = r.portRange(e.HasProto, e.HasProtoMax, e.ProtoMin, e.ProtoMax)
	}
	r.emit(s)
}

// tproxy takes `tproxy [ip|ip6] to ADDR:PORT`.
func (r *rule) tproxy(e *expr.TProxy) {
	s := &syntax.TProxy{}
	family := catalog.Family(e.Family)
	if family != catalog.FamilyUnspec && family != r.table.Family {
		s.Family = text(family.String())
	}
	if e.HasAddr {
		f := r.addressFormat(family)
		s.Addr = r.valueAs(r.regs.get(e.Addr), &f)
	}
	if e.HasPort {
		s.Port = r.valueAs(r.regs.get(e.Port), &portFormat)
	}
	r.emit(s)
}
