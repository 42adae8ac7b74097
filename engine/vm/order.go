package vm

import "verdict/catalog"

// Ordered is something in a ruleset because of which the outcome of packets
// depends on their order, beyond that of packets of one connection.
type Ordered struct {
	What string // such as "limit", "numgen"
	Rule uint32 // number of the first rule that does it
}

// Ordered lists what makes the outcome depend on the order of all packets: one
// entry for each kind. Without any, packets of different connections may be
// evaluated side by side, by machines that count apart (CountApart).
func (p *Program) Ordered() []Ordered {
	var list []Ordered
	seen := map[string]bool{}
	add := func(what string, rule uint32) {
		if what != "" && !seen[what] {
			seen[what] = true
			list = append(list, Ordered{what, rule})
		}
	}
	for i := range p.rules {
		r := &p.rules[i]
		for j := r.start; j < r.end; j++ {
			in := &p.code[j]
			add(orderedBy(in.op, in), uint32(i))
			switch in.op {
			case opLookup:
				add(p.sets[in.ref].ordered(), uint32(i))
			case opObjref:
				set := p.objrefs[in.ref].set
				add(set.ordered(), uint32(i))
				for _, t := range set.objects {
					add(orderedBy(t.op, &inst{}), uint32(i))
				}
			case opPayloadWrite:
				add(rewriteOrdered(in, r.chain.Table.Family), uint32(i))
			}
		}
	}
	return list
}

// orderedBy names what one instruction does; "" for those that do not depend
// on other packets.
func orderedBy(op opcode, in *inst) string {
	switch op {
	case opLimit:
		return "limit"
	case opQuota:
		return "quota"
	case opConnLimit:
		return "ct count"
	case opLast:
		return "last"
	case opNumgen:
		return "numgen"
	case opDynset:
		return "a set that packets change"
	case opCTObject:
		return "ct helper, timeout or expectation"
	case opNAT, opMasq, opRedir:
		return "address translation"
	case opSynproxy:
		return "synproxy"
	case opFlowOffload:
		return "flow add"
	case opMeta:
		if in.sub == metaPrandom {
			return "meta random"
		}
	case opCT:
		if in.sub == ctID {
			return "ct id"
		}
	}
	return ""
}

// ordered tells sets that packets change, wholly or in what elements count.
func (r *setRef) ordered() string {
	switch {
	case r.live != nil:
		return "a set that packets change"
	case r.withExpr:
		return "a set whose elements keep state"
	}
	return ""
}

// rewriteOrdered tells writes to what a forwarded packet is recognised by when
// it is seen again: all but its service class, its time to live, and what lies
// beside these.
func rewriteOrdered(in *inst, family catalog.Family) string {
	at, end := in.off, in.off+uint32(in.len)
	switch catalog.Base(in.sub) {
	case catalog.BaseLink:
		return ""
	case catalog.BaseNetwork:
		class, hops := uint32(2), [2]uint32{8, 12} // of IPv4, with the checksum
		if family == catalog.FamilyIP6 {
			class, hops = 4, [2]uint32{6, 8}
		}
		if end <= class || at >= hops[0] && end <= hops[1] {
			return ""
		}
	}
	return "payload rewriting of what packets are recognised by"
}
