package nftjson

import (
	"strconv"

	"verdict/catalog"
	"verdict/nft/syntax"
)

// statement writes a statement of a rule.
func (w *writer) statement(s syntax.Statement) {
	switch s := s.(type) {
	case *syntax.Match:
		w.match(s)
	case *syntax.VerdictStatement:
		if v := s.Verdict; (v.Kind == catalog.VerdictJump || v.Kind == catalog.VerdictGoto) && v.Chain == nil {
			w.anonymousChain(s)
			return
		}
		w.verdict(s.Verdict)
	case *syntax.VMapStatement:
		w.mapExpr(s.Map)
	case *syntax.Counter:
		if !s.Given {
			w.null("counter")
			return
		}
		w.wrap("counter")
		w.counterNumbers(s)
		w.unwrap()
	case *syntax.ObjectRef:
		w.objectRef(s)
	case *syntax.Quota:
		w.quota(s)
	case *syntax.Limit:
		w.limit(s)
	case *syntax.ConnLimit:
		w.wrap("ct count")
		w.key("val")
		w.number(uint64(s.Count))
		if s.Over {
			w.key("inv")
			w.bool(true)
		}
		w.unwrap()
	case *syntax.Last:
		if s.Used == nil {
			w.null("last")
			return
		}
		w.wrap("last")
		w.key("used")
		w.number(s.Used.Milliseconds)
		w.unwrap()
	case *syntax.Log:
		w.log(s)
	case *syntax.Reject:
		w.reject(s)
	case *syntax.Assign:
		w.wrap("mangle")
		w.exprMember("key", s.Left)
		w.exprMember("value", s.Right)
		w.unwrap()
	case *syntax.SetUpdate:
		w.setUpdate(s)
	default:
		w.packetStatement(s)
	}
}

// anonymousChain writes a jump to an anonymous chain as text, because it has
// no form in JSON, without the handles of its rules.
func (w *writer) anonymousChain(s *syntax.VerdictStatement) {
	v := *s.Verdict
	v.Block = withoutNotes(v.Block)
	w.string(string(syntax.AppendStatement(nil, &syntax.VerdictStatement{At: s.At, Verdict: &v})))
}

// withoutNotes copies rules without what stands around them.
func withoutNotes(block []syntax.Item) []syntax.Item {
	plain := make([]syntax.Item, 0, len(block))
	for _, item := range block {
		r, ok := item.(*syntax.Rule)
		if !ok {
			continue
		}
		c := &syntax.Rule{At: r.At, Comment: r.Comment, Statements: make([]syntax.Statement, len(r.Statements))}
		copy(c.Statements, r.Statements)
		for i, s := range c.Statements {
			if v, ok := s.(*syntax.VerdictStatement); ok && len(v.Verdict.Block) > 0 {
				inner := *v.Verdict
				inner.Block = withoutNotes(inner.Block)
				c.Statements[i] = &syntax.VerdictStatement{At: v.At, Verdict: &inner}
			}
		}
		plain = append(plain, c)
	}
	return plain
}

// packetStatement writes the statements that send packets elsewhere.
func (w *writer) packetStatement(s syntax.Statement) {
	switch s := s.(type) {
	case *syntax.NAT:
		w.nat(s)
	case *syntax.TProxy:
		w.wrap("tproxy")
		w.text("family", s.Family.Text)
		w.exprMember("addr", s.Addr)
		w.exprMember("port", s.Port)
		w.unwrap()
	case *syntax.Synproxy:
		if *s == (syntax.Synproxy{At: s.At}) {
			w.null("synproxy")
			return
		}
		w.wrap("synproxy")
		w.synproxy(s)
		w.unwrap()
	case *syntax.Queue:
		w.queue(s)
	case *syntax.Dup:
		w.wrap("dup")
		w.exprMember("addr", s.Addr)
		w.exprMember("dev", s.Device)
		w.unwrap()
	case *syntax.Fwd:
		w.wrap("fwd")
		w.exprMember("dev", s.Device)
		w.text("family", s.Family.Text)
		w.exprMember("addr", s.Addr)
		w.unwrap()
	case *syntax.Notrack:
		w.null("notrack")
	case *syntax.FlowAdd:
		w.wrap("flow")
		w.text("op", "add")
		w.exprMember("flowtable", s.Table)
		w.unwrap()
	case *syntax.ResetTCPOption:
		w.open('{')
		w.key("reset")
		w.resetOption(s.Option)
		w.close('}')
	case *syntax.XT:
		w.wrap("xt")
		kind := "match"
		if s.Target {
			kind = "target"
		}
		w.text("type", kind)
		w.text("name", s.Name.Text)
		w.unwrap()
	default:
		w.string(string(syntax.AppendStatement(nil, s)))
	}
}

