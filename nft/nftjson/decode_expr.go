package nftjson

import (
	"slices"
	"strconv"

	"verdict/catalog"
	"verdict/nft/syntax"
)

// expr reads an expression; nil after an error.
func (d *decoder) expr(n *node) syntax.Expr {
	switch n.kind {
	case kindString:
		return d.stringExpr(n)
	case kindNumber:
		return d.numberExpr(n)
	case kindBool:
		text := "missing"
		if n.truth {
			text = "exists"
		}
		return &syntax.Literal{At: d.at(n), Text: text}
	case kindArray:
		return d.list(n)
	case kindNull:
		e := d.errorf(n, codeType, "expected an expression, found null")
		e.Expected = []string{"a string", "a number", "a list", "an object"}
		return nil
	}
	k, body := d.only(n)
	if k == nil {
		return nil
	}
	return d.namedExpr(n, k, body)
}

// stringExpr reads a string: a reference to a set or a literal.
func (d *decoder) stringExpr(n *node) syntax.Expr {
	switch {
	case d.textOf(n) == "":
		d.errorf(n, codeValue, "the string is empty")
		return nil
	case d.textOf(n)[0] == '@':
		if s := d.setRef(n); s != nil {
			return s
		}
		return nil
	}
	return newLiteral(d.at(n), d.textOf(n))
}

// setRef reads a reference to a set: its name behind an @.
func (d *decoder) setRef(n *node) *syntax.SetRef {
	s, ok := d.text(n)
	if !ok {
		return nil
	}
	if len(s) < 2 || s[0] != '@' {
		e := d.errorf(n, codeValue, "expected the name of a set behind an @, found %q", shortened(s))
		e.Expected = []string{"@NAME"}
		return nil
	}
	return &syntax.SetRef{At: d.at(n), Name: s[1:]}
}

