package compile

import (
	"strconv"

	"verdict/catalog"
	"verdict/nft/syntax"
)

// typeofText is the canonical text of a typeof expression, which is kept with
// the set for listings.
func typeofText(e syntax.Expr) string { return string(syntax.AppendExpr(nil, canonical(e))) }

// canonical writes a selector as listings do.
func canonical(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.Concat:
		c := *e
		c.Parts = make([]syntax.Expr, len(e.Parts))
		for i, p := range e.Parts {
			c.Parts[i] = canonical(p)
		}
		return &c
	case *syntax.Meta:
		if key := catalog.MetaKey(e.Key.Text); key != nil {
			m := *e
			m.Key.Text, m.Qualified = key.Name, !key.PrintAlone
			return &m
		}
	case *syntax.TCPOption:
		return canonicalOption(e)
	case *syntax.Binary:
		b := *e
		b.Left = canonical(e.Left)
		return &b
	}
	return e
}

func canonicalOption(e *syntax.TCPOption) syntax.Expr {
	if e.Raw {
		return e
	}
	o := *e
	if n, err := strconv.ParseUint(e.Kind.Text, 0, 8); err == nil {
		if known := catalog.TCPOptionByKind(uint8(n)); known != nil {
			o.Kind.Text = known.Name
		}
	} else if e.Kind.Text == "sack0" {
		o.Kind.Text = "sack"
	}
	return &o
}