// resetOption writes the option of a reset statement; one without a name
// covers no bits.
func (w *writer) resetOption(o *syntax.TCPOption) {
	if catalog.TCPOptionByName(o.Kind.Text) != nil || o.Raw {
		w.tcpOption(o)
		return
	}
	raw := *o
	kind, _ := strconv.ParseUint(o.Kind.Text, 0, 8)
	raw.Raw, raw.RawKind = true, uint8(kind)
	w.tcpOption(&raw)
}

// match writes a comparison.
func (w *writer) match(m *syntax.Match) {
	op, left, right := m.Op.String(), m.Left, m.Right
	if f, ok := right.(*syntax.FlagMatch); ok {
		left = &syntax.Binary{Op: syntax.OpAnd, Left: left, Right: flagMask(f.Mask)}
		right = flagMask(f.Value)
		if op == "" {
			op = "=="
		}
	}
	if op == "" {
		op = impliedOperator(left, right)
	}
	w.wrap("match")
	w.text("op", op)
	w.key("left")
	if f, ok := left.(*syntax.Fib); ok && f.Result.Text == catalog.FibCheck.Name && isBool(right) {
		// Compared with a truth value, the check is one of the interface.
		w.fib(f, "oif")
	} else {
		w.expr(left)
	}
	w.exprMember("right", right)
	w.unwrap()
}

func isBool(x syntax.Expr) bool {
	l, ok := x.(*syntax.Literal)
	return ok && l.Kind == syntax.LitWord && (l.Text == "exists" || l.Text == "missing")
}

// flagMask joins a list of flags by |.
func flagMask(x syntax.Expr) syntax.Expr {
	l, ok := x.(*syntax.List)
	if !ok || len(l.Items) == 0 {
		return x
	}
	all := l.Items[0]
	for _, item := range l.Items[1:] {
		all = &syntax.Binary{Op: syntax.OpOr, Left: all, Right: item}
	}
	return all
}

// impliedOperator is what a comparison without an operator means: "in" where
// it asks for any of several bits, and for times of day over midnight of UTC,
// else equality.
func impliedOperator(left, right syntax.Expr) string {
	switch right := right.(type) {
	case *syntax.List:
		return "in"
	case *syntax.Literal, *syntax.Binary:
		if isFlags(left) {
			return "in"
		}
	case *syntax.Range:
		if m, ok := left.(*syntax.Meta); ok && m.Key.Text == "hour" && overMidnight(right) {
			return "in"
		}
	}
	return "=="
}

// overMidnight reports whether a range of times of day wraps in UTC, which
// the values of its ends say.
func overMidnight(r *syntax.Range) bool {
	from, _ := r.From.(*syntax.Literal)
	to, _ := r.To.(*syntax.Literal)
	return from != nil && to != nil && from.Value > to.Value
}

func (w *writer) objectRef(s *syntax.ObjectRef) {
	w.open('{')
	w.key(s.Kind.String())
	if l, ok := s.Name.(*syntax.Literal); ok {
		w.string(l.Text)
	} else {
		w.expr(s.Name)
	}
	w.close('}')
}

func (w *writer) quota(q *syntax.Quota) {
	w.wrap("quota")
	n, unit := byteUnit(q.Bytes)
	w.key("val")
	w.number(n)
	w.text("val_unit", unit)
	if q.Over {
		w.key("inv")
		w.bool(true)
	}
	if q.Used != 0 {
		n, unit := byteUnit(q.Used)
		w.key("used")
		w.number(n)
		w.text("used_unit", unit)
	}
	w.unwrap()
}

