package compile

import (
	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// target is what a command acts on, resolved.
type target struct {
	family  catalog.Family
	table   string
	name    string
	handle  uint64
	handleP diag.Span
	place   diag.Span
	tableP  diag.Span
	nameP   diag.Span
}

// command compiles one command; those that only read are skipped.
func (c *compiler) command(cmd *syntax.Command) {
	switch cmd.Verb {
	case syntax.VerbList, syntax.VerbGet, syntax.VerbDescribe, syntax.VerbMonitor, syntax.VerbExport, syntax.VerbImport:
		return
	}
	t, ok := c.resolveTarget(cmd)
	if !ok {
		return
	}
	if !complete(cmd) {
		return
	}
	switch cmd.Verb {
	case syntax.VerbAdd:
		c.addCommand(cmd, t, ruleset.OpAdd)
	case syntax.VerbCreate:
		c.addCommand(cmd, t, ruleset.OpCreate)
	case syntax.VerbInsert:
		c.ruleCommand(cmd, t, ruleset.OpInsert)
	case syntax.VerbReplace:
		c.ruleCommand(cmd, t, ruleset.OpReplace)
	case syntax.VerbDelete:
		c.removeCommand(cmd, t, ruleset.OpDelete)
	case syntax.VerbDestroy:
		c.removeCommand(cmd, t, ruleset.OpDestroy)
	case syntax.VerbFlush:
		c.flushCommand(cmd, t)
	case syntax.VerbReset:
		c.resetCommand(cmd, t)
	case syntax.VerbRename:
		ch := t.change(ruleset.OpRename, ruleset.KindChain)
		ch.NewName = cmd.NewName.Text
		c.add(ch)
		c.renameChain(t, cmd.NewName.Text)
	}
}

// complete reports whether a command has the body that its verb needs. The
// parser leaves incomplete commands out; trees may come from elsewhere too.
func complete(cmd *syntax.Command) bool {
	switch cmd.Verb {
	case syntax.VerbInsert, syntax.VerbReplace:
		return cmd.Rule != nil
	case syntax.VerbAdd, syntax.VerbCreate:
		switch cmd.Object {
		case syntax.ObjTable:
			return cmd.Table != nil
		case syntax.ObjChain:
			return cmd.Chain != nil
		case syntax.ObjRule:
			return cmd.Rule != nil
		case syntax.ObjSet, syntax.ObjMap:
			return cmd.Set != nil
		case syntax.ObjFlowtable:
			return cmd.Flowtable != nil
		case syntax.ObjElement:
			return cmd.Elements != nil
		}
		return cmd.Stateful != nil
	}
	return cmd.Object != syntax.ObjElement || cmd.Elements != nil
}

// resolveTarget reads the names of a command.
func (c *compiler) resolveTarget(cmd *syntax.Command) (target, bool) {
	t := target{family: catalog.FamilyIP, table: cmd.Target.Table.Text, name: cmd.Target.Name.Text, place: cmd.Span,
		tableP: cmd.Target.Table.Span, nameP: cmd.Target.Name.Span}
	if cmd.Target.Family.Given() {
		f, ok := catalog.FamilyByName(cmd.Target.Family.Text)
		if !ok {
			c.diags.Errorf(cmd.Target.Family.Span, "compile/family", "unknown family '%s'", cmd.Target.Family.Text)
			return t, false
		}
		t.family = f
	} else if cmd.Object == syntax.ObjRuleset || cmd.Object >= syntax.ObjTables {
		t.family = catalog.FamilyUnspec
	}
	if cmd.Target.Handle != nil {
		t.handle, t.handleP = cmd.Target.Handle.Value, cmd.Target.Handle.Span
		if !t.nameP.IsValid() {
			t.nameP = cmd.Target.Handle.Span
		}
	}
	for _, w := range []syntax.Word{cmd.Target.Table, cmd.Target.Name, cmd.NewName} {
		if len(w.Text) >= maxName {
			c.diags.Errorf(w.Span, "compile/name", "name too long, %d characters maximum allowed", maxName)
			return t, false
		}
	}
	return t, true
}

const maxName = 256

func (t target) change(op ruleset.Op, kind ruleset.Kind) ruleset.Change {
	name := t.nameP
	if !name.IsValid() {
		name = t.place
	}
	table := t.tableP
	if !table.IsValid() {
		table = t.place
	}
	return ruleset.Change{Op: op, Kind: kind, Family: t.family, Table: t.table, Name: t.name, Handle: t.handle,
		Place: t.place, TablePlace: table, NamePlace: name, HandlePlace: t.handleP}
}

// child is a target inside the same table.
func (t target) child(w syntax.Word, place diag.Span) target {
	t.name, t.nameP, t.place = w.Text, w.Span, place
	return t
}

func (c *compiler) add(ch ruleset.Change) { c.changes = append(c.changes, ch) }

// addCommand compiles add and create.
func (c *compiler) addCommand(cmd *syntax.Command, t target, op ruleset.Op) {
	switch cmd.Object {
	case syntax.ObjTable:
		c.tableCommand(cmd.Table, t, op)
	case syntax.ObjChain:
		if pending := c.chainDeclaration(cmd.Chain, t, op); pending != nil {
			pending()
		}
	case syntax.ObjRule:
		c.ruleCommand(cmd, t, op)
	case syntax.ObjSet, syntax.ObjMap:
		c.setDeclaration(cmd.Set, t, op)
	case syntax.ObjElement:
		c.elementCommand(cmd, t, op)
	case syntax.ObjFlowtable:
		c.flowtableDeclaration(cmd.Flowtable, t, op)
	default:
		c.objectDeclaration(cmd.Stateful, t, op)
	}
}

// removeCommand compiles delete and destroy.
func (c *compiler) removeCommand(cmd *syntax.Command, t target, op ruleset.Op) {
	switch cmd.Object {
	case syntax.ObjTable:
		c.add(t.change(op, ruleset.KindTable))
		if t.table != "" {
			delete(c.tables, tableKey{t.family, t.table})
			if c.base.Table(t.family, t.table) != nil {
				c.tables[tableKey{t.family, t.table}] = newTableInfo(t.family, t.table)
			}
		}
	case syntax.ObjChain:
		ch := t.change(op, ruleset.KindChain)
		if cmd.Chain != nil && cmd.Chain.HasBlock {
			if def := c.chainDefinition(cmd.Chain, t); def != nil {
				ch.ChainDef = def
			}
		}
		c.add(ch)
		if ch.ChainDef == nil || ch.ChainDef.Base == nil || len(ch.ChainDef.Base.Devices) == 0 {
			if info := c.tableFor(t.family, t.table); info != nil {
				info.chains[t.name] = nil
			}
		}
	case syntax.ObjRule:
		c.add(t.change(op, ruleset.KindRule))
	case syntax.ObjSet, syntax.ObjMap:
		c.add(t.change(op, ruleset.KindSet))
		if info := c.tableFor(t.family, t.table); info != nil {
			delete(info.sets, t.name)
			info.gone[t.name] = true
		}
	case syntax.ObjElement:
		c.elementCommand(cmd, t, op)
	case syntax.ObjFlowtable:
		ch := t.change(op, ruleset.KindFlowtable)
		if cmd.Flowtable != nil && cmd.Flowtable.HasBlock {
			ch.Flowtable = c.flowtable(cmd.Flowtable)
		}
		c.add(ch)
	default:
		ch := t.change(op, ruleset.KindObject)
		ch.ObjType = objectTypes[cmd.Object]
		c.add(ch)
	}
}

func (c *compiler) flushCommand(cmd *syntax.Command, t target) {
	switch cmd.Object {
	case syntax.ObjRuleset:
		c.add(t.change(ruleset.OpFlush, ruleset.KindRuleset))
		if c.base != nil {
			for _, b := range c.base.Tables {
				if t.family == catalog.FamilyUnspec || b.Family == t.family {
					c.tables[tableKey{b.Family, b.Name}] = newTableInfo(b.Family, b.Name)
				}
			}
		}
		for k := range c.tables {
			if t.family == catalog.FamilyUnspec || k.family == t.family {
				c.tables[k] = newTableInfo(k.family, k.name)
			}
		}
	case syntax.ObjTable:
		c.add(t.change(ruleset.OpFlush, ruleset.KindTable))
	case syntax.ObjChain:
		c.add(t.change(ruleset.OpFlush, ruleset.KindChain))
	default:
		if !c.isKind(cmd.Object, t) {
			c.diags.Errorf(t.nameP, "compile/no-set", "No such file or directory")
			return
		}
		c.add(t.change(ruleset.OpFlush, ruleset.KindSet))
		if info := c.tableFor(t.family, t.table); info != nil {
			if s := c.setFor(info, t.name); s != nil {
				s.filled, s.known, s.taken = false, true, nil
			}
		}
	}
}

func (c *compiler) resetCommand(cmd *syntax.Command, t target) {
	switch cmd.Object {
	case syntax.ObjRule, syntax.ObjRules:
		c.resetEach(t, t.change(ruleset.OpReset, ruleset.KindRule))
	case syntax.ObjElement:
		c.elementCommand(cmd, t, ruleset.OpReset)
	case syntax.ObjSet, syntax.ObjMap:
		c.add(t.change(ruleset.OpReset, ruleset.KindSet))
	default:
		ch := t.change(ruleset.OpReset, ruleset.KindObject)
		ch.ObjType = objectTypes[singular[cmd.Object]]
		if ch.ObjType == 0 {
			ch.ObjType = objectTypes[cmd.Object]
		}
		c.resetEach(t, ch)
	}
}

// resetEach adds a change for the table that a command names, or one for each
// table of the family where it names none.
func (c *compiler) resetEach(t target, ch ruleset.Change) {
	if t.table != "" {
		c.add(ch)
		return
	}
	if c.base == nil {
		return
	}
	for _, b := range c.base.Tables {
		if t.family == catalog.FamilyUnspec || b.Family == t.family {
			ch.Family, ch.Table = b.Family, b.Name
			c.add(ch)
		}
	}
}

// isKind reports whether the set that a command names is of the kind that it
// says: set, map or meter. Sets that do not exist are the kernel's to refuse.
func (c *compiler) isKind(kind syntax.Object, t target) bool {
	info := c.tableFor(t.family, t.table)
	if info == nil {
		return true
	}
	s := c.setFor(info, t.name)
	switch {
	case s == nil:
		return true
	case s.flags&ruleset.SetAnonymous != 0:
		return false
	case kind == syntax.ObjMeter:
		return s.flags&ruleset.SetEval != 0
	}
	return s.isMap() == (kind == syntax.ObjMap)
}

var singular = map[syntax.Object]syntax.Object{
	syntax.ObjCounters: syntax.ObjCounter, syntax.ObjQuotas: syntax.ObjQuota, syntax.ObjLimits: syntax.ObjLimit,
}

// ruleCommand compiles add, insert and replace rule.
func (c *compiler) ruleCommand(cmd *syntax.Command, t target, op ruleset.Op) {
	info := c.tableFor(t.family, t.table)
	if info == nil {
		info = newTableInfo(t.family, t.table)
	}
	def := &ruleset.RuleDef{}
	ch := t.change(op, ruleset.KindRule)
	r := cmd.Rule
	switch {
	case r.Handle != nil && op == ruleset.OpReplace:
		ch.Handle, ch.HandlePlace = r.Handle.Value, r.Handle.Span
	case r.Handle != nil:
		def.Position = r.Handle.Value
	case r.Position != nil:
		def.Position = r.Position.Value
	case r.Index != nil:
		def.HasIndex, def.Index = true, r.Index.Value
	}
	c.compileInto(info, r, ch, def)
}

// compileInto compiles a rule and adds its change, after those of the sets
// and chains that it brings.
func (c *compiler) compileInto(info *tableInfo, r *syntax.Rule, ch ruleset.Change, def *ruleset.RuleDef) {
	state := c.newRule(info, info.chainFor(ch.Name))
	exprs, places, ok := state.compileRule(r.Statements)
	def.Comment = c.comment(r.Comment)
	if !ok {
		return
	}
	def.Exprs, def.Places = exprs, places
	ch.RuleDef = def
	for _, m := range state.made {
		m.Place = ch.Place
		m.TablePlace = ch.TablePlace
		c.add(m)
	}
	c.add(ch)
}
