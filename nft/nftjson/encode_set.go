package nftjson

import "verdict/nft/syntax"

// set writes a set, a map, or a set of the meter statement.
func (w *writer) set(o owner, s *syntax.Set) {
	f := factsOf(s)
	if s.IsMap {
		w.wrap("map")
	} else {
		w.wrap("set")
	}
	w.text("family", o.family)
	w.text("name", s.Name.Text)
	w.text("table", o.table)
	if f.key != nil {
		w.key("type")
		w.keyType(f.key.Typeof, f.key.Key)
	}
	w.handle(s)
	w.comment(s.Items)
	if f.key != nil && s.IsMap {
		w.key("map")
		if f.key.Object != syntax.ObjNone {
			w.string(f.key.Object.String())
		} else {
			w.keyType(f.key.Typeof && !isVerdictType(f.key.Data), f.key.Data)
		}
	}
	w.setProperties(&f)
	w.unwrap()
}

// setFacts are the properties of a set by kind.
type setFacts struct {
	key        *syntax.KeyType
	policy     string
	size       syntax.Expr
	flags      map[string]bool
	timeout    *syntax.Duration
	gc         *syntax.Duration
	merge      bool
	elements   *syntax.SetLiteral
	statements []syntax.Statement
}

func factsOf(s *syntax.Set) setFacts {
	f := setFacts{flags: map[string]bool{}}
	for _, item := range s.Items {
		switch item := item.(type) {
		case *syntax.KeyType:
			f.key = item
		case *syntax.SetPolicy:
			f.policy = item.Value.Text
		case *syntax.Size:
			f.size = item.Value
		case *syntax.SetFlags:
			for _, x := range item.Flags {
				f.flags[x.Text] = true
			}
		case *syntax.Timeout:
			f.timeout = item.Value
			f.flags["timeout"] = true
		case *syntax.GCInterval:
			f.gc = item.Value
		case *syntax.AutoMerge:
			f.merge = true
		case *syntax.Elements:
			f.elements, _ = item.Value.(*syntax.SetLiteral)
		case *syntax.ElementStatement:
			f.statements = append(f.statements, item.Statement)
		}
	}
	return f
}

func (w *writer) setProperties(f *setFacts) {
	w.text("policy", f.policy)
	if f.size != nil {
		w.key("size")
		w.expr(f.size)
	}
	if len(f.flags) > 0 {
		w.key("flags")
		w.open('[')
		for _, name := range [...]string{"constant", "interval", "timeout", "dynamic"} {
			if f.flags[name] {
				w.string(name)
			}
		}
		w.close(']')
	}
	w.seconds("timeout", f.timeout)
	w.seconds("gc-interval", f.gc)
	if f.merge {
		w.key("auto-merge")
		w.bool(true)
	}
	if f.elements != nil && f.elements.Len() > 0 {
		w.key("elem")
		w.setItems(f.elements)
	}
	if len(f.statements) > 0 {
		w.key("stmt")
		w.open('[')
		for _, s := range f.statements {
			w.statement(s)
		}
		w.close(']')
	}
}

// neverSeconds is the timeout of an element that never expires: the largest
// number of milliseconds.
const neverSeconds = (1<<64 - 1) / 1000

// seconds writes a duration in whole seconds, if there is one.
func (w *writer) seconds(name string, d *syntax.Duration) {
	if d != nil {
		w.key(name)
		w.number(d.Milliseconds / 1000)
	}
}

// keyType writes the type of a key or of data: a name, a list of names, or
// {"typeof": EXPR}.
func (w *writer) keyType(typeof bool, x syntax.Expr) {
	if typeof {
		w.open('{')
		w.key("typeof")
		w.expr(x)
		w.close('}')
		return
	}
	if c, ok := x.(*syntax.Concat); ok {
		w.open('[')
		for _, p := range c.Parts {
			w.expr(p)
		}
		w.close(']')
		return
	}
	w.expr(x)
}

func isVerdictType(x syntax.Expr) bool {
	l, ok := x.(*syntax.Literal)
	return ok && l.Text == "verdict"
}

// setItems writes the elements of a set as a list.
func (w *writer) setItems(s *syntax.SetLiteral) {
	w.open('[')
	for x := range s.All() {
		if e, ok := x.(*syntax.Element); ok {
			w.element(e)
		} else {
			w.expr(x)
		}
	}
	w.close(']')
}

// element writes an element; those of maps are pairs of key and data.
func (w *writer) element(e *syntax.Element) {
	if e.Data == nil {
		w.elementKey(e)
		return
	}
	w.open('[')
	w.elementKey(e)
	w.expr(e.Data)
	w.close(']')
}

// elementKey writes the key, in an object with what belongs to the element.
func (w *writer) elementKey(e *syntax.Element) {
	if e.Timeout == nil && !e.Never && e.Expires == nil && !e.Comment.Given() && len(e.Statements) == 0 {
		w.expr(e.Key)
		return
	}
	w.wrap("elem")
	w.key("val")
	w.expr(e.Key)
	if e.Never {
		w.key("timeout")
		w.number(neverSeconds)
	}
	w.seconds("timeout", e.Timeout)
	w.seconds("expires", e.Expires)
	w.text("comment", e.Comment.Text)
	for _, s := range e.Statements {
		w.member(s)
	}
	w.unwrap()
}

// member writes a statement as a member of an object: its name and its value.
func (w *writer) member(s syntax.Statement) {
	var inner writer
	inner.statement(s)
	if n := len(inner.b); n > 2 && inner.b[0] == '{' {
		w.next()
		w.b = append(w.b, inner.b[1:n-1]...)
	}
}
