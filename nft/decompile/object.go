package decompile

import (
	"encoding/hex"
	"net/netip"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// Object decompiles a stateful object.
func Object(obj *ruleset.Object, o Options) *syntax.StatefulObj {
	if o.json {
		o.Stateless = false // JSON shows the counts of objects always
	}
	x := &syntax.StatefulObj{
		Kind: objectKind(obj.Type), Name: text(obj.Name), HasBlock: true, Comment: text(obj.Comment),
	}
	if o.Handles {
		x.Trailing = handle(obj.Handle)
	}
	switch obj.Type {
	case expr.ObjectCounter:
		x.Counter, _ = o.stateful(obj.Counter).(*syntax.Counter)
	case expr.ObjectQuota:
		x.Quota, _ = o.stateful(obj.Quota).(*syntax.Quota)
	case expr.ObjectLimit:
		x.Limit = limit(obj.Limit)
		if !obj.Limit.Bytes && obj.Limit.Burst == defaultBurst {
			x.Limit.BurstGiven = false
		}
	case expr.ObjectCTHelper:
		x.Helper = helper(obj.Helper)
	case expr.ObjectCTTimeout:
		x.TimeoutSpec = o.timeoutPolicy(obj.TimeoutPol)
	case expr.ObjectCTExpectation:
		x.Expectation = o.expectation(obj.Expectation)
	case expr.ObjectSynproxy:
		x.Synproxy = synproxy(obj.Synproxy)
	case expr.ObjectSecmark:
		x.Secmark = text(obj.Secmark)
	case expr.ObjectTunnel:
		x.Tunnel = tunnel(obj.Tunnel)
	}
	return x
}

func protocolWord(n uint8) syntax.Word {
	s, _ := catalog.InetProto.SymbolByValue(uint64(n))
	return text(s)
}

func helper(h *ruleset.Helper) *syntax.HelperSpec {
	return &syntax.HelperSpec{Type: text(h.Name), Protocol: protocolWord(h.Protocol), L3Proto: text(h.L3Proto.String())}
}

// timeoutPolicy writes the states in the order in which the kernel numbers
// them.
func (o *Options) timeoutPolicy(p *ruleset.TimeoutPolicy) *syntax.TimeoutSpec {
	x := &syntax.TimeoutSpec{Protocol: protocolWord(p.Protocol), L3Proto: text(p.L3Proto.String())}
	for _, state := range timeoutStates(p) {
		x.Policy = append(x.Policy, syntax.TimeoutState{State: text(state), Value: o.span(uint64(p.Values[state]) * 1000)})
	}
	return x
}

// timeoutStates gives the states of a policy that differ from the default,
// in the kernel's order; those unknown to the protocol come last.
func timeoutStates(p *ruleset.TimeoutPolicy) []string {
	var list []string
	seen := map[string]bool{}
	for _, s := range catalog.TimeoutStates(p.Protocol) {
		seen[s.Name] = true
		if v, ok := p.Values[s.Name]; ok && v != s.Usual {
			list = append(list, s.Name)
		}
	}
	for _, s := range sortedKeys(p.Values) {
		if !seen[s] {
			list = append(list, s)
		}
	}
	return list
}

func (o *Options) expectation(e *ruleset.Expectation) *syntax.ExpectationSpec {
	return &syntax.ExpectationSpec{
		Protocol: protocolWord(e.Protocol), L3Proto: text(e.L3Proto.String()), Dport: decimal(uint64(e.Dport)),
		Timeout: o.span(uint64(e.Timeout)), Size: number(uint64(e.Size)),
	}
}

func tunnel(t *ruleset.Tunnel) *syntax.TunnelSpec {
	x := &syntax.TunnelSpec{ID: decimal(uint64(t.ID)), IPv6: len(t.Src) == 16 || len(t.Dst) == 16, Kind: text(t.Kind)}
	x.SrcIP, x.DstIP = tunnelAddress(t.Src), tunnelAddress(t.Dst)
	if t.Sport != 0 {
		x.Sport = decimal(uint64(t.Sport))
	}
	if t.Dport != 0 {
		x.Dport = decimal(uint64(t.Dport))
	}
	if t.TOS != 0 {
		x.TOS = decimal(uint64(t.TOS))
	}
	if t.TTL != 0 {
		x.TTL = decimal(uint64(t.TTL))
	}
	switch t.Kind {
	case "vxlan":
		x.VXLANGBP = decimal(uint64(t.VXLANGBP))
	case "erspan":
		erspan(x, t)
	case "geneve":
		for _, opt := range t.Geneve {
			x.Geneve = append(x.Geneve, syntax.GeneveOption{
				Class: hexNumber(uint64(opt.Class), 0), Type: hexNumber(uint64(opt.Type), 0),
				Data: quoted("0x" + hex.EncodeToString(opt.Data)),
			})
		}
	}
	return x
}

func erspan(x *syntax.TunnelSpec, t *ruleset.Tunnel) {
	x.ERSPANVersion = decimal(uint64(t.ERSPAN.Version))
	if t.ERSPAN.Version == 1 {
		x.ERSPANIndex = decimal(uint64(t.ERSPAN.Index))
		return
	}
	x.ERSPANDirection = text("ingress")
	if t.ERSPAN.Direction != 0 {
		x.ERSPANDirection = text("egress")
	}
	x.ERSPANHardwareID = decimal(uint64(t.ERSPAN.HardwareID))
}

func tunnelAddress(b []byte) syntax.Expr {
	a, ok := netip.AddrFromSlice(b)
	if !ok {
		return nil
	}
	return word_(addressText(a))
}
