package nftcmd

import (
	"fmt"
	"strings"

	"verdict/catalog"
	"verdict/nft/syntax"
)

// subject is what describe is asked about.
type subject struct {
	kind string // payload, meta, …; "" for a data type
	typ  *catalog.Type
	bits int
}

// describe prints a data type or the type of an expression, with its symbols.
// A word that is neither is no error, as in nft.
func (v *view) describe(x syntax.Expr) {
	if concat, ok := x.(*syntax.Concat); ok {
		v.found.Errorf(concat.Parts[1].Place(), "nft/describe", "syntax error, unexpected ., expecting end of file or newline or semicolon")
		return
	}
	s, ok := subjectOf(x)
	if !ok {
		writeString(&v.out, "symbol expression, datatype invalid (invalid)\n")
		return
	}
	if s.kind != "" {
		writeString(&v.out, s.kind+" expression, ")
	}
	if s.bits == 0 && s.kind != "" {
		writeString(&v.out, "datatype invalid (invalid)\n") // depends on the family
		return
	}
	fmt.Fprintf(&v.out, "datatype %s (%s)", s.typ.Name, s.typ.Description)
	if base := basesOf(s.typ); base != "" {
		fmt.Fprintf(&v.out, " (basetype %s)", base)
	}
	unit := "bits"
	if s.kind != "" && (s.typ == catalog.String || s.typ.Base == catalog.String) {
		unit, s.bits = "characters", s.bits/8
	}
	fmt.Fprintf(&v.out, ", %d %s\n", s.bits, unit)
	v.symbols(s.typ)
}

// basesOf names the types below a type.
func basesOf(t *catalog.Type) string {
	var names []string
	for b := t.Base; b != nil; b = b.Base {
		names = append(names, b.Description)
	}
	return strings.Join(names, ", ")
}

// symbols prints the symbols of a type in the order of its table.
func (v *view) symbols(t *catalog.Type) {
	switch {
	case t == catalog.InetProto:
		for _, s := range t.Symbols {
			fmt.Fprintf(&v.out, "\t%-30s\t%d\n", s.Name, s.Value)
		}
		return
	case len(t.Symbols) == 0 || t.HiddenSymbols || t == catalog.InetService:
		return
	case t.DecimalSymbols:
		writeString(&v.out, "\npre-defined symbolic constants (in decimal):\n")
	default:
		writeString(&v.out, "\npre-defined symbolic constants (in hexadecimal):\n")
	}
	digits := (t.Bits + 7) / 8 * 2
	for _, s := range t.Symbols {
		if t.DecimalSymbols {
			fmt.Fprintf(&v.out, "\t%-30s\t%20d\n", s.Name, s.Value)
		} else {
			fmt.Fprintf(&v.out, "\t%-30s\t0x%0*x\n", s.Name, digits, s.Value)
		}
	}
}

// subjectOf finds the type of an expression.
func subjectOf(x syntax.Expr) (subject, bool) {
	switch x := x.(type) {
	case *syntax.Literal:
		if t := catalog.TypeByName(x.Text); t != nil {
			return subject{typ: t, bits: t.Bits}, true
		}
		return subject{}, false
	case *syntax.HeaderField:
		return headerSubject(x)
	case *syntax.RawPayload:
		return subject{"payload", catalog.Integer, int(x.Length)}, true
	case *syntax.Meta:
		return keySubject("meta", catalog.MetaKey(x.Key.Text))
	case *syntax.CT:
		f, _ := catalog.FamilyByName(x.Family.Text)
		return keySubject("ct", catalog.CTKey(x.Key.Text, f))
	case *syntax.RT:
		f, _ := catalog.FamilyByName(x.Family.Text)
		return keySubject("rt", catalog.RTKey(x.Key.Text, f))
	case *syntax.Socket:
		return keySubject("socket", catalog.SocketKey(x.Key.Text))
	case *syntax.Fib:
		return keySubject("fib", catalog.FibResult(x.Result.Text))
	case *syntax.OSF:
		return keySubject("osf", catalog.OSFKey(x.Key.Text))
	case *syntax.IPsec:
		f, _ := catalog.FamilyByName(x.Family.Text)
		return keySubject("ipsec", catalog.XFRMKey(x.Key.Text, f))
	case *syntax.TunnelMeta:
		return keySubject("tunnel", catalog.TunnelKey(x.Key.Text))
	case *syntax.Numgen:
		return subject{"numgen", catalog.Integer, 32}, true
	case *syntax.Hash:
		return subject{"hash", catalog.Integer, 32}, true
	case *syntax.Inner:
		return subjectOf(x.Expr)
	case *syntax.ExthdrField:
		return optionSubject(catalog.ExthdrByName(x.Header.Text), x.Field.Text)
	case *syntax.TCPOption:
		if x.Raw {
			return subject{"exthdr", catalog.Integer, int(x.Length)}, true
		}
		return optionSubject(catalog.TCPOptionByName(x.Kind.Text), x.Field.Text)
	case *syntax.IPOption:
		return optionSubject(catalog.IPOptionByName(x.Name.Text), x.Field.Text)
	case *syntax.SCTPChunk:
		return optionSubject(catalog.SCTPChunkByName(x.Type.Text), x.Field.Text)
	}
	return subject{}, false
}

func headerSubject(x *syntax.HeaderField) (subject, bool) {
	p := catalog.ProtocolByName(x.Protocol.Text)
	if p == nil {
		return subject{}, false
	}
	for i := range p.Fields {
		if f := &p.Fields[i]; f.Name == x.Field.Text {
			return subject{"payload", f.Type, f.Bits}, true
		}
	}
	return subject{}, false
}

func keySubject(kind string, k *catalog.Key) (subject, bool) {
	if k == nil {
		return subject{}, false
	}
	return subject{kind, k.Type, k.Bits}, true
}

// optionSubject is a field of an extension header or option; without a field
// it is a test of its presence.
func optionSubject(o *catalog.Option, field string) (subject, bool) {
	if o == nil {
		return subject{}, false
	}
	if field == "" {
		return subject{"exthdr", catalog.Boolean, catalog.Boolean.Bits}, true
	}
	for i := range o.Fields {
		if f := &o.Fields[i]; f.Name == field {
			return subject{"exthdr", f.Type, f.Bits}, true
		}
	}
	return subject{}, false
}
