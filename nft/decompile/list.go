package decompile

import (
	"bytes"
	"io"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// Scope says which tables a listing is about.
type Scope struct {
	Family catalog.Family // FamilyUnspec: all
	Table  string         // "": all
}

func (s Scope) tables(rs *ruleset.Ruleset) []*ruleset.Table {
	var list []*ruleset.Table
	for _, t := range rs.Tables {
		if (s.Family == catalog.FamilyUnspec || s.Family == t.Family) && (s.Table == "" || s.Table == t.Name) {
			list = append(list, t)
		}
	}
	return list
}

// List writes what `nft list ruleset` prints. The error is that of w.
func List(w io.Writer, rs *ruleset.Ruleset, o Options) error {
	return ListRuleset(w, rs, Scope{}, o)
}

// ListRuleset writes what `nft list ruleset FAMILY` prints, and for a scope
// with a table `nft list table`.
func ListRuleset(w io.Writer, rs *ruleset.Ruleset, scope Scope, o Options) error {
	for _, t := range scope.tables(rs) {
		if err := syntax.PrintTable(w, Table(t, o)); err != nil {
			return err
		}
	}
	return nil
}

// ListTables writes what `nft list tables` prints: one line for each.
func ListTables(w io.Writer, rs *ruleset.Ruleset, scope Scope, o Options) error {
	var b bytes.Buffer
	for _, t := range scope.tables(rs) {
		b.WriteString("table " + t.Family.String() + " " + t.Name)
		if o.Handles {
			b.WriteString(" # " + handle(t.Handle))
		}
		b.WriteByte('\n')
	}
	_, err := w.Write(b.Bytes())
	return err
}

// ListItems writes items of one table in its frame, without blank lines
// between them: what `nft list chain`, `list set` and the like print. The
// items come from Chain, Set, Object, Flowtable and their declarations.
func ListItems(w io.Writer, t *ruleset.Table, items []syntax.Item) error {
	x := &syntax.Table{Family: text(t.Family.String()), Name: text(t.Name), HasBlock: true, Items: items, Dense: true}
	return syntax.PrintTable(w, x)
}

// ListChains writes what `nft list chains` prints: declarations, and a frame
// for tables without chains too.
func ListChains(w io.Writer, rs *ruleset.Ruleset, scope Scope, o Options) error {
	return eachTable(w, rs, scope, true, func(t *ruleset.Table) (items []syntax.Item) {
		for _, c := range t.Chains {
			if !c.Binding {
				items = append(items, ChainDeclaration(t, c, o))
			}
		}
		return items
	})
}

// SetKind says which sets ListSets writes.
type SetKind uint8

// The kinds of sets: plain ones, maps, and those that rules update.
const (
	PlainSets SetKind = iota
	Maps
	Meters
)

// ListSets writes what `nft list sets`, `list maps` and `list meters` print:
// with elements, and a frame for tables without any too.
func ListSets(w io.Writer, rs *ruleset.Ruleset, scope Scope, kind SetKind, o Options) error {
	return eachTable(w, rs, scope, true, func(t *ruleset.Table) (items []syntax.Item) {
		for _, s := range t.Sets {
			if kind.includes(s) {
				items = append(items, Set(s, o))
			}
		}
		return items
	})
}

func (k SetKind) includes(s *ruleset.Set) bool {
	isMap := s.Flags&(ruleset.SetMap|ruleset.SetObject) != 0
	switch k {
	case Meters:
		return s.Flags&ruleset.SetEval != 0
	case Maps:
		return isMap && s.Flags&ruleset.SetAnonymous == 0
	}
	return !isMap && s.Flags&ruleset.SetAnonymous == 0
}

// ListFlowtables writes what `nft list flowtables` prints, with a frame for
// tables without any too.
func ListFlowtables(w io.Writer, rs *ruleset.Ruleset, scope Scope, o Options) error {
	return eachTable(w, rs, scope, true, func(t *ruleset.Table) (items []syntax.Item) {
		for _, ft := range t.Flowtables {
			items = append(items, Flowtable(ft, o))
		}
		return items
	})
}

// ListObjects writes what `nft list counters` and the lists of the other
// stateful objects print. Tables without such objects are left out.
func ListObjects(w io.Writer, rs *ruleset.Ruleset, scope Scope, kind expr.ObjectType, o Options) error {
	return eachTable(w, rs, scope, false, func(t *ruleset.Table) (items []syntax.Item) {
		for _, obj := range t.Objects {
			if obj.Type == kind {
				items = append(items, Object(obj, o))
			}
		}
		return items
	})
}

// ListRules writes the rules of all chains, as `nft list rules` and `reset
// rules` print them: tables with their chains only, blank lines between them.
func ListRules(w io.Writer, rs *ruleset.Ruleset, scope Scope, o Options) error {
	for _, t := range scope.tables(rs) {
		x := &syntax.Table{Family: text(t.Family.String()), Name: text(t.Name), HasBlock: true}
		for _, c := range t.Chains {
			if !c.Binding {
				x.Items = append(x.Items, Chain(t, c, o))
			}
		}
		if err := syntax.PrintTable(w, x); err != nil {
			return err
		}
	}
	return nil
}

// eachTable writes the items that pick selects of each table, in its frame.
func eachTable(w io.Writer, rs *ruleset.Ruleset, scope Scope, empty bool, pick func(*ruleset.Table) []syntax.Item) error {
	for _, t := range scope.tables(rs) {
		items := pick(t)
		if len(items) == 0 && !empty {
			continue
		}
		if err := ListItems(w, t, items); err != nil {
			return err
		}
	}
	return nil
}

// UsesXT reports whether a table holds expressions of iptables-nft, for which
// nft warns when it lists the table.
func UsesXT(t *ruleset.Table) bool {
	for _, c := range t.Chains {
		for _, r := range c.Rules {
			for _, e := range r.Exprs {
				if _, ok := e.(*expr.XT); ok {
					return true
				}
			}
		}
	}
	return false
}

// ChainDeclaration decompiles a chain without its rules.
func ChainDeclaration(t *ruleset.Table, c *ruleset.Chain, o Options) *syntax.Chain {
	return chainFrame(t, c, &o)
}

// SetDeclaration decompiles a set without its elements.
func SetDeclaration(s *ruleset.Set, o Options) *syntax.Set { return setFrame(s, &o) }
