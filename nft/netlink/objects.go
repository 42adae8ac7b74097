package netlink

import (
	"fmt"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// Numbers of the attributes of stateful objects.
const (
	objTable  = 1
	objName   = 2
	objType   = 3
	objData   = 4
	objUse    = 5
	objHandle = 6
	objPad    = 7
	objUser   = 8
)

func objectType(n uint32) expr.ObjectType { return expr.ObjectType(n) }

// object appends an object with its data.
func (w *encoder) object(table string, o *ruleset.Object, handle uint64) error {
	w.str(objTable, table)
	w.str(objName, o.Name)
	w.u32(objType, uint32(o.Type))
	if handle != 0 {
		w.u64(objHandle, handle)
	}
	var u userData
	u.text(udComment, o.Comment)
	w.userData(objUser, u)
	mark := w.begin(objData)
	if err := w.objectData(o); err != nil {
		return err
	}
	w.end(mark)
	return w.err
}

func (w *encoder) objectData(o *ruleset.Object) error {
	switch {
	case o.Type == expr.ObjectCounter:
		if o.Counter != nil {
			w.counter(o.Counter)
		}
	case o.Quota != nil:
		w.quota(o.Quota)
	case o.Limit != nil:
		w.limit(o.Limit)
	case o.ConnLimit != nil:
		w.connLimit(o.ConnLimit)
	case o.Synproxy != nil:
		w.synproxy(o.Synproxy)
	case o.Type == expr.ObjectSecmark:
		w.str(1, o.Secmark)
	case o.Helper != nil:
		w.str(1, o.Helper.Name)
		w.family(2, o.Helper.L3Proto)
		w.u8(3, o.Helper.Protocol)
	case o.TimeoutPol != nil:
		w.timeout(o.TimeoutPol)
	case o.Expectation != nil:
		e := o.Expectation
		w.family(1, e.L3Proto)
		w.u8(2, e.Protocol)
		w.u16(3, e.Dport)
		w.u32(4, e.Timeout)
		w.u8(5, e.Size)
	case o.Tunnel != nil:
		w.tunnel(o.Tunnel)
	default:
		return fmt.Errorf("object %s of type %d has no netlink form", o.Name, o.Type)
	}
	return nil
}

// family appends a network protocol, unless it is for the kernel to choose.
func (w *builder) family(t uint16, f catalog.Family) {
	if f != catalog.FamilyUnspec {
		w.u16(t, uint16(f))
	}
}

// timeout appends a timeout policy. States that it does not name have their
// usual time, not that which connections have otherwise.
func (w *builder) timeout(p *ruleset.TimeoutPolicy) {
	w.family(1, p.L3Proto)
	w.u8(2, p.Protocol)
	mark := w.begin(3)
	for i, state := range catalog.TimeoutStates(p.Protocol) {
		v, ok := p.Values[state.Name]
		if !ok {
			v = state.Usual
		}
		w.u32(uint16(i+1), v)
	}
	w.end(mark)
}

// readObject reads an object. ok is false where its data cannot be held.
func (f *fields) readObject() (o *ruleset.Object, ok bool) {
	f.skip(objUse, objPad)
	o = &ruleset.Object{Name: f.str(objName), Type: objectType(f.u32(objType)), Handle: f.u64(objHandle)}
	d := parseFields(f.take(objData))
	o.Comment, ok = comment(f.take(objUser))
	switch o.Type {
	case expr.ObjectCounter:
		o.Counter, _ = readCounter(d).(*expr.Counter)
	case expr.ObjectQuota:
		o.Quota, _ = readQuota(d).(*expr.Quota)
	case expr.ObjectLimit:
		o.Limit, _ = readLimit(d).(*expr.Limit)
	case expr.ObjectConnLimit:
		o.ConnLimit, _ = readConnLimit(d).(*expr.ConnLimit)
	case expr.ObjectSynproxy:
		o.Synproxy, _ = readSynproxy(d).(*expr.Synproxy)
	case expr.ObjectSecmark:
		o.Secmark = d.str(1)
	case expr.ObjectCTHelper:
		o.Helper = &ruleset.Helper{Name: d.str(1), L3Proto: d.family(2), Protocol: d.u8(3)}
	case expr.ObjectCTTimeout:
		o.TimeoutPol = d.readTimeout()
	case expr.ObjectCTExpectation:
		o.Expectation = &ruleset.Expectation{L3Proto: d.family(1), Protocol: d.u8(2), Dport: d.u16(3), Timeout: d.u32(4), Size: d.u8(5)}
	case expr.ObjectTunnel:
		o.Tunnel = d.readTunnelObject()
	default:
		return o, false
	}
	return o, ok && d.whole()
}

func (f *fields) family(t uint16) catalog.Family {
	v := f.u16(t)
	if v > 255 {
		f.odd = true
	}
	return catalog.Family(v)
}

func (f *fields) readTimeout() *ruleset.TimeoutPolicy {
	p := &ruleset.TimeoutPolicy{L3Proto: f.family(1), Protocol: f.u8(2), Values: map[string]uint32{}}
	v := parseFields(f.take(3))
	for i, state := range catalog.TimeoutStates(p.Protocol) {
		if t := uint16(i + 1); v.has(t) {
			p.Values[state.Name] = v.u32(t)
		}
	}
	f.odd = f.odd || !v.whole()
	return p
}
