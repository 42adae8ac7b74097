package compile

import (
	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

var setFlags = map[string]uint32{
	"constant": ruleset.SetConstant, "interval": ruleset.SetInterval,
	"timeout": ruleset.SetTimeout, "dynamic": ruleset.SetEval,
}

// setDeclaration declares a set or map, with its elements.
func (c *compiler) setDeclaration(set *syntax.Set, t target, op ruleset.Op) {
	defer c.enter()()
	info := c.orNew(t.family, t.table)
	s := &setInfo{name: t.name}
	p := setParts{def: &ruleset.SetDef{}, info: s, table: info}
	if set.IsMap {
		s.flags |= ruleset.SetMap
	}
	if !c.setItems(set.Items, &p) {
		return
	}
	if !p.typed {
		c.diags.Errorf(t.nameP, "compile/set-type", "%s definition does not specify key", s.kind())
		return
	}
	if s.autoMerge && !s.interval() {
		c.diags.Errorf(t.nameP, "compile/set-type", "auto-merge only works with interval sets")
		return
	}
	if set.IsMap && s.data.typ == nil && !s.data.isConcat() && s.object == 0 {
		c.diags.Errorf(t.nameP, "compile/set-type", "map definition does not specify mapping data type")
		return
	}
	if p.def.Timeout != 0 || p.def.GC != 0 {
		s.flags |= ruleset.SetTimeout
	}
	if s.object != 0 {
		s.flags = s.flags&^ruleset.SetMap | ruleset.SetObject
	}
	c.lastSetID++
	s.id = c.lastSetID
	existing := c.setFor(info, t.name)
	def := s.definition()
	def.Timeout, def.GC, def.Size, def.Memory = p.def.Timeout, p.def.GC, p.def.Size, p.def.Memory
	def.UserData.KeyTypeof, def.UserData.DataTypeof = p.def.UserData.KeyTypeof, p.def.UserData.DataTypeof
	def.UserData.Comment = p.def.UserData.Comment
	ch := t.change(op, ruleset.KindSet)
	ch.SetDef, ch.SetID, s.def = def, s.id, def
	c.add(ch)
	if existing != nil && op == ruleset.OpAdd {
		s.filled, s.known, s.taken, s.read, s.old = existing.filled, existing.known, existing.taken, existing.read, existing.old
	}
	info.sets[t.name] = s
	info.declared = append(info.declared, t.name)
	delete(info.gone, t.name)
	for _, e := range p.elements {
		c.addElements(s, e, t, ruleset.OpAdd)
	}
}

// setParts is a set's block while it is read.
type setParts struct {
	def      *ruleset.SetDef
	info     *setInfo
	table    *tableInfo
	typed    bool
	elements []*syntax.SetLiteral
}

func (c *compiler) setItems(items []syntax.Item, p *setParts) bool {
	ok := true
	for _, it := range items {
		ok = c.setItem(it, p) && ok
	}
	return ok
}

func (c *compiler) setItem(it syntax.Item, p *setParts) bool {
	s := p.info
	ok := true
	if c.scopeItem(it, func(included []syntax.Item) { ok = c.setItems(included, p) && ok }) {
		return ok
	}
	switch it := it.(type) {
	case *syntax.KeyType:
		p.typed = true
		return c.keyTypes(it, p)
	case *syntax.SetFlags:
		ok := true
		for _, w := range it.Flags {
			flag, known := setFlags[w.Text]
			if !known {
				c.unknownWord(w, "set flag", "constant", "interval", "timeout", "dynamic")
				ok = false
			}
			s.flags |= flag
		}
		return ok
	case *syntax.Timeout:
		ms, ok := c.duration(it.Value)
		p.def.Timeout = ms
		s.flags |= ruleset.SetTimeout
		return ok
	case *syntax.GCInterval:
		ms, ok := c.duration(it.Value)
		p.def.GC = uint32(min(ms, 1<<32-1))
		return ok
	case *syntax.Size:
		n, ok := c.scalar(it.Value, vtype{typ: catalog.Integer, bits: 32})
		p.def.Size = uint32(n.lo)
		return ok
	case *syntax.SetPolicy:
		p.def.Memory = it.Value.Text == "memory"
	case *syntax.AutoMerge:
		s.autoMerge = true
	case *syntax.ElementStatement:
		e := c.stateful(it.Statement)
		if e == nil {
			return false
		}
		s.exprs = append(s.exprs, e)
	case *syntax.Elements:
		lit, ok := c.expand(it.Value).(*syntax.SetLiteral)
		if !ok {
			if e := c.peek(it.Value); e != nil {
				c.diags.Errorf(it.Value.Place(), "compile/elements", "a list of elements is needed here")
			}
			return false
		}
		p.elements = append(p.elements, lit)
	case *syntax.CommentProperty:
		p.def.UserData.Comment = c.comment(it.Text)
	}
	return true
}

// keyTypes reads type and typeof.
func (c *compiler) keyTypes(k *syntax.KeyType, p *setParts) bool {
	s := p.info
	u := &p.def.UserData
	s.dataInterval = k.Interval
	s.object = objectTypes[k.Object]
	if !k.Typeof {
		key, ok := c.declarable(k.Key, s)
		s.key = key
		if !ok {
			return false
		}
		if k.Data != nil {
			s.data, ok = c.declarable(k.Data, s)
		}
		return ok && c.keyFits(k, s)
	}
	r := c.newRule(p.table, nil)
	r.declare = true
	key, ok := r.declaredType(k.Key)
	if !ok {
		return false
	}
	s.key = key
	u.KeyTypeof = typeofText(k.Key)
	if k.Data == nil {
		return c.keyFits(k, s)
	}
	if l, isWord := k.Data.(*syntax.Literal); isWord && l.Text == "verdict" {
		s.data = typeOf(catalog.Verdict)
		return c.keyFits(k, s)
	}
	if s.data, ok = r.declaredType(k.Data); !ok {
		return false
	}
	u.DataTypeof = typeofText(k.Data)
	return c.keyFits(k, s)
}

// maxKeyBits is the size of the data registers.
const maxKeyBits = 512

func (c *compiler) keyFits(k *syntax.KeyType, s *setInfo) bool {
	key := s.key
	if key.bits == 0 || key.bits > maxKeyBits {
		c.diags.Errorf(k.Key.Place(), "compile/set-type", "unqualified type %s specified in %s definition. Try \"typeof expression\" instead of \"type datatype\".", key.describe(), s.kind())
		return false
	}
	return true
}

// declarable resolves the names of data types.
func (c *compiler) declarable(e syntax.Expr, s *setInfo) (vtype, bool) {
	switch e := e.(type) {
	case *syntax.Concat:
		var parts []vtype
		for _, p := range e.Parts {
			t, ok := c.declarable(p, s)
			if !ok {
				return vtype{}, false
			}
			parts = append(parts, t)
		}
		return concatType(parts), true
	case *syntax.Literal:
		t := catalog.TypeByName(e.Text)
		if t == nil {
			d := c.diags.Errorf(e.Span, "compile/set-type", "unknown datatype %s", e.Text)
			names := make([]string, len(catalog.Types))
			for i, x := range catalog.Types {
				names[i] = x.Name
			}
			suggest(d, e.Text, names)
			return vtype{}, false
		}
		if t.NotDeclarable {
			c.diags.Errorf(e.Span, "compile/set-type", "unqualified type %s specified in %s definition. Try \"typeof expression\" instead of \"type datatype\".", t.Name, s.kind())
			return vtype{}, false
		}
		v := typeOf(t)
		if t == catalog.Verdict {
			v.bits = 128
		}
		return v, true
	}
	c.diags.Errorf(e.Place(), "compile/set-type", "the name of a data type is needed here")
	return vtype{}, false
}

// elementCommand compiles add, create, delete, destroy and reset element.
func (c *compiler) elementCommand(cmd *syntax.Command, t target, op ruleset.Op) {
	if s := c.elementSet(t); s != nil {
		c.addElements(s, cmd.Elements, t, op)
	}
}

// elementSet finds the set that a command on elements names; nil, with an
// error reported, if there is none.
func (c *compiler) elementSet(t target) *setInfo {
	info := c.tableFor(t.family, t.table)
	if info == nil {
		d := c.diags.Errorf(t.tableP, "compile/no-set", "No such file or directory")
		c.suggestTable(d, t)
		return nil
	}
	s := c.setFor(info, t.name)
	if s == nil {
		d := c.diags.Errorf(t.nameP, "compile/no-set", "No such file or directory")
		if near := diag.Misspelled(t.name, info.setNames()); near != "" {
			d.Message += "; did you mean set '" + near + "' in table " + t.family.String() + " '" + t.table + "'?"
		}
	}
	return s
}

func (c *compiler) suggestTable(d *diag.Diagnostic, t target) {
	var names []string
	if c.base != nil {
		for _, x := range c.base.Tables {
			names = append(names, x.Name)
		}
	}
	if near := diag.Misspelled(t.table, names); near != "" {
		d.Message += "; did you mean table '" + near + "' in family " + t.family.String() + "?"
	}
}

// addElements compiles a list of elements of a named set.
func (c *compiler) addElements(s *setInfo, lit *syntax.SetLiteral, t target, op ruleset.Op) {
	b := &setBuild{compiler: c, info: s, at: t.place}
	b.keyOnly = op == ruleset.OpDelete || op == ruleset.OpDestroy || op == ruleset.OpReset
	if !b.literal(lit) {
		return
	}
	if b.ranges && !s.interval() {
		c.diags.Errorf(lit.Span, "compile/interval", "You must add 'flags interval' to your set declaration if you want to add %s elements", b.rangeKind(lit))
		return
	}
	if len(b.elems) == 0 && len(b.keys) == 0 && b.all == nil {
		return
	}
	if s.interval() && !s.key.isConcat() {
		c.addIntervals(b, s, t, op)
		return
	}
	elems, ok := b.finish()
	if !ok {
		return
	}
	c.elementChange(s, elems, t, op)
	if !b.keyOnly {
		s.filled = true
	}
}

func (b *setBuild) rangeKind(lit *syntax.SetLiteral) string {
	for x := range lit.All() {
		if el, ok := x.(*syntax.Element); ok {
			switch b.peek(el.Key).(type) {
			case *syntax.Prefix:
				return "prefix"
			case *syntax.Range:
				return "range"
			}
		}
	}
	return "range"
}

func (c *compiler) elementChange(s *setInfo, elems []ruleset.Element, t target, op ruleset.Op) {
	ch := t.change(op, ruleset.KindElements)
	ch.SetID, ch.Elements = s.id, elems
	c.add(ch)
}
