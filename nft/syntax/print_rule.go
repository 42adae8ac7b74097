package syntax

import (
	"strings"

	"verdict/catalog"
)

// rule writes a rule's statements and comment.
func (p *printer) rule(r *Rule) {
	for i, s := range r.Statements {
		if i > 0 {
			p.byte(' ')
		}
		p.statement(s)
	}
	if r.Comment.Given() {
		if len(r.Statements) > 0 {
			p.byte(' ')
		}
		p.str("comment ")
		p.quote(r.Comment.Text)
	}
}

// operatorSigns are the signs of the operators.
var operatorSigns = [...]string{
	OpImplicit: "", OpEq: "==", OpNeq: "!=", OpLt: "<", OpLte: "<=", OpGt: ">", OpGte: ">=",
	OpAnd: "&", OpOr: "|", OpXor: "^", OpLshift: "<<", OpRshift: ">>", OpNot: "!",
}

// String is the operator's sign, "" for OpImplicit.
func (o Operator) String() string {
	if int(o) < len(operatorSigns) {
		return operatorSigns[o]
	}
	return ""
}

func (p *printer) statement(s Statement) {
	switch s := s.(type) {
	case *Match:
		p.expr(s.Left)
		if s.Op != OpImplicit {
			p.byte(' ')
			p.str(s.Op.String())
		}
		p.byte(' ')
		p.expr(s.Right)
	case *VerdictStatement:
		p.verdict(s.Verdict)
	case *VMapStatement:
		p.mapExpr(s.Map)
	case *Counter:
		p.counter(s)
	case *ObjectRef:
		p.objectRef(s)
	case *Quota:
		p.str("quota ")
		p.quota(s)
	case *Limit:
		p.str("limit ")
		p.limit(s)
	case *ConnLimit:
		p.str("ct count ")
		if s.Over {
			p.str("over ")
		}
		p.number(uint64(s.Count))
	case *Last:
		p.last(s)
	case *Log:
		p.log(s)
	case *Reject:
		p.reject(s)
	case *NAT:
		p.nat(s)
	case *TProxy:
		p.str("tproxy")
		p.option(s.Family)
		p.str(" to ")
		if s.Port == nil {
			p.address(s.Addr, true) // in brackets even without a port
		} else {
			p.addressAndPort(s.Addr, s.Port)
		}
	case *Synproxy:
		p.str("synproxy")
		p.synproxy(s)
	case *Queue:
		p.queue(s)
	case *Dup:
		p.str("dup to ")
		p.expr(s.Addr)
		if s.Device != nil {
			p.str(" device ")
			p.expr(s.Device)
		}
	case *Fwd:
		p.fwd(s)
	case *Notrack:
		p.str("notrack")
	case *FlowAdd:
		p.str("flow add ")
		p.expr(s.Table)
	case *Assign:
		p.expr(s.Left)
		p.str(" set ")
		p.expr(s.Right)
	case *ResetTCPOption:
		p.str("reset ")
		p.expr(s.Option)
	case *SetUpdate:
		p.str(s.Op.String())
		p.byte(' ')
		p.expr(s.Set)
		p.inBraces(s.Element)
	case *Meter:
		p.str("meter ")
		p.str(s.Name.Text)
		p.numberOption(" size ", s.Size)
		p.inBraces(s.Element)
	case *XT:
		if s.Target {
			p.str("xt target ")
		} else {
			p.str("xt match ")
		}
		p.quote(s.Name.Text)
	}
}

// String is the word of the operation.
func (o SetOp) String() string {
	return [...]string{"add", "update", "delete"}[min(o, SetDelete)]
}

func (p *printer) inBraces(e *Element) {
	p.str(" { ")
	p.element(e)
	p.str(" }")
}

func (p *printer) verdict(v *VerdictExpr) {
	p.str(v.Kind.String())
	if v.Kind != catalog.VerdictJump && v.Kind != catalog.VerdictGoto {
		return
	}
	if v.Chain != nil {
		p.byte(' ')
		p.expr(v.Chain)
		return
	}
	p.open(&Trivia{})
	for i, item := range v.Block {
		p.before(item.Around(), i > 0)
		if _, ok := item.(*Empty); ok {
			continue
		}
		p.line(item)
	}
	p.close()
}

func (p *printer) counter(c *Counter) {
	p.str("counter")
	if c.Given {
		p.byte(' ')
		p.counterNumbers(c)
	}
}

func (p *printer) counterNumbers(c *Counter) {
	p.str("packets ")
	p.number(c.Packets)
	p.str(" bytes ")
	p.number(c.Bytes)
}

// objectRef writes a reference to a named object.
func (p *printer) objectRef(o *ObjectRef) {
	switch o.Kind {
	case ObjCTHelper, ObjCTTimeout, ObjCTExpectation:
		p.str(o.Kind.String())
		p.str(" set ")
	case ObjSecmark:
		p.str("meta secmark set ")
	default:
		p.str(o.Kind.String())
		p.str(" name ")
	}
	if l, ok := o.Name.(*Literal); ok {
		p.quote(l.Text)
		return
	}
	p.expr(o.Name)
}

// quota writes a quota without its word.
func (p *printer) quota(q *Quota) {
	if q.Over {
		p.str("over ")
	}
	p.byteCount(q.Bytes)
	if q.Used > 0 {
		p.str(" used ")
		p.byteCount(q.Used)
	}
}

