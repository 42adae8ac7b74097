package compile

import (
	"slices"

	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// rule is the state of compiling one rule.
type rule struct {
	*compiler
	family  catalog.Family
	table   *tableInfo
	chain   *chainInfo
	ctx     *protoContext
	buffers *ruleBuffers
	inner   map[*catalog.Protocol]*protoContext
	stmts   []statement
	// declare is set where only the type of an expression matters: no
	// statements are wanted, and dependencies are not checked.
	declare bool
	// made collects the anonymous sets and chains that must exist first.
	made []ruleset.Change
	// key and want say what a map literal maps from and to.
	// assigning is the width in bits of what a statement sets, 0 in matches.
	assigning int
	// errorsBefore is the number of errors when the rule began.
	errorsBefore int
	ended        bool // a terminal verdict was seen
}

// statement is an evaluated statement that emits its bytecode.
type statement interface{ generate(g *generator) }

func (c *compiler) newRule(t *tableInfo, chain *chainInfo) *rule {
	return &rule{compiler: c, family: t.family, table: t, chain: chain, ctx: newProtoContext(t.family)}
}

// ruleBuffers are what compiling a rule fills for a short time.
type ruleBuffers struct {
	stmts     []statement
	generator generator
}

// borrow takes the compiler's buffers, or new ones where a rule around this
// one has them.
func (r *rule) borrow() {
	if r.buffers = r.spare; r.buffers == nil {
		r.buffers = &ruleBuffers{}
	}
	r.spare = nil
	r.stmts = r.buffers.stmts[:0]
}

func (r *rule) giveBack() {
	clear(r.stmts)
	r.buffers.stmts = r.stmts[:0]
	clear(r.buffers.generator.out)
	r.spare = r.buffers
}

// insert adds a statement that the current one depends on, before it.
func (r *rule) insert(s statement) { r.stmts = append(r.stmts, s) }

// errorf reports an error. Those that a failed statement before may have
// caused, such as a protocol that was not learned, are dropped.
func (r *rule) errorf(at diag.Span, code diag.Code, format string, args ...any) *diag.Diagnostic {
	if followUps[code] && r.diags.Errors() > r.errorsBefore {
		return &diag.Diagnostic{}
	}
	return r.diags.Errorf(at, code, format, args...)
}

// followUps are the errors about what the rest of the rule says.
var followUps = map[diag.Code]bool{
	"compile/conflicting-protocols": true, "compile/no-transport": true, "compile/family": true,
	"compile/ambiguous-payload": true, "compile/ct-family": true, "compile/rt-family": true,
	"compile/icmp-type": true, "compile/reject": true,
}

// compileRule gives the bytecode of a rule, with the words that errors of the
// kernel mark; ok is false where errors were reported.
func (r *rule) compileRule(stmts []syntax.Statement) (exprs []expr.Expr, places []diag.Span, ok bool) {
	r.errorsBefore = r.diags.Errors()
	r.borrow()
	defer r.giveBack()
	for i, s := range stmts {
		if r.ended {
			r.errorf(statementWord(s), "compile/after-terminal", "Statement after terminal statement has no effect").
				Related = []diag.Span{statementWord(stmts[i-1])}
		}
		r.ended = false
		r.statement(s)
	}
	if r.diags.Errors() > r.errorsBefore {
		return nil, nil, false
	}
	r.dropRedundant()
	r.mergePayloads()
	g := &r.buffers.generator
	g.out, g.places, g.overflow = g.out[:0], g.places[:0], false
	for _, s := range r.stmts {
		g.next = 0
		s.generate(g)
	}
	if g.overflow {
		var at diag.Span
		if len(stmts) > 0 {
			at = stmts[0].Place().To(stmts[len(stmts)-1].Place())
		}
		r.errorf(at, "compile/registers", "expression needs more registers than there are")
		return nil, nil, false
	}
	return slices.Clone(g.out), g.marked(), true
}

// statementWord is the place of the word that names a statement; that of the
// whole statement for comparisons.
func statementWord(s syntax.Statement) diag.Span {
	switch s.(type) {
	case *syntax.Match, *syntax.Assign, *syntax.VMapStatement:
		return s.Place()
	}
	return firstWord(s.Place())
}

// firstWord is the place of the first word within a place.
func firstWord(at diag.Span) diag.Span {
	text := at.Text()
	for i := 0; i < len(text); i++ {
		if !isNameByte(text[i]) && text[i] != '-' {
			at.End = at.Start + int32(i)
			break
		}
	}
	return at
}

// context is the protocol context of the packet, or of the packet inside a
// tunnel.
func (r *rule) context(tunnel *catalog.Protocol) *protoContext {
	if tunnel == nil {
		return r.ctx
	}
	if r.inner == nil {
		r.inner = map[*catalog.Protocol]*protoContext{}
	}
	c := r.inner[tunnel]
	if c == nil {
		c = innerContext(tunnel)
		r.inner[tunnel] = c
	}
	return c
}
