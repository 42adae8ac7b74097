package syntax

// Walk visits a node and everything inside it, parents before children, in
// the order in which it is written. Where visit returns false the node's
// children are left out. Items of included files are visited behind their
// include statement. Nil nodes are not visited. Elements of a *PlainElements are
// valid during the visit only.
func Walk(n Node, visit func(Node) bool) {
	if w := (walker{visit}); n != nil && w.visit(n) {
		w.children(n)
	}
}

// WalkFile visits every item of a file as Walk does.
func WalkFile(f *File, visit func(Node) bool) {
	walker{visit}.items(f.Items)
}

type walker struct{ visit func(Node) bool }

func (w walker) items(items []Item) {
	for _, i := range items {
		Walk(i, w.visit)
	}
}

func (w walker) exprs(exprs ...Expr) {
	for _, e := range exprs {
		if e != nil {
			Walk(e, w.visit)
		}
	}
}

func (w walker) statements(statements []Statement) {
	for _, s := range statements {
		if s != nil {
			Walk(s, w.visit)
		}
	}
}

func (w walker) durations(durations ...*Duration) {
	for _, d := range durations {
		if d == nil {
			continue
		}
		if w.visit(d) && d.Variable != nil {
			Walk(d.Variable, w.visit)
		}
	}
}

func (w walker) children(n Node) {
	switch n := n.(type) {
	case Item:
		w.itemChildren(n)
	case Statement:
		w.statementChildren(n)
	case Expr:
		w.exprChildren(n)
	case *Priority:
		w.exprs(n.Base)
	}
}

func (w walker) itemChildren(item Item) {
	switch i := item.(type) {
	case *Command:
		if body := i.Body(); body != nil {
			Walk(body, w.visit)
		}
		if i.Rule != nil {
			Walk(i.Rule, w.visit)
		}
		if i.Elements != nil {
			Walk(i.Elements, w.visit)
		}
		w.exprs(i.Subject)
	case *Define:
		w.exprs(i.Value)
	case *Include:
		for _, f := range i.Files {
			w.items(f.Items)
		}
	case *Table:
		w.items(i.Items)
	case *Chain:
		w.items(i.Items)
	case *Set:
		w.items(i.Items)
	case *Hook:
		w.exprs(i.Devices)
		w.priority(i.Priority)
	case *Policy:
		w.exprs(i.Value)
	case *DevicesProperty:
		w.exprs(i.Devices)
	case *Rule:
		w.statements(i.Statements)
	case *KeyType:
		w.exprs(i.Key, i.Data)
	case *Timeout:
		w.durations(i.Value)
	case *GCInterval:
		w.durations(i.Value)
	case *Size:
		w.exprs(i.Value)
	case *ElementStatement:
		w.statements([]Statement{i.Statement})
	case *Elements:
		w.exprs(i.Value)
	case *StatefulObj:
		w.object(i)
	case *Flowtable:
		w.priority(i.Priority)
		w.exprs(i.Devices)
	}
}

func (w walker) priority(pr *Priority) {
	if pr != nil {
		Walk(pr, w.visit)
	}
}

func (w walker) object(o *StatefulObj) {
	switch {
	case o.Counter != nil:
		Walk(o.Counter, w.visit)
	case o.Quota != nil:
		Walk(o.Quota, w.visit)
	case o.Limit != nil:
		Walk(o.Limit, w.visit)
	case o.Synproxy != nil:
		Walk(o.Synproxy, w.visit)
	case o.TimeoutSpec != nil:
		for _, s := range o.TimeoutSpec.Policy {
			w.durations(s.Value)
		}
	case o.Expectation != nil:
		w.exprs(o.Expectation.Dport)
		w.durations(o.Expectation.Timeout)
	case o.Tunnel != nil:
		t := o.Tunnel
		w.exprs(t.ID, t.SrcIP, t.DstIP, t.Sport, t.Dport, t.TOS, t.TTL, t.VXLANGBP, t.ERSPANVersion, t.ERSPANIndex, t.ERSPANHardwareID)
		for _, g := range t.Geneve {
			w.exprs(g.Class, g.Type, g.Data)
		}
	}
}

func (w walker) statementChildren(s Statement) {
	switch s := s.(type) {
	case *Match:
		w.exprs(s.Left, s.Right)
	case *VerdictStatement:
		Walk(s.Verdict, w.visit)
	case *VMapStatement:
		Walk(s.Map, w.visit)
	case *ObjectRef:
		w.exprs(s.Name)
	case *Last:
		w.durations(s.Used)
	case *Log:
		w.exprs(s.Prefix)
	case *Reject:
		w.exprs(s.Code)
	case *NAT:
		w.exprs(s.Addr, s.Port)
	case *TProxy:
		w.exprs(s.Addr, s.Port)
	case *Queue:
		w.exprs(s.Number)
	case *Dup:
		w.exprs(s.Addr, s.Device)
	case *Fwd:
		w.exprs(s.Addr, s.Device)
	case *FlowAdd:
		w.exprs(s.Table)
	case *Assign:
		w.exprs(s.Left, s.Right)
	case *ResetTCPOption:
		w.exprs(s.Option)
	case *SetUpdate:
		w.exprs(s.Set, s.Element)
	case *Meter:
		w.exprs(s.Element)
	}
}

func (w walker) exprChildren(e Expr) {
	switch e := e.(type) {
	case *SetLiteral:
		for m := range e.All() {
			Walk(m, w.visit)
		}
	case *Element:
		w.exprs(e.Key)
		w.statements(e.Statements)
		w.durations(e.Timeout, e.Expires)
		w.exprs(e.Data)
	case *List:
		w.exprs(e.Items...)
	case *Concat:
		w.exprs(e.Parts...)
	case *Range:
		w.exprs(e.From, e.To)
	case *Prefix:
		w.exprs(e.Base, e.Length)
	case *Binary:
		w.exprs(e.Left, e.Right)
	case *MapExpr:
		w.exprs(e.Key, e.Map)
	case *FlagMatch:
		w.exprs(e.Value, e.Mask)
	case *Inner:
		w.exprs(e.Expr)
	case *Hash:
		w.exprs(e.Of)
	case *VerdictExpr:
		w.exprs(e.Chain)
		w.items(e.Block)
	}
}
