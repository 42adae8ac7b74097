package nftcmd

import (
	"slices"

	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/compile"
	"verdict/nft/decompile"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// view is the ruleset as the commands of a batch that read see it: as nft's
// cache has it once all commands are read and before any change is sent.
type view struct {
	*batch
	rules   *ruleset.Ruleset
	options decompile.Options
}

// view makes the ruleset that commands see which read.
func (b *batch) view() *view {
	v := &view{batch: b, rules: b.base, options: b.names.listOptions()}
	if b.session.options.json {
		v.options = v.options.JSON()
	}
	if !anyOf(b.commands, changes) {
		return v
	}
	batch, found := compile.Compile(b.base, withoutResets(b.file), b.names.compileOptions())
	if found.HasErrors() {
		return v
	}
	next, refused := ruleset.Apply(b.base, batch, ruleset.Options{Now: b.session.clock(), Owner: b.session.owner})
	if len(refused) == 0 {
		v.rules = pending(b.base, next)
	}
	return v
}

// changes tells whether a command is part of the transaction; a reset goes to
// the kernel by itself.
func changes(c *syntax.Command) bool { return !reads(c) }

// withoutResets leaves the resets of a file out.
func withoutResets(f *syntax.File) *syntax.File {
	again := *f
	again.Items = slices.DeleteFunc(slices.Clone(f.Items), func(it syntax.Item) bool {
		c, ok := it.(*syntax.Command)
		return ok && c.Verb == syntax.VerbReset
	})
	return &again
}

// answer runs the commands that read, in order. The first that fails ends the
// batch, as in nft.
func (b *batch) answer() error {
	if !anyOf(b.commands, reads) {
		return nil
	}
	v := b.view()
	for _, c := range b.commands {
		if !reads(c) {
			continue
		}
		if v.command(c); b.found.HasErrors() {
			return b.found.Err()
		}
	}
	return nil
}

// command runs a command that reads.
func (v *view) command(c *syntax.Command) {
	if t := v.table(c); c.Target.Table.Given() && (t == nil || c.Target.Name.Given() && !v.exists(t, c)) {
		v.notThere(c) // a later command of the batch deletes it
		return
	}
	switch c.Verb {
	case syntax.VerbList, syntax.VerbReset:
		if c.Object == syntax.ObjElement {
			v.get(c)
			return
		}
		v.list(c)
	case syntax.VerbGet:
		v.get(c)
	case syntax.VerbDescribe:
		v.describe(c.Subject)
	case syntax.VerbExport:
		v.export(c)
	}
}

// checkReads finds commands that read what is not there when their turn comes.
// All of them are looked at before any runs.
func (b *batch) checkReads() {
	if !anyOf(b.commands, reads) {
		return
	}
	for i, c := range b.commands {
		if !reads(c) {
			continue
		}
		v := &view{batch: b, rules: b.base}
		if anyOf(b.commands[:i], changes) {
			v.rules = b.before(c)
		}
		v.check(c)
	}
}

// before gives the ruleset with the changes that stand in front of a command;
// where these are refused, which will be reported, the one without them.
func (b *batch) before(c *syntax.Command) *ruleset.Ruleset {
	head := &syntax.File{Source: b.file.Source, Items: upTo(b.file.Items, c)}
	changes, found := compile.Compile(b.base, head, b.names.compileOptions())
	if found.HasErrors() {
		return b.base
	}
	next, refused := ruleset.Apply(b.base, changes, ruleset.Options{Now: b.session.clock(), Owner: b.session.owner})
	if len(refused) > 0 {
		return b.base
	}
	return next
}

// upTo gives the items in front of a command, also within included files.
func upTo(items []syntax.Item, c *syntax.Command) []syntax.Item {
	var head []syntax.Item
	for _, it := range items {
		if it == syntax.Item(c) {
			break
		}
		if include, ok := it.(*syntax.Include); ok && slices.Contains(commandsOf([]syntax.Item{it}, nil), c) {
			part := *include
			part.Files = nil
			for _, f := range include.Files {
				cut := upTo(f.Items, c)
				part.Files = append(part.Files, syntax.IncludedFile{Source: f.Source, Items: cut})
				if len(cut) < len(f.Items) {
					break
				}
			}
			return append(head, &part)
		}
		head = append(head, it)
	}
	return head
}

// check reports names that a command refers to and that do not exist.
func (v *view) check(c *syntax.Command) {
	switch c.Verb {
	case syntax.VerbDescribe, syntax.VerbMonitor, syntax.VerbExport:
		return
	}
	if !c.Target.Table.Given() {
		return
	}
	t := v.table(c)
	if t == nil {
		v.noTable(c)
		return
	}
	if c.Target.Name.Given() && !v.exists(t, c) {
		v.missing(t, c)
	}
}

func family(c *syntax.Command) catalog.Family {
	if f, ok := catalog.FamilyByName(c.Target.Family.Text); ok {
		return f
	}
	return catalog.FamilyIP
}

func (v *view) table(c *syntax.Command) *ruleset.Table {
	return v.rules.Table(family(c), c.Target.Table.Text)
}

// noFile is nft's message for what is missing.
const noFile = "No such file or directory"

func (v *view) noTable(c *syntax.Command) {
	var names []string
	for _, t := range v.rules.Tables {
		if t.Name == c.Target.Table.Text {
			v.found.Errorf(c.Target.Table.Span, "nft/no-table", "%s; did you mean table '%s' in family %v?", noFile, t.Name, t.Family)
			return
		}
		names = append(names, t.Name)
	}
	near := diag.Misspelled(c.Target.Table.Text, names)
	for _, t := range v.rules.Tables {
		if near != "" && t.Name == near {
			v.found.Errorf(c.Target.Table.Span, "nft/no-table", "%s; did you mean table '%s' in family %v?", noFile, t.Name, t.Family)
			return
		}
	}
	v.found.Errorf(c.Target.Table.Span, "nft/no-table", noFile)
}

// exists tells whether what a command names is in its table.
func (v *view) exists(t *ruleset.Table, c *syntax.Command) bool {
	name := c.Target.Name.Text
	switch c.Object {
	case syntax.ObjChain, syntax.ObjRule, syntax.ObjRules:
		return t.Chain(name) != nil
	case syntax.ObjSet, syntax.ObjMap, syntax.ObjMeter, syntax.ObjElement:
		s := t.Set(name)
		return s != nil && s.Flags&ruleset.SetAnonymous == 0 && isKind(s, c.Object)
	case syntax.ObjFlowtable:
		return t.Flowtable(name) != nil
	}
	return t.Object(objectTypes[c.Object], name) != nil
}

// isKind tells whether a command's word for a set fits.
func isKind(s *ruleset.Set, kind syntax.Object) bool {
	isMap := s.Flags&(ruleset.SetMap|ruleset.SetObject) != 0
	switch kind {
	case syntax.ObjSet:
		return !isMap
	case syntax.ObjMap:
		return isMap
	case syntax.ObjMeter:
		return s.Flags&ruleset.SetEval != 0
	}
	return true
}

// missing reports a name that is not in a table, with the nearest that is.
func (v *view) missing(t *ruleset.Table, c *syntax.Command) {
	var names []string
	kind := "obj"
	switch c.Object {
	case syntax.ObjChain, syntax.ObjRule, syntax.ObjRules:
		kind = "chain"
		for _, x := range t.Chains {
			names = append(names, x.Name)
		}
	case syntax.ObjSet, syntax.ObjMap, syntax.ObjMeter, syntax.ObjElement:
		kind = "set"
		for _, x := range t.Sets {
			if x.Flags&ruleset.SetAnonymous == 0 && isKind(x, c.Object) {
				names = append(names, x.Name)
			}
		}
	case syntax.ObjFlowtable:
		kind = "flowtable"
		for _, x := range t.Flowtables {
			names = append(names, x.Name)
		}
	default:
		for _, x := range t.Objects {
			if x.Type == objectTypes[c.Object] {
				names = append(names, x.Name)
			}
		}
	}
	if near := diag.Misspelled(c.Target.Name.Text, names); near != "" {
		v.found.Errorf(c.Target.Name.Span, "nft/no-name", "%s; did you mean %s '%s' in table %v '%s'?", noFile, kind, near, t.Family, t.Name)
		return
	}
	v.found.Errorf(c.Target.Name.Span, "nft/no-name", noFile)
}
