package render

import (
	"slices"
	"strconv"
	"strings"

	"verdict/diag"
	"verdict/nft/decompile"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
	"verdict/trace"
)

// where is a place as file:line.
func where(s diag.Span) string {
	if !s.IsValid() {
		return ""
	}
	return s.Source.Name + ":" + strconv.Itoa(s.Pos().Line)
}

// ruleText is a rule as listings show it, on one line.
func ruleText(t *ruleset.Table, r *ruleset.Rule, o *decompile.Options) string {
	statements, comment := decompile.Rule(t, r, o)
	return oneLine(string(syntax.AppendRule(nil, &syntax.Rule{Statements: statements, Comment: syntax.Word{Text: comment}})))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// lastStatement is the text of the last statement of some expressions.
func lastStatement(t *ruleset.Table, exprs []expr.Expr, o *decompile.Options) string {
	statements, _ := decompile.Rule(t, &ruleset.Rule{Exprs: exprs}, o)
	if len(statements) == 0 {
		return ""
	}
	return oneLine(string(syntax.AppendStatement(nil, statements[len(statements)-1])))
}

// failing names the statement that ended a rule: the last one of what the
// rule executed.
func (t *Text) failing(e *trace.Event) string {
	c, r, _ := t.Program.Rule(e.Rule)
	if e.Expr >= len(r.Exprs) {
		return ""
	}
	if text := lastStatement(c.Table, r.Exprs[:e.Expr+1], &t.Options); text != "" {
		return text
	}
	return "[ " + string(r.Exprs[e.Expr].AppendText(nil)) + " ]"
}

// implied tells that a rule ended at a protocol test that its text does not
// show: nft adds it in front of a match that needs it.
func (t *Text) implied(e *trace.Event) bool {
	c, r, _ := t.Program.Rule(e.Rule)
	if e.LoadExpr < 0 || e.LoadExpr >= min(e.Expr, len(r.Exprs)) {
		return false
	}
	load, ok := r.Exprs[e.LoadExpr].(*expr.Meta)
	if !ok || load.Set {
		return false
	}
	switch load.Key.Name {
	case "nfproto", "l4proto", "protocol", "iiftype":
		return !strings.Contains(ruleText(c.Table, r, &t.Options), t.failing(e))
	}
	return false
}

// got says what the packet had instead: the rule's own selector with the value
// that was found in its place.
func (t *Text) got(e *trace.Event) string {
	c, r, _ := t.Program.Rule(e.Rule)
	if e.Expr >= len(r.Exprs) {
		return ""
	}
	switch x := r.Exprs[e.Expr].(type) {
	case *expr.Cmp, *expr.Range:
		return t.loaded(c.Table, r, e)
	case *expr.Lookup:
		return t.key(c.Table, r, e, x.Src)
	case *expr.Objref:
		return t.key(c.Table, r, e, x.Src)
	}
	return ""
}

// loaded shows the value of the last load before the comparison.
func (t *Text) loaded(table *ruleset.Table, r *ruleset.Rule, e *trace.Event) string {
	if e.LoadExpr < 0 || e.LoadExpr >= e.Expr {
		return ""
	}
	_, size := loadTarget(r.Exprs[e.LoadExpr])
	if size == 0 || size > len(e.Loaded) {
		return ""
	}
	return t.equality(table, r.Exprs[:e.LoadExpr+1], e.Loaded[:size])
}

// key shows the fields of a looked-up key, load by load. A load into the same
// register replaces the one before it.
func (t *Text) key(table *ruleset.Table, r *ruleset.Rule, e *trace.Event, src expr.Reg) string {
	type field struct {
		at, size int
		load     int
	}
	var fields []field
	start := src.Offset()
	for i, x := range r.Exprs[:e.Expr] {
		reg, size := loadTarget(x)
		at := reg.Offset() - start
		if size == 0 || at < 0 || at+size > len(e.Got) {
			continue
		}
		fields = slices.DeleteFunc(fields, func(f field) bool { return f.at < at+size && at < f.at+f.size })
		fields = append(fields, field{at, size, i})
	}
	var parts []string
	for _, f := range fields {
		if part := t.equality(table, r.Exprs[:f.load+1], e.Got[f.at:f.at+f.size]); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " . ")
}

// equality prints the last load of some expressions compared with a value.
func (t *Text) equality(table *ruleset.Table, exprs []expr.Expr, value []byte) string {
	load := exprs[len(exprs)-1]
	reg, _ := loadTarget(load)
	list := make([]expr.Expr, 0, len(exprs)+1)
	list = append(list, exprs...)
	list = append(list, &expr.Cmp{Src: reg, Op: expr.CmpEq, Value: expr.Value{Bytes: append([]byte(nil), value...)}})
	o := t.Options
	return strings.Replace(lastStatement(table, list, &o), " == ", " ", 1)
}

// loadTarget is the register and size of a load, 0 for other expressions.
func loadTarget(e expr.Expr) (expr.Reg, int) {
	switch x := e.(type) {
	case *expr.Payload:
		if !x.Write {
			return x.Dst, int(x.Len)
		}
	case *expr.Meta:
		if !x.Set {
			return x.Dst, (x.Key.Bits + 7) / 8
		}
	case *expr.CT:
		if !x.Set {
			return x.Dst, (x.Key.Bits + 7) / 8
		}
	case *expr.RT:
		return x.Dst, (x.Key.Bits + 7) / 8
	case *expr.Exthdr:
		if !x.Write && !x.Strip {
			return x.Dst, int(x.Len)
		}
	}
	return 0, 0
}
