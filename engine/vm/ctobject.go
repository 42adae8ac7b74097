package vm

import (
	"slices"
	"time"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/nft/ruleset"
)

// ctObject is what a rule gives to connections: a helper, timeouts, or an
// expectation.
type ctObject struct {
	object *ruleset.Object
	helper conntrack.Helper
	policy *conntrack.TimeoutPolicy // made for the first packet
}

// ctObject links an object of connection tracking. Connections of helpers that
// are not there get the helper's name only, which the program's uses tell.
func (l *linker) ctObject(o *ruleset.Object) objectTarget {
	c := &ctObject{object: o}
	if o.Helper != nil {
		helper, err := conntrack.HelperByName(o.Helper.Name, o.Helper.Protocol)
		if err != nil {
			helper = conntrack.NamedHelper(o.Helper.Name, o.Helper.Protocol)
			if u := &l.program.Uses; !slices.Contains(u.Helpers, o.Helper.Name) {
				u.Helpers = append(u.Helpers, o.Helper.Name)
			}
		}
		c.helper = helper
	}
	l.program.objects = append(l.program.objects, c)
	return objectTarget{op: opCTObject, ref: uint32(len(l.program.objects) - 1)}
}

// ctObject gives the packet's connection what the object holds. Helpers and
// timeouts of other protocols and families, and those for later packets of a
// connection, do nothing; expectations break.
// Ref: nft_ct.c, nft_ct_helper_obj_eval, nft_ct_timeout_obj_eval,
// nft_ct_expect_obj_eval.
func (m *Machine) ctObject(c *ctObject, in *inst) outcome {
	at := m.pkt.CT
	if at.Unknown() {
		return outCut
	}
	o := c.object
	switch {
	case o.Helper != nil:
		if at.Conn != nil && ofFamily(o.Helper.L3Proto, at.Conn) {
			m.Conns.AssignHelper(at.Conn, c.helper)
		}
	case o.TimeoutPol != nil:
		if at.Conn != nil && ofFamily(o.TimeoutPol.L3Proto, at.Conn) && m.policy(c) {
			m.Conns.SetTimeoutPolicy(at.Conn, c.policy)
		}
	default:
		return m.expect(o.Expectation, in)
	}
	return outNext
}

// ofFamily reports whether an object is for the connection's family.
func ofFamily(f catalog.Family, c *conntrack.Conn) bool {
	return f == catalog.FamilyUnspec || f == catalog.FamilyInet || f == c.Family()
}

// policy makes the object's timeouts, with the usual ones for those that it
// does not give, and the table's current ones of protocols without usual ones.
func (m *Machine) policy(c *ctObject) bool {
	if c.policy == nil {
		values := map[string]time.Duration{}
		for _, state := range catalog.TimeoutStates(c.object.TimeoutPol.Protocol) {
			values[state.Name] = time.Duration(state.Usual) * time.Second
		}
		for state, seconds := range c.object.TimeoutPol.Values {
			values[state] = time.Duration(seconds) * time.Second
		}
		policy, err := m.Conns.NewTimeoutPolicy(c.object.TimeoutPol.Protocol, values)
		if err != nil {
			return false // the ruleset's own checks refuse such names
		}
		c.policy = policy
	}
	return true
}

// expect lets the responder connect back.
func (m *Machine) expect(e *ruleset.Expectation, in *inst) outcome {
	conn := m.pkt.CT.Conn
	if conn == nil {
		return outBreak
	}
	family := e.L3Proto
	if family != catalog.FamilyIP && family != catalog.FamilyIP6 {
		family = conn.Family()
	}
	p := conntrack.Packet{View: m.pkt.View, Attachment: m.pkt.CT, Now: m.Now}
	matched, result := m.Conns.ExpectAnswer(&p, family, e.Protocol, e.Dport, time.Duration(e.Timeout)*time.Millisecond, int(e.Size))
	switch {
	case !matched:
		return outBreak
	case result == conntrack.Drop:
		return m.stop(catalog.VerdictDrop, in)
	}
	return outNext
}
