package compile

import (
	"strconv"

	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

var presence = vtype{typ: catalog.Boolean, bits: 8, order: catalog.OrderHost, limit: 1}

// newExthdr is the load of a field of an option, or of its presence where no
// field is given.
func newExthdr(op uint32, kind uint8, offset int, t vtype, at diag.Span) operand {
	e := &exthdr{info: info{vtype: t, at: at}, op: op, kind: kind, offset: offset}
	return narrow(e, &e.offset, t.bits)
}

func newPresence(op uint32, kind uint8, at diag.Span) operand {
	return &exthdr{info: info{vtype: presence, at: at}, op: op, kind: kind, present: true}
}

func (r *rule) optionField(op uint32, o *catalog.Option, kind uint8, field syntax.Word, index *syntax.Number, at diag.Span) operand {
	if !field.Given() {
		return newPresence(op, kind, at)
	}
	f := o.FieldByName(field.Text)
	if f == nil {
		d := r.errorf(field.Span, "compile/unknown-field", "option %s has no field '%s'", o.Name, field.Text)
		names := make([]string, len(o.Fields))
		for i := range o.Fields {
			names[i] = o.Fields[i].Name
		}
		suggest(d, field.Text, names)
		return nil
	}
	n := 1
	if index != nil {
		if f.Step == 0 || index.Value == 0 || index.Value > uint64(f.Indices) {
			r.errorf(index.Span, "compile/index", "index %d of %s is out of range", index.Value, field.Text)
			return nil
		}
		n = int(index.Value)
	}
	return newExthdr(op, kind, f.At(n), vtype{typ: f.Type, bits: f.Bits, order: f.ByteOrder()}, at)
}

// needExactly makes sure of a header for options that belong to it. The test
// goes to the head of the rule.
func (r *rule) needExactly(p *catalog.Protocol, at diag.Span) bool {
	if r.declare {
		return true
	}
	l := r.ctx.layers[p.Base]
	switch {
	case l.proto == p && len(l.also) == 0:
		return true
	case l.proto == nil:
		return r.prepended(func() bool { return r.dependExactly(p, at) })
	}
	if p.Base == catalog.BaseNetwork {
		r.errorf(at, "compile/conflicting-protocols", "cannot use exthdr with %s", l.proto.Name)
		return false
	}
	return r.conflict(at, p.Base, l.proto, p)
}

// dependExactly tests the selector of the link layer as the family knows it.
func (r *rule) dependExactly(p *catalog.Protocol, at diag.Span) bool {
	link := r.ctx.layers[catalog.BaseLink]
	if link.proto == nil || link.proto == protoUnknown || len(link.also) > 0 {
		return r.depend(r.ctx, p, at)
	}
	value, ok := number(link.proto, p)
	if !ok {
		return r.conflict(at, p.Base, link.proto, p)
	}
	r.test(r.ctx, link.proto, value, at)
	return true
}

func (r *rule) extensionHeader(e *syntax.ExthdrField) operand {
	o := catalog.ExthdrByName(e.Header.Text)
	if o == nil {
		r.errorf(e.Header.Span, "compile/unknown-header", "unknown extension header '%s'", e.Header.Text)
		return nil
	}
	if !r.needExactly(catalog.IP6, e.Span) {
		return nil
	}
	return r.optionField(expr.ExthdrIPv6, o, o.Kind, e.Field, e.Index, e.Span)
}

func (r *rule) tcpOption(e *syntax.TCPOption) operand {
	if e.Raw {
		if e.Length == 0 || e.Length > 128 || e.Offset > 8*255 {
			r.errorf(e.Span, "compile/tcp-option", "invalid offset or length of a raw tcp option")
			return nil
		}
		t := vtype{typ: catalog.Integer, bits: int(e.Length), order: catalog.OrderNetwork}
		return newExthdr(expr.ExthdrTCPOpt, e.RawKind, int(e.Offset), t, e.Span)
	}
	o, kind, ok := r.tcpOptionKind(e.Kind)
	if !ok {
		return nil
	}
	if e.Field.Given() && o == nil {
		o = &catalog.Option{Name: e.Kind.Text, Fields: catalog.TCPOptionByName("sack-perm").Fields}
	}
	if o == nil {
		return newPresence(expr.ExthdrTCPOpt, kind, e.Span)
	}
	return r.optionField(expr.ExthdrTCPOpt, o, kind, e.Field, nil, e.Span)
}

// tcpOptionKind resolves the name or number of a TCP option; the option is
// nil for numbers without a name.
func (r *rule) tcpOptionKind(w syntax.Word) (o *catalog.Option, kind uint8, ok bool) {
	if n, err := strconv.ParseUint(w.Text, 0, 64); err == nil {
		if n > 255 {
			r.errorf(w.Span, "compile/tcp-option", "value too large")
			return nil, 0, false
		}
		return catalog.TCPOptionByKind(uint8(n)), uint8(n), true
	}
	o = catalog.TCPOptionByName(w.Text)
	if o == nil {
		d := r.errorf(w.Span, "compile/tcp-option", "unknown tcp option '%s'", w.Text)
		suggest(d, w.Text, optionNames(catalog.TCPOptions))
		return nil, 0, false
	}
	return o, o.Kind, true
}

func optionNames(list []*catalog.Option) []string {
	names := make([]string, len(list))
	for i, o := range list {
		names[i] = o.Name
	}
	return names
}

func (r *rule) ipOption(e *syntax.IPOption) operand {
	o := catalog.IPOptionByName(e.Name.Text)
	if o == nil {
		d := r.errorf(e.Name.Span, "compile/ip-option", "unknown ip option '%s'", e.Name.Text)
		suggest(d, e.Name.Text, optionNames(catalog.IPOptions))
		return nil
	}
	if !r.needExactly(catalog.IP, e.Span) {
		return nil
	}
	return r.optionField(expr.ExthdrIPv4, o, o.Kind, e.Field, nil, e.Span)
}

func (r *rule) sctpChunk(e *syntax.SCTPChunk) operand {
	o := catalog.SCTPChunkByName(e.Type.Text)
	if o == nil {
		d := r.errorf(e.Type.Span, "compile/sctp-chunk", "unknown sctp chunk '%s'", e.Type.Text)
		suggest(d, e.Type.Text, optionNames(catalog.SCTPChunks))
		return nil
	}
	return r.optionField(expr.ExthdrSCTP, o, o.Kind, e.Field, nil, e.Span)
}

func (r *rule) dccpOption(e *syntax.DCCPOption) operand {
	kind, err := strconv.ParseUint(e.Kind.Text, 0, 8)
	if err != nil {
		r.errorf(e.Kind.Span, "compile/dccp-option", "dccp option kind '%s' is not a number up to 255", e.Kind.Text)
		return nil
	}
	return newPresence(expr.ExthdrDCCP, uint8(kind), e.Span)
}
