package kernel

import (
	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// asKernel gives a ruleset with what the kernel fills in by itself, so that it
// can be compared with one that was read back.
func asKernel(rs *ruleset.Ruleset) *ruleset.Ruleset {
	out := &ruleset.Ruleset{}
	for _, t := range rs.Tables {
		table := *t
		table.Chains = nil
		for _, c := range t.Chains {
			chain := *c
			chain.Rules = nil
			for _, r := range c.Rules {
				rule := *r
				rule.Exprs = make([]expr.Expr, len(r.Exprs))
				for i, e := range r.Exprs {
					rule.Exprs[i] = filledIn(t, e)
				}
				chain.Rules = append(chain.Rules, &rule)
			}
			table.Chains = append(table.Chains, &chain)
		}
		out.Tables = append(out.Tables, &table)
	}
	return out
}

// defaultLogLevel is that of log statements without one.
// Ref: nft_log.c, NFT_LOGLEVEL_WARNING.
const defaultLogLevel = 4

func filledIn(t *ruleset.Table, e expr.Expr) expr.Expr {
	switch e := e.(type) {
	case *expr.Log:
		x := *e
		if !x.HasGroup && !x.HasLevel {
			x.HasLevel, x.Level = true, defaultLogLevel
		}
		if x.Flags == 0 {
			x.HasFlags = false
		}
		return &x
	case *expr.Dynset:
		x := *e
		if s := t.Set(x.Set); s != nil && len(s.Exprs) > 0 {
			x.Exprs = nil // they are the set's
		}
		return &x
	case *expr.Limit:
		x := *e
		if !x.Bytes && x.Burst == 0 {
			x.Burst = 5
		}
		return &x
	case *expr.NAT:
		x := *e
		if x.HasAddr {
			x.Flags |= expr.NATFlagMapIPs
		}
		if x.HasAddr && !x.HasAddrMax {
			x.HasAddrMax, x.AddrMax = true, x.AddrMin
		}
		x.Flags |= fillPorts(x.HasProto, x.ProtoMin, &x.HasProtoMax, &x.ProtoMax)
		return &x
	case *expr.Masq:
		x := *e
		x.Flags |= fillPorts(x.HasProto, x.ProtoMin, &x.HasProtoMax, &x.ProtoMax)
		return &x
	case *expr.Redir:
		x := *e
		x.Flags |= fillPorts(x.HasProto, x.ProtoMin, &x.HasProtoMax, &x.ProtoMax)
		return &x
	}
	return e
}

// fillPorts makes the lower end of a range of ports its upper one where none is
// given, and gives the flag that says so.
// Ref: nft_nat.c, nft_nat_init.
func fillPorts(has bool, low expr.Reg, hasHigh *bool, high *expr.Reg) uint32 {
	if !has {
		return 0
	}
	if !*hasHigh {
		*hasHigh, *high = true, low
	}
	return expr.NATFlagProto
}

// renameChains gives the kernel's anonymous chains, whose numbers count since
// the machine started, the names that they have here.
func renameChains(rs *ruleset.Ruleset, names map[chainKey]string) {
	for _, t := range rs.Tables {
		for _, c := range t.Chains {
			if name, ok := names[chainKey{t.Family, t.Name, c.Name}]; ok {
				c.Name = name
			}
			for _, r := range c.Rules {
				for _, e := range r.Exprs {
					if x, ok := e.(*expr.Immediate); ok && x.Data.Verdict != nil {
						if name, ok := names[chainKey{t.Family, t.Name, x.Data.Verdict.Chain}]; ok {
							x.Data.Verdict.Chain = name
						}
					}
				}
			}
		}
	}
}