func (w *writer) limit(l *syntax.Limit) {
	rate, rateUnit := l.Rate, ""
	burst, burstUnit := l.Burst, ""
	if l.ByBytes {
		rate, rateUnit = byteUnit(rate)
		burst, burstUnit = byteUnit(burst)
	}
	w.wrap("limit")
	w.key("rate")
	w.number(rate)
	w.key("burst")
	w.number(burst)
	w.text("per", perName(l.Unit))
	if l.Over {
		w.key("inv")
		w.bool(true)
	}
	w.text("rate_unit", rateUnit)
	w.text("burst_unit", burstUnit)
	w.unwrap()
}

func (w *writer) log(s *syntax.Log) {
	if s.Prefix == nil && s.Group == nil && s.Snaplen == nil && s.QueueThreshold == nil && !s.Level.Given() && len(s.Flags) == 0 {
		w.null("log")
		return
	}
	w.wrap("log")
	if l, ok := s.Prefix.(*syntax.Literal); ok {
		w.key("prefix")
		w.string(l.Text)
	}
	w.count("group", s.Group)
	w.count("snaplen", s.Snaplen)
	w.count("queue-threshold", s.QueueThreshold)
	w.text("level", s.Level.Text)
	if len(s.Flags) > 0 {
		w.key("flags")
		w.open('[')
		for _, f := range s.Flags {
			w.logFlag(f)
		}
		w.close(']')
	}
	w.unwrap()
}

// logFlag writes a group of flags: "tcp sequence" and "tcp options" each on
// their own.
func (w *writer) logFlag(f syntax.LogFlag) {
	if len(f.Sub) == 0 {
		w.string(f.Name.Text)
		return
	}
	for _, sub := range f.Sub {
		w.string(f.Name.Text + " " + sub.Text)
	}
}

func (w *writer) reject(s *syntax.Reject) {
	if !s.With.Given() {
		w.null("reject")
		return
	}
	w.wrap("reject")
	if s.With.Text == "tcp" {
		w.text("type", "tcp reset")
	} else {
		w.text("type", s.With.Text)
		w.exprMember("expr", s.Code)
	}
	w.unwrap()
}

// natNames are the statements by kind.
var natNames = [...]string{
	syntax.NATSource: "snat", syntax.NATDestination: "dnat",
	syntax.NATMasquerade: "masquerade", syntax.NATRedirect: "redirect",
}

func (w *writer) nat(s *syntax.NAT) {
	name := natNames[min(s.Kind, syntax.NATRedirect)]
	if s.Addr == nil && s.Port == nil && len(s.Flags) == 0 && !s.Family.Given() {
		w.null(name)
		return
	}
	w.wrap(name)
	w.text("family", s.Family.Text)
	w.exprMember("addr", s.Addr)
	w.exprMember("port", s.Port)
	flags := s.Flags
	if s.Mode == syntax.NATPrefix {
		flags = append(flags[:len(flags):len(flags)], syntax.Word{Text: "netmap"})
	}
	w.words("flags", flags)
	if s.Mode == syntax.NATPrefix {
		w.key("type_flags")
		w.strings([]string{"prefix"})
	}
	w.unwrap()
}

func (w *writer) queue(s *syntax.Queue) {
	w.wrap("queue")
	w.exprMember("num", s.Number)
	if s.Bypass || s.Fanout {
		w.key("flags")
		w.open('[')
		if s.Bypass {
			w.string("bypass")
		}
		if s.Fanout {
			w.string("fanout")
		}
		w.close(']')
	}
	w.unwrap()
}

// setUpdate writes a statement that adds to a set or map.
func (w *writer) setUpdate(s *syntax.SetUpdate) {
	e := s.Element
	name := "set"
	if e.Data != nil {
		name = "map"
	}
	w.wrap(name)
	w.text("op", s.Op.String())
	w.key("elem")
	key := *e
	key.Statements, key.Data = nil, nil
	w.elementKey(&key)
	w.exprMember("data", e.Data)
	w.exprMember(name, s.Set)
	if len(e.Statements) > 0 {
		w.key("stmt")
		w.open('[')
		for _, x := range e.Statements {
			w.statement(x)
		}
		w.close(']')
	}
	w.unwrap()
}
