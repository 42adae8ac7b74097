package ruleset

import (
	"slices"
	"syscall"

	"verdict/catalog"
	"verdict/nft/expr"
)

// checkObject makes the kernel's checks of an object's definition.
//
// Ref: nft_counter.c, nft_quota.c, nft_limit.c, nft_connlimit.c, nft_ct.c, nft_synproxy.c, nft_tunnel.c
func checkObject(t *Table, o *Object) error {
	if o.Type == expr.ObjectCounter && o.Counter == nil {
		o.Counter = &expr.Counter{}
	}
	if r := o.checkGiven(); r != nil {
		return r
	}
	var r *refusal
	switch o.Type {
	case expr.ObjectQuota:
		return checkAlone(t, o.Quota)
	case expr.ObjectLimit:
		return checkAlone(t, o.Limit)
	case expr.ObjectSynproxy:
		return checkAlone(t, o.Synproxy)
	case expr.ObjectCTHelper:
		r = o.Helper.check(t.Family)
	case expr.ObjectCTTimeout:
		r = o.TimeoutPol.check()
	case expr.ObjectCTExpectation:
		r = o.Expectation.check(t.Family)
	case expr.ObjectTunnel:
		if len(o.Tunnel.Src) == 0 && len(o.Tunnel.Dst) == 0 {
			r = refuse(syscall.EINVAL, "a tunnel without addresses").at(nameWord) // nft_tunnel.c, nft_tunnel_obj_init
		}
	}
	if r != nil {
		return r
	}
	return nil
}

// checkGiven checks that the definition belongs to the object's type.
func (o *Object) checkGiven() *refusal {
	given := map[expr.ObjectType]bool{
		expr.ObjectCounter: o.Counter != nil, expr.ObjectQuota: o.Quota != nil, expr.ObjectLimit: o.Limit != nil,
		expr.ObjectConnLimit: o.ConnLimit != nil, expr.ObjectSynproxy: o.Synproxy != nil, expr.ObjectSecmark: o.Secmark != "",
		expr.ObjectCTHelper: o.Helper != nil, expr.ObjectCTTimeout: o.TimeoutPol != nil,
		expr.ObjectCTExpectation: o.Expectation != nil, expr.ObjectTunnel: o.Tunnel != nil,
	}
	switch ok, known := given[o.Type]; {
	case !known:
		return refuse(syscall.EOPNOTSUPP, "object type %d", o.Type)
	case !ok:
		return refuse(syscall.EINVAL, "an object of type %d without its definition", o.Type)
	}
	return nil
}

// checkAlone checks an expression that is an object of its own.
func checkAlone(t *Table, e expr.Expr) error {
	c := expr.Checker{Place: t.edit.place}
	return e.Check(&c)
}

// helpers are the helpers of connection tracking with their protocols.
//
// Ref: net/netfilter/nf_conntrack_*.c
var helpers = map[string][]uint8{
	"amanda": {17}, "ftp": {6}, "H.245": {6}, "irc": {6}, "netbios-ns": {17}, "pptp": {6}, "Q.931": {6}, "RAS": {17},
	"sane": {6}, "sip": {6, 17}, "snmp": {17}, "snmp_trap": {17}, "tftp": {17},
}

// Ref: nft_ct.c, nft_ct_helper_obj_init
func (h *Helper) check(f catalog.Family) *refusal {
	l3 := h.L3Proto
	if l3 == catalog.FamilyUnspec {
		l3 = f
	}
	switch {
	case l3 == catalog.FamilyIP && f == catalog.FamilyIP6, l3 == catalog.FamilyIP6 && f == catalog.FamilyIP:
		return refuse(syscall.EINVAL, "a helper for %v in a table of family %v", l3, f)
	case l3 != catalog.FamilyIP && l3 != catalog.FamilyIP6 && l3 != catalog.FamilyInet:
		return refuse(syscall.EINVAL, "a helper for %v", l3)
	case !slices.Contains(helpers[h.Name], h.Protocol):
		return refuse(syscall.ENOENT, "no helper %q for protocol %d", h.Name, h.Protocol)
	}
	return nil
}

// Ref: nft_ct.c, nft_ct_timeout_obj_init
func (p *TimeoutPolicy) check() *refusal {
	states := catalog.TimeoutStates(p.Protocol)
	for state := range p.Values {
		known := func(s catalog.TimeoutState) bool { return s.Name == state }
		if states != nil && !slices.ContainsFunc(states, known) {
			return refuse(syscall.EINVAL, "protocol %d has no state %q", p.Protocol, state)
		}
	}
	return nil
}

// Ref: nft_ct.c, nft_ct_expect_obj_init
func (e *Expectation) check(f catalog.Family) *refusal {
	l3 := e.L3Proto
	if l3 == catalog.FamilyUnspec {
		l3 = f
	}
	switch {
	case l3 != catalog.FamilyIP && l3 != catalog.FamilyIP6:
		return refuse(syscall.EAFNOSUPPORT, "an expectation is for ip or ip6")
	case f != l3 && f != catalog.FamilyInet:
		return refuse(syscall.EINVAL, "an expectation for %v in a table of family %v", l3, f)
	}
	switch e.Protocol {
	case 6, 17, 33, 132, 136: // TCP, UDP, DCCP, SCTP, UDP-Lite
		return nil
	}
	return refuse(syscall.EOPNOTSUPP, "an expectation for protocol %d", e.Protocol)
}

func hasFlowtables(f catalog.Family) bool {
	return f == catalog.FamilyIP || f == catalog.FamilyIP6 || f == catalog.FamilyInet
}

func checkDevices(devices []string) *refusal {
	for i, d := range devices {
		if slices.Contains(devices[:i], d) {
			return refuse(syscall.EEXIST, "device %q is named twice", d)
		}
	}
	return nil
}
