package nftjson

import (
	"slices"

	"verdict/nft/syntax"
)

// addSet reads a set or map with its elements.
func (d *decoder) addSet(c *syntax.Command, n *node) {
	if !d.object(n, "family", "table", "name", "handle", "comment", "type", "map", "policy", "flags", "elem", "timeout",
		"gc-interval", "size", "auto-merge", "stmt") {
		return
	}
	d.target(c, n, true)
	s := &syntax.Set{At: d.at(n), Name: c.Target.Name, IsMap: c.Object == syntax.ObjMap, HasBlock: true}
	if c.Object == syntax.ObjMeter {
		c.Object = syntax.ObjSet
	}
	if k := d.setType(n, s.IsMap); k != nil {
		s.Items = append(s.Items, k)
	}
	s.Items = append(s.Items, d.setProperties(n)...)
	s.Items = append(s.Items, d.comment(n)...)
	if e := n.get("elem"); e != nil {
		if list := d.elements(e); len(list.Elements) > 0 {
			s.Items = append(s.Items, &syntax.Elements{At: list.At, Value: list})
		}
	}
	c.Set = s
}

func (d *decoder) setProperties(n *node) []syntax.Item {
	var items []syntax.Item
	if p := n.get("policy"); p != nil {
		items = append(items, &syntax.SetPolicy{At: d.at(p), Value: d.oneOf(p, "policy", "performance", "memory")})
	}
	if f := n.get("flags"); f != nil {
		flags := d.words(f, "flag of a set", "constant", "interval", "timeout", "dynamic")
		items = append(items, &syntax.SetFlags{At: d.at(f), Flags: flags})
	}
	if t := n.get("timeout"); t != nil {
		items = append(items, &syntax.Timeout{At: d.at(t), Value: d.seconds(t)})
	}
	if g := n.get("gc-interval"); g != nil {
		items = append(items, &syntax.GCInterval{At: d.at(g), Value: d.seconds(g)})
	}
	if z := n.get("size"); z != nil {
		if v, ok := d.uint(z, maxUint32); ok {
			items = append(items, &syntax.Size{At: d.at(z), Value: d.literalUint(z, v)})
		}
	}
	if m := n.get("auto-merge"); m != nil && d.flag(m) {
		items = append(items, &syntax.AutoMerge{At: d.at(m)})
	}
	if s := n.get("stmt"); s != nil {
		for _, x := range s.each() {
			for _, st := range d.stateful(x) {
				items = append(items, &syntax.ElementStatement{At: d.at(x), Statement: st})
			}
		}
	}
	return items
}

// stateful reads a statement that elements of a set can carry.
func (d *decoder) stateful(n *node) []syntax.Statement {
	list := d.statement(n)
	for _, s := range list {
		switch s.(type) {
		case *syntax.Counter, *syntax.Quota, *syntax.Limit, *syntax.ConnLimit, *syntax.Last:
		default:
			e := d.errorf(n, codeValue, "this statement keeps no state that an element could have")
			e.Expected = []string{"counter", "quota", "limit", "ct count", "last"}
			return nil
		}
	}
	return list
}

// setType reads the type of the key and, of maps, of the data.
func (d *decoder) setType(n *node, isMap bool) *syntax.KeyType {
	t := d.need(n, "type")
	if t == nil {
		return nil
	}
	k := &syntax.KeyType{At: d.at(t)}
	k.Key, k.Typeof = d.dataType(t)
	if !isMap {
		if m := n.get("map"); m != nil {
			d.errorf(m, codeValue, "a set has no data; this makes a map")
		}
		return k
	}
	m := d.need(n, "map")
	if m == nil {
		return nil
	}
	if m.kind == kindString {
		if o, ok := objects[d.textOf(m)]; ok && o >= syntax.ObjCounter && o <= syntax.ObjTunnel {
			k.Object = o
			return k
		}
	}
	var typeof bool
	k.Data, typeof = d.dataType(m)
	if typeof != k.Typeof && !isVerdictType(k.Data) && k.Data != nil && k.Key != nil {
		d.errorf(m, codeValue, "key and data are both given by type or both by typeof")
	}
	k.Interval = d.dataIntervals(n.get("elem"))
	return k
}

// dataIntervals reports whether the data of any element is a range, which the
// declaration of a map says in the language.
func (d *decoder) dataIntervals(n *node) bool {
	if n == nil || n.kind != kindArray {
		return false
	}
	return slices.ContainsFunc(n.items(), func(e node) bool {
		return e.kind == kindArray && len(e.items()) == 2 && isInterval(&e.items()[1])
	})
}

