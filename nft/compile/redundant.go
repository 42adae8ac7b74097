package compile

import "verdict/catalog"

// dropRedundant removes tests that the packet is of the protocol that the
// table's family says already. Like nft, it keeps one that ends the rule,
// which would otherwise say nothing.
func (r *rule) dropRedundant() {
	if r.family != catalog.FamilyIP && r.family != catalog.FamilyIP6 {
		return
	}
	out := r.stmts[:0]
	for i, s := range r.stmts {
		if i < len(r.stmts)-1 && r.saysFamily(s) {
			continue
		}
		out = append(out, s)
	}
	clear(r.stmts[len(out):])
	r.stmts = out
}

func (r *rule) saysFamily(s statement) bool {
	m, ok := s.(*match)
	if !ok || m.op != cmpEq {
		return false
	}
	left, ok := m.left.(*meta)
	right, ok2 := m.right.(*constant)
	if !ok || !ok2 || left.tunnel != nil || left.key != protocolKey {
		return false
	}
	network := catalog.IP
	if r.family == catalog.FamilyIP6 {
		network = catalog.IP6
	}
	value, _ := number(protoNetdev, network)
	return right.n == small(value)
}

var protocolKey = catalog.MetaKey("protocol")
