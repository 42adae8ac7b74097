package compile

import (
	"strings"

	"slices"

	"verdict/diag"
	"verdict/nft/syntax"
)

// binding is a defined symbol.
type binding struct {
	value  syntax.Expr
	extent extent
	used   bool
}

// scope holds the symbols of a block. A scope is frozen once a declaration
// refers to it, so that later definitions do not change what that one meant.
type scope struct {
	parent *scope
	names  map[string]*binding
	frozen bool
	block  bool // starts a block; redefinition looks no further
}

// find looks a symbol up, innermost block first. A nil binding hides an
// undefined symbol.
func (s *scope) find(name string) *binding {
	for ; s != nil; s = s.parent {
		if b, ok := s.names[name]; ok {
			return b
		}
	}
	return nil
}

// local looks a symbol up in the block alone.
func (s *scope) local(name string) *binding {
	for ; s != nil; s = s.parent {
		if b, ok := s.names[name]; ok {
			return b
		}
		if s.block {
			break
		}
	}
	return nil
}

// set gives the scope with the symbol set; that is s itself unless frozen.
func (s *scope) set(name string, b *binding) *scope {
	if s.frozen {
		s = &scope{parent: s}
	}
	if s.names == nil {
		s.names = map[string]*binding{}
	}
	s.names[name] = b
	return s
}

// freeze returns the scope for keeping.
func (s *scope) freeze() *scope {
	s.frozen = true
	return s
}

// all lists the visible names.
func (s *scope) all() []string {
	seen := map[string]bool{}
	for ; s != nil; s = s.parent {
		for name, b := range s.names {
			if _, hidden := seen[name]; !hidden {
				seen[name] = b != nil
			}
		}
	}
	var names []string
	for name, defined := range seen {
		if defined {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// define binds a symbol in the current scope.
func (c *compiler) define(d *syntax.Define) {
	name := d.Name.Text
	if !d.Redefine && c.scope.local(name) != nil {
		c.diags.Errorf(d.Name.Span, "compile/redefinition", "redefinition of symbol '%s'", name).
			Hint = "write redefine to give it another value"
		return
	}
	if !c.bindVariables(d.Value) {
		return
	}
	b := &binding{} // without value for one that was reported: its uses are not
	if size, ok := c.bounded(d); ok {
		b.value, b.extent = d.Value, size
	}
	c.scope = c.scope.set(name, b)
}

// scopeItem compiles what may stand in any block and file; each takes the items
// of included files. It is false for other items.
func (c *compiler) scopeItem(it syntax.Item, each func([]syntax.Item)) bool {
	switch it := it.(type) {
	case *syntax.Define:
		c.define(it)
	case *syntax.Undefine:
		c.undefine(it)
	case *syntax.Include:
		for _, f := range it.Files {
			each(f.Items)
		}
	default:
		return false
	}
	return true
}

// undefine removes a symbol.
func (c *compiler) undefine(u *syntax.Undefine) {
	if c.scope.find(u.Name.Text) == nil {
		c.unknownSymbol(u.Name.Span, u.Name.Text)
		return
	}
	c.scope = c.scope.set(u.Name.Text, nil)
}

// unknownSymbol reports a symbol that is not defined; the mark leaves the $ of
// a reference out.
func (c *compiler) unknownSymbol(at diag.Span, name string) {
	if strings.HasPrefix(at.Text(), "$") {
		at.Start++
	}
	d := c.diags.Errorf(at, "compile/unknown-identifier", "unknown identifier '%s'", name)
	if near := diag.Nearest(name, c.scope.all()); near != "" {
		d.Message += "; did you mean identifier '" + near + "'?"
	}
}

// bindVariables ties the variables inside a value to what they mean where the
// value is written. ok is false where one is not defined.
func (c *compiler) bindVariables(e syntax.Expr) (ok bool) {
	all := func(list ...syntax.Expr) bool {
		ok := true
		for _, x := range list {
			ok = c.bindVariables(x) && ok
		}
		return ok
	}
	switch e := e.(type) {
	case *syntax.Variable:
		b := c.scope.find(e.Name)
		if b == nil {
			c.unknownSymbol(e.Span, e.Name)
		}
		c.bound[e] = b
		return b != nil
	case *syntax.SetLiteral:
		return all(e.Elements...)
	case *syntax.Element:
		return all(e.Key, e.Data)
	case *syntax.List:
		return all(e.Items...)
	case *syntax.Concat:
		return all(e.Parts...)
	case *syntax.Range:
		return all(e.From, e.To)
	case *syntax.Prefix:
		return all(e.Base, e.Length)
	case *syntax.Binary:
		return all(e.Left, e.Right)
	}
	return true
}

// binding finds what a variable stands for; known says that this was settled
// before, with a report where it is nothing.
func (c *compiler) binding(v *syntax.Variable) (b *binding, known bool) {
	if b, known = c.bound[v]; !known {
		b = c.scope.find(v.Name)
	}
	return b, known
}

// expand replaces a variable by its value, however deep; nil, with an error
// reported, where it is not defined.
func (c *compiler) expand(e syntax.Expr) syntax.Expr {
	for {
		v, ok := e.(*syntax.Variable)
		if !ok {
			return e
		}
		b, known := c.binding(v)
		if b == nil {
			if !known {
				c.unknownSymbol(v.Span, v.Name)
			}
			return nil
		}
		b.used = true
		e = b.value
	}
}
