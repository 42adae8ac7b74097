package compile

import (
	"fmt"

	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// emitted is a statement that is one expression without operands of its own.
type emitted struct{ e expr.Expr }

func (s emitted) generate(g *generator) { g.emit(s.e) }

// placed is a statement whose errors mark a word of their own instead of the
// whole rule: the chain of a jump, a flowtable.
type placed struct {
	statement
	at diag.Span
}

func (s placed) generate(g *generator) {
	g.at = s.at
	s.statement.generate(g)
	g.at = diag.Span{}
}

// emitFunc is a statement that emits itself.
type emitFunc func(g *generator)

func (f emitFunc) generate(g *generator) { f(g) }

// statement evaluates one statement and adds what it stands for.
func (r *rule) statement(s syntax.Statement) {
	r.assigning = 0
	switch s := s.(type) {
	case *syntax.Match:
		r.matchStatement(s)
	case *syntax.VerdictStatement:
		r.verdictStatement(s)
	case *syntax.VMapStatement:
		if o := r.mapExpr(s.Map, nil); o != nil {
			r.insert(emitFunc(func(g *generator) { g.verdictMap(o.(*lookup)) }))
		}
	case *syntax.Counter, *syntax.Quota, *syntax.Limit, *syntax.ConnLimit, *syntax.Last:
		if e := r.stateful(s); e != nil {
			r.insert(emitted{e})
		}
	case *syntax.ObjectRef:
		r.objectRef(s)
	case *syntax.Log:
		r.logStatement(s)
	case *syntax.Reject:
		r.reject(s)
	case *syntax.NAT:
		r.nat(s)
	case *syntax.TProxy:
		r.tproxy(s)
	case *syntax.Synproxy:
		r.insert(emitted{r.synproxy(s)})
	case *syntax.Queue:
		r.queue(s)
	case *syntax.Dup:
		r.dup(s)
	case *syntax.Fwd:
		r.fwd(s)
	case *syntax.Notrack:
		r.insert(emitted{&expr.Notrack{}})
	case *syntax.FlowAdd:
		if s.Table != nil {
			r.insert(placed{emitted{&expr.FlowOffload{Flowtable: s.Table.Name}}, s.Span})
		}
	case *syntax.Assign:
		r.assign(s)
	case *syntax.ResetTCPOption:
		if _, kind, ok := r.tcpOptionKind(s.Option.Kind); ok {
			r.insert(emitted{&expr.Exthdr{Op: expr.ExthdrTCPOpt, Type: kind, Strip: true}})
		}
	case *syntax.SetUpdate:
		r.setUpdate(s)
	case *syntax.Meter:
		r.meter(s)
	case *syntax.XT:
		r.errorf(s.Span, "compile/xt", "xt expressions of iptables-nft cannot be loaded from text")
	default:
		r.errorf(s.Place(), "compile/statement", "unsupported statement")
	}
}

// verdictMap emits a lookup whose data are verdicts.
func (g *generator) verdictMap(l *lookup) {
	g.emit(&expr.Lookup{Set: l.set.name, SetID: l.set.id, Src: g.loaded(l.key), Dst: expr.RegVerdict, HasDst: true})
}

func (r *rule) verdictStatement(s *syntax.VerdictStatement) {
	if s.Verdict == nil {
		return
	}
	o := r.verdictOperand(s.Verdict)
	v, ok := o.(*verdict)
	if !ok {
		return
	}
	r.ended = v.v.Kind != catalog.VerdictContinue
	value := v.v
	e := emitted{&expr.Immediate{Dst: expr.RegVerdict, Data: expr.Data{Verdict: &value}}}
	if s.Verdict.Chain == nil {
		r.insert(e)
		return
	}
	r.insert(placed{e, s.Verdict.Chain.Place()})
}

// verdictOperand evaluates a verdict; nil after an error.
func (r *rule) verdictOperand(e *syntax.VerdictExpr) operand {
	v := &verdict{info: info{vtype: typeOf(catalog.Verdict), at: e.Span}, v: expr.Verdict{Kind: e.Kind}}
	if e.Kind != catalog.VerdictJump && e.Kind != catalog.VerdictGoto {
		return v
	}
	if e.Block != nil {
		v.v.Chain = r.anonymousChain(e)
		return v
	}
	name, ok := r.name(e.Chain)
	if !ok {
		return nil
	}
	v.v.Chain = name
	return v
}

// name evaluates a name that may be a variable.
func (c *compiler) name(e syntax.Expr) (string, bool) {
	switch l := c.expand(e).(type) {
	case nil:
		return "", false
	case *syntax.Literal:
		if len(l.Text) >= 256 {
			c.diags.Errorf(l.Span, "compile/name", "name too long, 256 characters maximum allowed")
			return "", false
		}
		return l.Text, true
	}
	c.diags.Errorf(e.Place(), "compile/name", "a name is needed here")
	return "", false
}

// anonymousChain compiles the block of a jump and gives the chain's
// placeholder.
func (r *rule) anonymousChain(e *syntax.VerdictExpr) string {
	r.lastChain++
	name := fmt.Sprintf("__chain%%d.%d", r.lastChain)
	r.made = append(r.made, ruleset.Change{
		Op: ruleset.OpAdd, Kind: ruleset.KindChain, Family: r.family, Table: r.table.name, Name: name,
		ChainDef: &ruleset.ChainDef{Binding: true}, Place: e.Span, TablePlace: e.Span, NamePlace: e.Span,
	})
	defer r.enter()()
	for _, it := range e.Block {
		switch it := it.(type) {
		case *syntax.Define:
			r.define(it)
		case *syntax.Undefine:
			r.undefine(it)
		case *syntax.Rule:
			inner := r.newRule(r.table, r.chain)
			exprs, places, ok := inner.compileRule(it.Statements)
			if !ok {
				continue
			}
			r.made = append(r.made, inner.made...)
			r.made = append(r.made, ruleset.Change{
				Op: ruleset.OpAdd, Kind: ruleset.KindRule, Family: r.family, Table: r.table.name, Name: name,
				RuleDef: &ruleset.RuleDef{Exprs: exprs, Places: places, Comment: r.comment(it.Comment)},
				Place:   it.Span, TablePlace: it.Span, NamePlace: it.Span,
			})
		}
	}
	return name
}

const maxComment = 128

// comment checks the length of a comment.
func (c *compiler) comment(w syntax.Word) string {
	if len(w.Text) > maxComment {
		c.diags.Errorf(w.Span, "compile/comment", "comment too long, %d characters maximum allowed", maxComment)
	}
	return w.Text
}

// stateful evaluates a statement that has a state; nil after an error.
func (c *compiler) stateful(s syntax.Statement) expr.Expr {
	switch s := s.(type) {
	case *syntax.Counter:
		return &expr.Counter{Packets: s.Packets, Bytes: s.Bytes}
	case *syntax.Quota:
		return &expr.Quota{Bytes: s.Bytes, Consumed: s.Used, Over: s.Over}
	case *syntax.Limit:
		return c.limit(s)
	case *syntax.ConnLimit:
		return &expr.ConnLimit{Count: s.Count, Over: s.Over}
	case *syntax.Last:
		l := &expr.Last{}
		if s.Used != nil {
			ms, ok := c.duration(s.Used)
			if !ok {
				return nil
			}
			l.Set, l.Msecs = true, ms
		}
		return l
	}
	c.diags.Errorf(s.Place(), "compile/stateful", "only counter, quota, limit, last and ct count can stand here")
	return nil
}

// defaultBurst is the burst of limits that count packets.
const defaultBurst = 5

func (c *compiler) limit(s *syntax.Limit) expr.Expr {
	if s.Rate == 0 {
		c.diags.Errorf(s.Span, "compile/limit", "limit rate must be >= 1")
		return nil
	}
	burst := s.Burst
	if !s.BurstGiven && !s.ByBytes {
		burst = defaultBurst
	}
	if burst > 1<<32-1 {
		c.diags.Errorf(s.Span, "compile/limit", "limit burst must be less than 4294967296")
		return nil
	}
	return &expr.Limit{Rate: s.Rate, Unit: s.Unit, Burst: uint32(burst), Bytes: s.ByBytes, Over: s.Over}
}

var objectTypes = map[syntax.Object]expr.ObjectType{
	syntax.ObjCounter: expr.ObjectCounter, syntax.ObjQuota: expr.ObjectQuota, syntax.ObjLimit: expr.ObjectLimit,
	syntax.ObjCTHelper: expr.ObjectCTHelper, syntax.ObjCTTimeout: expr.ObjectCTTimeout,
	syntax.ObjCTExpectation: expr.ObjectCTExpectation, syntax.ObjSynproxy: expr.ObjectSynproxy,
	syntax.ObjSecmark: expr.ObjectSecmark, syntax.ObjTunnel: expr.ObjectTunnel,
}

// objectRef evaluates a statement that runs a named object or one that a map
// names.
func (r *rule) objectRef(s *syntax.ObjectRef) {
	typ, ok := objectTypes[s.Kind]
	if !ok {
		r.errorf(s.Span, "compile/object", "unknown kind of object")
		return
	}
	switch x := r.expand(s.Name).(type) {
	case nil:
	case *syntax.Literal:
		r.insert(emitted{&expr.Objref{Type: typ, Name: x.Text}})
	case *syntax.MapExpr:
		r.objectMap(x, typ)
	default:
		r.errorf(s.Name.Place(), "compile/object", "the name of an object or a map is needed here")
	}
}

func (r *rule) objectMap(e *syntax.MapExpr, typ expr.ObjectType) {
	key := r.evaluate(e.Key, nil)
	if key == nil {
		return
	}
	if isConstant(key) {
		r.errorf(e.Key.Place(), "compile/map", "Map expression can not be constant")
		return
	}
	var s *setInfo
	switch x := r.expand(e.Map).(type) {
	case *syntax.SetRef:
		if s = r.findSet(x); s == nil || !r.checkKey(key, s, true, x.Span) {
			return
		}
		if s.object != typ {
			r.errorf(x.Span, "compile/map", "'%s' does not map to objects of this kind", x.Name)
			return
		}
		key = forSet(key, s)
	case *syntax.SetLiteral:
		set := r.literalSet(&key, x.Span)
		set.info.name, set.info.object = "__objmap%d", typ
		set.info.flags |= ruleset.SetObject
		if !set.literal(x) || !r.declareSet(set) {
			return
		}
		s = set.info
		if s.interval() {
			key = toOrder(key, catalog.OrderNetwork)
		}
	default:
		r.errorf(e.Map.Place(), "compile/map", "Expression is not a map")
		return
	}
	r.insert(emitFunc(func(g *generator) {
		g.emit(&expr.Objref{Set: s.name, SetID: s.id, Src: g.loaded(key), IsMap: true})
	}))
}