func isInterval(n *node) bool {
	if n.kind != kindObject {
		return false
	}
	if c := n.get("concat"); c != nil && c.kind == kindArray {
		return slices.ContainsFunc(c.items(), func(x node) bool { return isInterval(&x) })
	}
	return n.get("range") != nil || n.get("prefix") != nil
}

// dataType reads the name of a type, a list of names, or {"typeof": EXPR}.
func (d *decoder) dataType(n *node) (x syntax.Expr, typeof bool) {
	switch n.kind {
	case kindString:
		return &syntax.Literal{At: d.at(n), Text: d.textOf(n)}, false
	case kindArray:
		if len(n.items()) < 2 {
			d.errorf(n, codeValue, "a concatenation has two types or more, found %d", len(n.items()))
			return nil, false
		}
		c := &syntax.Concat{At: d.at(n)}
		for i := range n.items() {
			if s, ok := d.text(&n.items()[i]); ok {
				c.Parts = append(c.Parts, &syntax.Literal{At: d.at(&n.items()[i]), Text: s})
			}
		}
		return c, false
	}
	if !d.object(n, "typeof") {
		return nil, false
	}
	e := d.need(n, "typeof")
	if e == nil {
		return nil, true
	}
	if e.kind == kindArray {
		return d.concat(e), true
	}
	return d.expr(e), true
}

// addElements reads elements of a set by its name.
func (d *decoder) addElements(c *syntax.Command, n *node) {
	if !d.object(n, "family", "table", "name", "elem") {
		return
	}
	d.target(c, n, true)
	if e := d.need(n, "elem"); e != nil {
		c.Elements = d.elements(e)
	}
}

// elements reads the elements of a set: a list, or a single one.
func (d *decoder) elements(n *node) *syntax.SetLiteral {
	list := &syntax.SetLiteral{At: d.at(n)}
	if inner := n.get("set"); inner != nil {
		n = inner
	}
	if n.kind != kindArray {
		if e := d.element(n); e != nil {
			list.Elements = append(list.Elements, e)
		}
		return list
	}
	list.Elements = make([]syntax.Expr, 0, len(n.items()))
	for i := range n.items() {
		if e := d.element(&n.items()[i]); e != nil {
			list.Elements = append(list.Elements, e)
		}
	}
	return list
}

// element reads an element: a key, {"elem": …} with what belongs to it, or a
// pair of one of these and the data.
func (d *decoder) element(n *node) *syntax.Element {
	if n.kind != kindArray {
		return d.elementKey(n)
	}
	if len(n.items()) != 2 {
		e := d.errorf(n, codeValue, "expected a pair of key and data, found %d items", len(n.items()))
		e.Expected = []string{"[KEY, DATA]"}
		return nil
	}
	e := d.elementKey(&n.items()[0])
	data := d.expr(&n.items()[1])
	if e == nil || data == nil {
		return nil
	}
	e.At, e.Data = d.at(n), data
	return e
}

func (d *decoder) elementKey(n *node) *syntax.Element {
	e := &syntax.Element{At: d.at(n)}
	inner := n.get("elem")
	if n.kind != kindObject || inner == nil {
		if e.Key = d.keyExpr(n); e.Key == nil {
			return nil
		}
		return e
	}
	if !d.object(inner, append([]string{"val", "timeout", "expires", "comment"}, elementStatements...)...) {
		return nil
	}
	val := d.need(inner, "val")
	if val == nil {
		return nil
	}
	e.Key = d.keyExpr(val)
	if t := inner.get("timeout"); t != nil {
		d.elementTimeout(e, t)
	}
	e.Expires = d.seconds(inner.get("expires"))
	e.Comment = d.word(inner.get("comment"))
	for i, k := range inner.keys() {
		if slices.Contains(elementStatements, k.name) {
			e.Statements = append(e.Statements, d.namedStatement(&inner.keys()[i], &inner.items()[i])...)
		}
	}
	if e.Key == nil {
		return nil
	}
	return e
}

// elementTimeout reads the timeout of an element, where 0 is none of its own.
func (d *decoder) elementTimeout(e *syntax.Element, n *node) {
	v, _ := d.uint(n, neverSeconds)
	switch v {
	case 0:
	case neverSeconds:
		e.Never = true
	default:
		e.Timeout = &syntax.Duration{At: d.at(n), Milliseconds: v * 1000}
	}
}

// elementStatements are the statements that elements carry.
var elementStatements = []string{"counter", "quota", "limit", "ct count", "last"}

// keyExpr reads the key of an element, where a star stands for all others.
func (d *decoder) keyExpr(n *node) syntax.Expr {
	if n.kind == kindString && d.textOf(n) == "*" {
		return &syntax.Wildcard{At: d.at(n)}
	}
	return d.expr(n)
}