// newLiteral makes a literal of a string: a number where it reads as one, a
// quoted string where the language needs quotes.
func newLiteral(at syntax.At, text string) *syntax.Literal {
	l := &syntax.Literal{At: at, Text: text}
	if v, ok := parseNumber(text); ok {
		l.Kind, l.Value = syntax.LitNumber, v
		return l
	}
	for i := 0; i < len(text); i++ {
		if c := text[i]; !isAlphanumeric(c) && c != ':' && (i == 0 || c != '.' && c != '-' && c != '_') {
			l.Kind = syntax.LitQuoted
			break
		}
	}
	return l
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// parseNumber reads decimal digits, or hexadecimal ones behind 0x; octal ones
// behind 0.
func parseNumber(text string) (v uint64, ok bool) {
	hex := len(text) > 2 && text[0] == '0' && text[1]|0x20 == 'x'
	digits := text
	if hex {
		digits = text[2:]
	}
	for i := 0; i < len(digits); i++ {
		c := digits[i]
		if c >= '0' && c <= '9' || hex && (c|0x20 >= 'a' && c|0x20 <= 'f') {
			continue
		}
		return 0, false
	}
	v, err := strconv.ParseUint(text, 0, 64)
	return v, err == nil
}

// numberExpr reads a whole number.
func (d *decoder) numberExpr(n *node) syntax.Expr {
	l := &syntax.Literal{At: d.at(n), Kind: syntax.LitNumber, Text: d.textOf(n)}
	if v, err := strconv.ParseUint(d.textOf(n), 10, 64); err == nil {
		l.Value = v
		return l
	}
	v, err := strconv.ParseInt(d.textOf(n), 10, 64)
	if err != nil {
		d.errorf(n, codeTooLarge, "expected a whole number of 64 bits, found %s", shortened(d.textOf(n)))
		return nil
	}
	l.Value = uint64(v)
	return l
}

func (d *decoder) literalUint(n *node, v uint64) *syntax.Literal {
	return &syntax.Literal{At: d.at(n), Kind: syntax.LitNumber, Text: strconv.FormatUint(v, 10), Value: v}
}

// list reads a list of flags; one alone stands for itself.
func (d *decoder) list(n *node) syntax.Expr {
	if len(n.items()) == 0 {
		d.errorf(n, codeValue, "the list is empty")
		return nil
	}
	items := d.exprs(n)
	if len(items) != len(n.items()) {
		return nil
	}
	if len(items) == 1 {
		return items[0]
	}
	return &syntax.List{At: d.at(n), Items: items}
}

// exprs reads the items of a list.
func (d *decoder) exprs(n *node) []syntax.Expr {
	items := make([]syntax.Expr, 0, len(n.items()))
	for i := range n.items() {
		if x := d.expr(&n.items()[i]); x != nil {
			items = append(items, x)
		}
	}
	return items
}

// operators are the operations on values by sign.
var operators = map[string]syntax.Operator{
	"&": syntax.OpAnd, "|": syntax.OpOr, "^": syntax.OpXor, "<<": syntax.OpLshift, ">>": syntax.OpRshift,
}

// exprNames are the names of expressions.
var exprNames = []string{
	"concat", "set", "map", "vmap", "prefix", "range", "payload", "exthdr", "tcp option", "ip option", "sctp chunk",
	"dccp option", "meta", "osf", "ipsec", "socket", "rt", "ct", "numgen", "jhash", "symhash", "fib", "tunnel", "elem",
	"|", "^", "&", "<<", ">>", "accept", "drop", "continue", "return", "jump", "goto",
}

// namedExpr reads an expression by its name.
func (d *decoder) namedExpr(n *node, k *key, body *node) syntax.Expr {
	if op, ok := operators[k.name]; ok {
		return d.binary(n, op, body)
	}
	if _, ok := verdicts[k.name]; ok {
		if v := d.verdict(n, k, body); v != nil {
			return v
		}
		return nil
	}
	switch k.name {
	case "concat":
		return d.concat(body)
	case "set":
		return d.anonymousSet(n, body)
	case "map", "vmap":
		if m := d.mapExpr(n, body, k.name == "vmap"); m != nil {
			return m
		}
		return nil
	case "prefix":
		return d.prefix(n, body)
	case "range":
		return d.rangeExpr(n, body)
	case "elem":
		if e := d.elementKey(n); e != nil {
			return e
		}
		return nil
	}
	if !slices.Contains(exprNames, k.name) {
		d.unknownKey(k, body, "expression", exprNames)
		return nil
	}
	return d.selector(n, k.name, body)
}

// maxOperands bounds the operands of one operation.
const maxOperands = 1000

// binary reads an operation with two operands or more, from the left.
func (d *decoder) binary(n *node, op syntax.Operator, body *node) syntax.Expr {
	if !d.want(body, kindArray) {
		return nil
	}
	if len(body.items()) < 2 || len(body.items()) > maxOperands {
		d.errorf(body, codeValue, "expected 2 to %d operands, found %d", maxOperands, len(body.items()))
		return nil
	}
	items := d.exprs(body)
	if len(items) != len(body.items()) {
		return nil
	}
	x := items[0]
	for _, right := range items[1:] {
		x = &syntax.Binary{At: d.at(n), Op: op, Left: x, Right: right}
	}
	return x
}

func (d *decoder) concat(body *node) syntax.Expr {
	if !d.want(body, kindArray) {
		return nil
	}
	if len(body.items()) < 2 {
		d.errorf(body, codeValue, "a concatenation has two parts or more, found %d", len(body.items()))
		return nil
	}
	parts := d.exprs(body)
	if len(parts) != len(body.items()) {
		return nil
	}
	return &syntax.Concat{At: d.at(body), Parts: parts}
}

func (d *decoder) anonymousSet(n, body *node) syntax.Expr {
	s := d.elements(body)
	s.At = d.at(n)
	if len(s.Elements) == 0 {
		if body.kind == kindArray && len(body.items()) == 0 {
			d.errorf(body, codeValue, "the set is empty")
		}
		return nil
	}
	return s
}

func (d *decoder) mapExpr(n, body *node, verdict bool) *syntax.MapExpr {
	if !d.object(body, "key", "data") {
		return nil
	}
	key, data := d.need(body, "key"), d.need(body, "data")
	if key == nil || data == nil {
		return nil
	}
	m := &syntax.MapExpr{At: d.at(n), Key: d.expr(key), Map: d.expr(data), Verdict: verdict}
	switch m.Map.(type) {
	case nil:
		return nil
	case *syntax.SetLiteral, *syntax.SetRef:
	default:
		e := d.errorf(data, codeType, "expected the elements of a map or the name of one")
		e.Expected = []string{`{"set": [[KEY, DATA], …]}`, `"@NAME"`}
		return nil
	}
	if m.Key == nil {
		return nil
	}
	return m
}

func (d *decoder) prefix(n, body *node) syntax.Expr {
	if !d.object(body, "addr", "len") {
		return nil
	}
	addr, length := d.need(body, "addr"), d.need(body, "len")
	if addr == nil || length == nil {
		return nil
	}
	base := d.expr(addr)
	v, ok := d.uint(length, 128)
	if base == nil || !ok {
		return nil
	}
	return &syntax.Prefix{At: d.at(n), Base: base, Length: d.literalUint(length, v)}
}

func (d *decoder) rangeExpr(n, body *node) syntax.Expr {
	if !d.want(body, kindArray) {
		return nil
	}
	if len(body.items()) != 2 {
		d.errorf(body, codeValue, "a range has two ends, found %d", len(body.items()))
		return nil
	}
	from, to := d.expr(&body.items()[0]), d.expr(&body.items()[1])
	if from == nil || to == nil {
		return nil
	}
	return &syntax.Range{At: d.at(n), From: from, To: to}
}

// verdicts are the verdicts by name.
var verdicts = map[string]catalog.VerdictKind{
	"accept": catalog.VerdictAccept, "drop": catalog.VerdictDrop, "continue": catalog.VerdictContinue,
	"return": catalog.VerdictReturn, "jump": catalog.VerdictJump, "goto": catalog.VerdictGoto,
}

// verdict reads {"accept": null}, {"jump": {"target": …}} and their like.
func (d *decoder) verdict(n *node, k *key, body *node) *syntax.VerdictExpr {
	v := &syntax.VerdictExpr{At: d.at(n), Kind: verdicts[k.name]}
	if v.Kind != catalog.VerdictJump && v.Kind != catalog.VerdictGoto {
		return v
	}
	if !d.object(body, "target") {
		return nil
	}
	w := d.name(body, "target")
	if !w.Given() {
		return nil
	}
	v.Chain = &syntax.Literal{At: w.At, Text: w.Text}
	return v
}
