package decompile

import (
	"strconv"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

var present = format{typ: catalog.Boolean, form: catalog.FormBoolean, bits: 8, order: catalog.OrderHost}

func loadExthdr(e *expr.Exthdr) *operand {
	if e.Present {
		return &operand{kind: operandExthdr, exthdr: e, bytes: 1, format: present}
	}
	return &operand{
		kind: operandExthdr, exthdr: e, offset: int(e.Offset) * 8, bytes: int(e.Len),
		format: format{typ: catalog.Integer, bits: int(e.Len) * 8, order: catalog.OrderNetwork},
	}
}

// optionLists are the catalog's options by the kernel's operation.
func optionList(op uint32) []*catalog.Option {
	switch op {
	case expr.ExthdrTCPOpt:
		return catalog.TCPOptions
	case expr.ExthdrIPv4:
		return catalog.IPOptions
	case expr.ExthdrSCTP:
		return catalog.SCTPChunks
	}
	return catalog.Exthdrs
}

// exthdrField finds the field that bits of an option are.
func exthdrField(e *expr.Exthdr, offset, bits, routingType int) (*catalog.Option, *catalog.OptionField, int) {
	if e.Op == expr.ExthdrIPv6 && routingType >= 0 && e.Type == 43 {
		if o := catalog.RoutingHeader(routingType); o != nil {
			if o, f, index := catalog.OptionFieldAt([]*catalog.Option{o}, e.Type, offset, bits); f != nil {
				return o, f, index
			}
		}
	}
	if e.Op == expr.ExthdrIPv6 && e.Type == 43 {
		return catalog.OptionFieldAt(routingHeaders, e.Type, offset, bits)
	}
	return catalog.OptionFieldAt(optionList(e.Op), e.Type, offset, bits)
}

// routingHeaders are the headers of a routing header whose type was not
// tested: the general one, and the only type in use, segment routing.
var routingHeaders = []*catalog.Option{catalog.ExthdrByName("rt"), catalog.ExthdrByName("srh"), catalog.ExthdrByName("rt0"), catalog.ExthdrByName("rt2")}

// nameExthdr writes an operand of an extension header or option.
func (r *rule) nameExthdr(o *operand) (syntax.Expr, format) {
	e := o.exthdr
	r.dropForExthdr(e.Op)
	if e.Present {
		return presenceExpr(e), present
	}
	opt, f, index := exthdrField(e, o.offset, o.bits, r.outer.routingType)
	if f == nil {
		return rawExthdr(o), o.format
	}
	fm := optionFieldFormat(f)
	fm.shift = o.shift
	switch e.Op {
	case expr.ExthdrTCPOpt:
		return &syntax.TCPOption{Kind: text(opt.Name), Field: text(f.Name)}, fm
	case expr.ExthdrIPv4:
		return &syntax.IPOption{Name: text(opt.Name), Field: text(f.Name)}, fm
	case expr.ExthdrSCTP:
		return &syntax.SCTPChunk{Type: text(opt.Name), Field: text(f.Name)}, fm
	}
	x := &syntax.ExthdrField{Header: text(opt.Name), Field: text(f.Name)}
	if index > 0 {
		x.Index = number(uint64(index))
	}
	return x, fm
}

// rawExthdr writes bits of an option that have no name. Only TCP options have
// such a form.
func rawExthdr(o *operand) syntax.Expr {
	return &syntax.TCPOption{
		Raw: true, RawKind: o.exthdr.Type, Offset: uint32(o.offset), Length: uint32(o.bits),
	}
}

func presenceExpr(e *expr.Exthdr) syntax.Expr {
	switch e.Op {
	case expr.ExthdrTCPOpt:
		return tcpOption(e.Type)
	case expr.ExthdrIPv4:
		return &syntax.IPOption{Name: text(optionName(catalog.IPOptionByKind(e.Type), e.Type))}
	case expr.ExthdrSCTP:
		return &syntax.SCTPChunk{Type: text(optionName(catalog.SCTPChunkByKind(e.Type), e.Type))}
	case expr.ExthdrDCCP:
		return &syntax.DCCPOption{Kind: text(strconv.Itoa(int(e.Type)))}
	}
	return &syntax.ExthdrField{Header: text(optionName(catalog.ExthdrByKind(e.Type), e.Type))}
}

func optionName(o *catalog.Option, kind uint8) string {
	if o == nil {
		return strconv.Itoa(int(kind))
	}
	return o.Name
}

func tcpOption(kind uint8) *syntax.TCPOption {
	return &syntax.TCPOption{Kind: text(optionName(catalog.TCPOptionByKind(kind), kind))}
}

// dropForExthdr removes the protocol test that an option implies.
func (r *rule) dropForExthdr(op uint32) {
	s := slotTransport
	if op == expr.ExthdrIPv6 || op == expr.ExthdrIPv4 {
		s = slotNetwork
	}
	if l := &r.outer; l.deps[s].statement >= 0 && l.impliedBy(s, nil, nil) {
		r.drop(l, s)
	}
}