// limit writes a limit without its word.
func (p *printer) limit(l *Limit) {
	p.str("rate ")
	if l.Over {
		p.str("over ")
	}
	if l.ByBytes {
		p.byteCount(l.Rate)
	} else {
		p.number(l.Rate)
	}
	p.byte('/')
	p.str(rateUnitName(l.Unit))
	if !l.BurstGiven {
		return
	}
	p.str(" burst ")
	if l.ByBytes {
		p.byteCount(l.Burst)
		return
	}
	p.number(l.Burst)
	p.str(" packets")
}

func rateUnitName(seconds uint64) string {
	for _, name := range rateUnitNames {
		if rateUnits[name] == seconds {
			return name
		}
	}
	return "second"
}

func (p *printer) last(l *Last) {
	p.str("last")
	switch {
	case l.Used != nil:
		p.str(" used ")
		p.duration(l.Used)
	case l.Never:
		p.str(" used never")
	}
}

func (p *printer) log(l *Log) {
	p.str("log")
	if l.Prefix != nil {
		p.str(" prefix ")
		if lit, ok := l.Prefix.(*Literal); ok {
			p.quote(lit.Text)
		} else {
			p.expr(l.Prefix)
		}
	}
	p.numberOption(" group ", l.Group)
	p.numberOption(" snaplen ", l.Snaplen)
	p.numberOption(" queue-threshold ", l.QueueThreshold)
	if l.Level.Given() {
		p.str(" level ")
		p.str(l.Level.Text)
	}
	for _, f := range l.Flags {
		p.str(" flags ")
		p.str(f.Name.Text)
		if len(f.Sub) > 0 {
			p.byte(' ')
			p.words(f.Sub, ",")
		}
	}
}

func (p *printer) reject(r *Reject) {
	p.str("reject")
	if !r.With.Given() {
		return
	}
	p.str(" with ")
	p.str(r.With.Text)
	if r.With.Text == "tcp" {
		p.str(" reset")
		return
	}
	p.byte(' ')
	if r.Old && p.source {
		p.str("type ")
	}
	p.expr(r.Code)
}

// synproxy writes the options of a synproxy, each with a blank before it.
func (p *printer) synproxy(s *Synproxy) {
	p.numberOption(" mss ", s.MSS)
	p.numberOption(" wscale ", s.WScale)
	if s.Timestamp {
		p.str(" timestamp")
	}
	if s.SackPerm {
		p.str(" sack-perm")
	}
}

func (p *printer) queue(q *Queue) {
	p.str("queue")
	switch {
	case q.Bypass && q.Fanout:
		p.str(" flags bypass,fanout")
	case q.Bypass:
		p.str(" flags bypass")
	case q.Fanout:
		p.str(" flags fanout")
	}
	if q.Number != nil {
		p.str(" to ")
		p.expr(q.Number)
	}
}

func (p *printer) fwd(f *Fwd) {
	p.str("fwd")
	if f.Addr == nil {
		p.str(" to ")
		p.expr(f.Device)
		return
	}
	p.option(f.Family)
	p.str(" to ")
	p.expr(f.Addr)
	p.str(" device ")
	p.expr(f.Device)
}

// natWords are the statements by kind.
var natWords = [...]string{NATSource: "snat", NATDestination: "dnat", NATMasquerade: "masquerade", NATRedirect: "redirect"}

// natModes are the words before `to`.
var natModes = [...]string{NATPlain: "", NATAddrPort: " addr . port", NATInterval: " interval", NATPrefix: " prefix"}

func (p *printer) nat(n *NAT) {
	p.str(natWords[min(n.Kind, NATRedirect)])
	p.option(n.Family)
	p.str(natModes[min(n.Mode, NATPrefix)])
	if n.Addr != nil || n.Port != nil {
		p.str(" to ")
		p.addressAndPort(n.Addr, n.Port)
	}
	if len(n.Flags) > 0 {
		p.byte(' ')
		p.words(n.Flags, ",")
	}
}

// addressAndPort writes ADDR:PORT, where either may be missing. An IPv6
// address before a port stands in brackets.
func (p *printer) addressAndPort(addr, port Expr) {
	if addr != nil {
		p.address(addr, port != nil)
	}
	if port == nil {
		return
	}
	if addr != nil && (endsInWord(addr) || joinsPort(addr)) {
		p.byte(' ')
	}
	p.byte(':')
	if l, ok := port.(*Literal); ok && strings.HasPrefix(l.Text, ":") {
		p.byte(' ')
	}
	p.expr(port)
}

func (p *printer) address(addr Expr, brackets bool) {
	switch a := addr.(type) {
	case *Literal:
		if brackets && isIPv6(a.Text) {
			p.byte('[')
			p.str(a.Text)
			p.byte(']')
			return
		}
	case *Range:
		p.address(a.From, brackets)
		p.sign(a.From, '-')
		p.address(a.To, brackets)
		return
	}
	p.expr(addr)
}

// joinsPort reports whether an address ends in a few hex digits, which would
// read as a traffic class together with a port behind a colon.
func joinsPort(addr Expr) bool {
	if r, ok := addr.(*Range); ok {
		addr = r.To
	}
	l, ok := addr.(*Literal)
	return ok && l.Text != "" && hexGroup(l.Text, 0, 4) == len(l.Text)
}

// isIPv6 reports whether a literal is an IPv6 address.
func isIPv6(text string) bool { return text != "" && ipv6End(text, 0) == len(text) }
