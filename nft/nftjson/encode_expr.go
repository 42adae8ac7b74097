package nftjson

import (
	"math/big"
	"strconv"
	"strings"

	"verdict/catalog"
	"verdict/nft/syntax"
)

// expr writes an expression.
func (w *writer) expr(x syntax.Expr) {
	switch x := x.(type) {
	case nil:
		w.next()
		w.b = append(w.b, "null"...)
	case *syntax.Literal:
		w.literal(x)
	case *syntax.Variable:
		w.string("$" + x.Name)
	case *syntax.SetRef:
		w.string("@" + x.Name)
	case *syntax.Wildcard:
		w.string("*")
	case *syntax.SetLiteral:
		w.open('{')
		w.key("set")
		w.setItems(x)
		w.close('}')
	case *syntax.Element:
		w.element(x)
	case *syntax.List:
		w.open('[')
		for _, item := range x.Items {
			w.expr(item)
		}
		w.close(']')
	case *syntax.Concat:
		w.list("concat", func() {
			for _, p := range x.Parts {
				w.expr(p)
			}
		})
	case *syntax.Range:
		w.list("range", func() {
			w.expr(x.From)
			w.expr(x.To)
		})
	case *syntax.Prefix:
		w.wrap("prefix")
		w.exprMember("addr", x.Base)
		w.exprMember("len", x.Length)
		w.unwrap()
	case *syntax.Binary:
		w.list(x.Op.String(), func() {
			w.operands(x.Op, x.Left)
			if x.Op == syntax.OpLshift || x.Op == syntax.OpRshift {
				w.expr(x.Right)
			} else {
				w.operands(x.Op, x.Right)
			}
		})
	case *syntax.MapExpr:
		w.mapExpr(x)
	case *syntax.VerdictExpr:
		w.verdict(x)
	default:
		w.selector(x)
	}
}

// operands writes a side of an operation: those of a chain of the same
// operation one by one.
func (w *writer) operands(op syntax.Operator, side syntax.Expr) {
	b, ok := side.(*syntax.Binary)
	if !ok || b.Op != op {
		w.expr(side)
		return
	}
	w.operands(op, b.Left)
	w.operands(op, b.Right)
}

// literal writes a number as a number, all else as a string. Numbers over 64
// bits are hexadecimal strings.
func (w *writer) literal(l *syntax.Literal) {
	switch {
	case l.Kind == syntax.LitNumber && (len(l.Text) <= 18 || isUint64(l.Text)):
		w.integer(int64(l.Value)) // numbers in the reference's JSON have a sign
	case l.Kind == syntax.LitNumber:
		w.string(hexadecimal(l.Text))
	case l.Kind == syntax.LitWord && l.Text == "exists":
		w.bool(true)
	case l.Kind == syntax.LitWord && l.Text == "missing":
		w.bool(false)
	default:
		w.string(l.Text)
	}
}

func isUint64(text string) bool {
	_, err := strconv.ParseUint(strings.TrimPrefix(text, "-"), 0, 64)
	return err == nil
}

// hexadecimal is a long number's notation in JSON.
func hexadecimal(text string) string {
	n, ok := new(big.Int).SetString(text, 0)
	if !ok {
		return text
	}
	return "0x" + n.Text(16)
}

func (w *writer) mapExpr(m *syntax.MapExpr) {
	if m.Verdict {
		w.wrap("vmap")
	} else {
		w.wrap("map")
	}
	w.exprMember("key", m.Key)
	w.exprMember("data", m.Map)
	w.unwrap()
}

// verdict writes {"accept": null} and its like; jumps name their target.
func (w *writer) verdict(v *syntax.VerdictExpr) {
	name := v.Kind.String()
	if v.Kind != catalog.VerdictJump && v.Kind != catalog.VerdictGoto {
		w.null(name)
		return
	}
	w.wrap(name)
	w.key("target")
	if l, ok := v.Chain.(*syntax.Literal); ok {
		w.string(l.Text)
	} else {
		w.expr(v.Chain)
	}
	w.unwrap()
}
