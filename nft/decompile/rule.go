package decompile

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

type statement = syntax.Statement

// rule is the state of decompiling one rule.
type rule struct {
	o     *Options
	table *ruleset.Table
	regs  registers
	outer layers
	inner map[uint32]*layers // by tunnel type
	out   []statement        // nil where a test was dropped again
	depth int                // of anonymous chains
}

// maxDepth is how deep anonymous chains may nest in the text; the kernel
// allows 16 jumps.
const maxDepth = 16

// Rule decompiles a rule of a table into its statements and its comment.
// Cost: linear in the rule and the elements of its anonymous sets.
func Rule(t *ruleset.Table, rl *ruleset.Rule, o *Options) ([]syntax.Statement, string) {
	return statementsOf(t, rl, o, 0), rl.Comment
}

func statementsOf(t *ruleset.Table, rl *ruleset.Rule, o *Options, depth int) []statement {
	r := rule{o: o, table: t, depth: depth}
	r.outer.init(t.Family)
	r.out = make([]statement, 0, len(rl.Exprs))
	for _, e := range rl.Exprs {
		r.add(e)
	}
	r.compact()
	return r.out
}

// emit appends a statement. What is no match closes the tests before it:
// leaving them out would move them behind that statement.
func (r *rule) emit(s statement) {
	r.out = append(r.out, s)
	if _, match := s.(*syntax.Match); match {
		return
	}
	r.outer.deps.reset()
	for _, l := range r.inner {
		l.deps.reset()
	}
}

// add takes the next expression of the rule.
func (r *rule) add(e expr.Expr) {
	switch e := e.(type) {
	case *expr.Payload, *expr.Meta, *expr.CT, *expr.Exthdr:
		r.addPacket(e)
	case *expr.RT:
		r.regs.set(e.Dst, loadRT(e))
	case *expr.Socket:
		r.regs.set(e.Dst, loadSocket(e))
	case *expr.Fib:
		r.regs.set(e.Dst, loadFib(e))
	case *expr.OSF:
		r.regs.set(e.Dst, loadOSF(e))
	case *expr.XFRM:
		r.regs.set(e.Dst, loadXFRM(e))
	case *expr.Tunnel:
		r.regs.set(e.Dst, loadTunnel(e))
	case *expr.Numgen:
		r.regs.set(e.Dst, loadNumgen(e))
	case *expr.Hash:
		r.loadHash(e)
	case *expr.Inner:
		r.loadInner(e)
	case *expr.Bitwise:
		r.bitwise(e)
	case *expr.Byteorder:
		r.byteorder(e)
	case *expr.Immediate:
		r.immediate(e)
	case *expr.Cmp:
		r.compare(r.regs.span(e.Src, len(e.Value.Bytes)), operatorOf(e.Op), e.Value.Bytes)
	case *expr.Range:
		r.compareRange(r.regs.span(e.Src, len(e.From.Bytes)), e.Neq, e.From.Bytes, e.To.Bytes)
	case *expr.Lookup:
		r.lookup(e)
	case *expr.Dynset:
		r.dynset(e)
	case *expr.Objref:
		r.objref(e)
	default:
		r.action(e)
	}
}

// addPacket takes the expressions that either load or write.
func (r *rule) addPacket(e expr.Expr) {
	switch e := e.(type) {
	case *expr.Payload:
		if e.Write {
			r.writePayload(e)
		} else {
			r.regs.set(e.Dst, loadPayload(e))
		}
	case *expr.Meta:
		if e.Set {
			r.setMeta(e)
		} else {
			r.regs.set(e.Dst, loadMeta(e.Key))
		}
	case *expr.CT:
		if e.Set {
			r.setCT(e)
		} else {
			r.regs.set(e.Dst, r.loadCT(e))
		}
	case *expr.Exthdr:
		switch {
		case e.Strip:
			r.emit(&syntax.ResetTCPOption{Option: tcpOption(e.Type)})
		case e.Write:
			r.writeExthdr(e)
		default:
			r.regs.set(e.Dst, loadExthdr(e))
		}
	}
}

// immediate takes a verdict as a statement and a value into its register.
func (r *rule) immediate(e *expr.Immediate) {
	if v := e.Data.Verdict; v != nil {
		r.emit(&syntax.VerdictStatement{Verdict: r.verdict(v)})
		return
	}
	r.regs.set(e.Dst, &operand{kind: operandConstant, value: e.Data.Value.Bytes, bytes: len(e.Data.Value.Bytes)})
}

// verdict writes a verdict; a jump to an anonymous chain shows its rules.
func (r *rule) verdict(v *expr.Verdict) *syntax.VerdictExpr {
	x := &syntax.VerdictExpr{Kind: v.Kind}
	if v.Kind != catalog.VerdictJump && v.Kind != catalog.VerdictGoto {
		return x
	}
	if c := r.table.Chain(v.Chain); c != nil && c.Binding && r.depth < maxDepth {
		x.Block = make([]syntax.Item, 0, len(c.Rules))
		for _, rl := range c.Rules {
			x.Block = append(x.Block, ruleItem(r.table, rl, r.o, r.depth+1))
		}
		return x
	}
	x.Chain = name(v.Chain)
	return x
}

func operatorOf(op expr.CmpOp) syntax.Operator {
	return [...]syntax.Operator{
		expr.CmpEq: syntax.OpEq, expr.CmpNeq: syntax.OpNeq, expr.CmpLt: syntax.OpLt,
		expr.CmpLte: syntax.OpLte, expr.CmpGt: syntax.OpGt, expr.CmpGte: syntax.OpGte,
	}[min(op, expr.CmpGte)]
}
