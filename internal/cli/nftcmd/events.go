package nftcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"verdict/nft/decompile"
	"verdict/nft/nftjson"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// eventPrinter prints events as `nft monitor` and `nft --echo` do: one command
// a line.
type eventPrinter struct {
	w       io.Writer
	rules   *ruleset.Ruleset // after the batch
	options decompile.Options
	// additions leaves deletions out, as echo does.
	additions bool
	// json, if set, is the document that gets the events; with jsonLines each
	// is a line of its own.
	json      *nftjson.Document
	jsonLines bool
}

func (p *eventPrinter) print(e ruleset.Event) {
	if e.Op == ruleset.OpDelete && p.additions {
		return
	}
	if e.Set != nil && e.Set.Flags&ruleset.SetAnonymous != 0 && (e.Op != ruleset.OpDelete || e.Kind == ruleset.KindElements) {
		return // rules show them
	}
	switch e.Kind {
	case ruleset.KindRule:
		p.rule(e)
	case ruleset.KindElements:
		p.elements(e)
	default:
		p.command(p.declaration(e))
	}
}

// generation prints the line that ends a batch.
func (p *eventPrinter) generation(number, pid uint32, command string) {
	fmt.Fprintf(p.w, "# new generation %d by process %d (%s)\n", number, pid, command)
}

// command prints a command; writing into the buffer of a batch cannot fail,
// and a monitor sees its output end elsewhere.
func (p *eventPrinter) command(c *syntax.Command) {
	if !p.asJSON() {
		_, _ = p.w.Write(append(handleLast(syntax.AppendCommand(nil, c), c), '\n'))
		return
	}
	family, table := c.Target.Family.Text, c.Target.Table.Text
	verb := c.Verb.String()
	switch {
	case c.Rule != nil && p.jsonLines:
		_, _ = p.w.Write(nftjson.AppendRuleEvent(nil, verb, family, table, c.Target.Name.Text, c.Rule))
	case c.Rule != nil:
		p.json.RuleEvent(verb, family, table, c.Target.Name.Text, c.Rule)
	case c.Elements != nil && p.jsonLines:
		_, _ = p.w.Write(nftjson.AppendElementEvent(nil, verb, family, table, c.Target.Name.Text, c.Elements))
	case c.Elements != nil:
		p.json.ElementEvent(verb, family, table, c.Target.Name.Text, c.Elements)
	case p.jsonLines:
		_, _ = p.w.Write(nftjson.AppendEvent(nil, verb, family, table, c.Body()))
	default:
		p.json.Event(verb, family, table, c.Body())
	}
}

// handleLast moves the handle of a table or chain from the opening brace to
// the end of the line, and leaves out a block that holds nothing else.
func handleLast(line []byte, c *syntax.Command) []byte {
	var comment string
	switch {
	case c.Table != nil:
		comment = c.Table.Trailing
	case c.Chain != nil:
		comment = c.Chain.Trailing
	}
	if comment == "" {
		return line
	}
	text := strings.Replace(string(line), "{ # "+comment, "{", 1)
	text = strings.TrimSuffix(text, " { }")
	return []byte(text + " # " + comment)
}

// asJSON tells whether events are written as JSON, which shows declarations
// whole also where the text does not.
func (p *eventPrinter) asJSON() bool { return p.json != nil || p.jsonLines }

func word(s string) syntax.Word { return syntax.Word{Text: s} }

func (p *eventPrinter) target(e ruleset.Event, name string) syntax.Target {
	return syntax.Target{Family: word(e.Table.Family.String()), Table: word(e.Table.Name), Name: word(name)}
}

// declaration makes the command of an event about a table, chain, set, object
// or flowtable.
func (p *eventPrinter) declaration(e ruleset.Event) *syntax.Command {
	c := &syntax.Command{Verb: syntax.VerbAdd, Explicit: true}
	deleted := e.Op == ruleset.OpDelete
	if deleted {
		c.Verb = syntax.VerbDelete
	}
	switch e.Kind {
	case ruleset.KindTable:
		c.Object, c.Target = syntax.ObjTable, p.target(e, "")
		if frame := p.tableFrame(e.Table); frame != nil && (!deleted || p.asJSON()) {
			c.Table = frame
		}
	case ruleset.KindChain:
		c.Object, c.Target = syntax.ObjChain, p.target(e, e.Chain.Name)
		if p.asJSON() || !deleted && (e.Chain.Base != nil || e.Chain.Comment != "" || p.options.Handles) {
			c.Chain = decompile.ChainDeclaration(e.Table, e.Chain, p.options)
		}
	case ruleset.KindSet:
		c.Object, c.Target = syntax.ObjSet, p.target(e, e.Set.Name)
		if e.Set.Flags&(ruleset.SetMap|ruleset.SetObject) != 0 {
			c.Object = syntax.ObjMap
		}
		if !deleted || p.asJSON() {
			c.Set = decompile.SetDeclaration(emptySet(e.Set), p.options)
		}
	case ruleset.KindObject:
		body := decompile.Object(e.Object, p.options)
		c.Object, c.Target = body.Kind, p.target(e, e.Object.Name)
		if !deleted || p.asJSON() {
			c.Stateful = body
		}
	case ruleset.KindFlowtable:
		c.Object, c.Target = syntax.ObjFlowtable, p.target(e, e.Flowtable.Name)
		if !deleted || p.asJSON() {
			c.Flowtable = decompile.Flowtable(e.Flowtable, p.options)
		}
	}
	return c
}

// emptySet is a set as it was declared, for the kernel tells of the elements
// afterwards.
func emptySet(s *ruleset.Set) *ruleset.Set { return &ruleset.Set{SetDef: s.SetDef, Handle: s.Handle} }

// tableFrame is a table's flags and comment, nil if it has neither and shows
// no handle.
func (p *eventPrinter) tableFrame(t *ruleset.Table) *syntax.Table {
	if t.Flags == 0 && t.Comment == "" && !p.options.Handles && !p.asJSON() {
		return nil
	}
	bare := &ruleset.Table{Family: t.Family, Name: t.Name, Handle: t.Handle, Flags: t.Flags, Comment: t.Comment, Owner: t.Owner}
	return decompile.Table(bare, p.options)
}

// rule prints a rule's event. The text shows anonymous sets and chains, which
// are looked up in the table as it is after the batch.
func (p *eventPrinter) rule(e ruleset.Event) {
	if p.asJSON() {
		p.ruleJSON(e)
		return
	}
	head := fmt.Sprintf("rule %s %s %s ", e.Table.Family, e.Table.Name, e.Chain.Name)
	if e.Op == ruleset.OpDelete {
		fmt.Fprintf(p.w, "delete %shandle %d\n", head, e.Rule.Handle)
		return
	}
	t := p.table(e)
	verb := "add "
	if e.Op == ruleset.OpInsert {
		verb = "insert "
	}
	statements, comment := decompile.Rule(t, e.Rule, &p.options)
	line := append([]byte(verb), head...)
	line = append(line, p.position(t, e)...)
	line = syntax.AppendRule(line, &syntax.Rule{Statements: statements, Comment: word(comment)})
	if p.options.Handles {
		line = fmt.Appendf(line, " # handle %d", e.Rule.Handle)
	}
	_, _ = p.w.Write(append(line, '\n'))
}

func (p *eventPrinter) ruleJSON(e ruleset.Event) {
	t := p.table(e)
	statements, comment := decompile.Rule(t, e.Rule, &p.options)
	rule := &syntax.Rule{Statements: statements, Comment: word(comment)}
	rule.Trailing = fmt.Sprintf("handle %d", e.Rule.Handle)
	c := &syntax.Command{Verb: syntax.VerbAdd, Object: syntax.ObjRule, Target: p.target(e, e.Chain.Name), Rule: rule}
	switch e.Op {
	case ruleset.OpInsert:
		c.Verb = syntax.VerbInsert
	case ruleset.OpDelete:
		c.Verb = syntax.VerbDelete
	}
	p.command(c)
}

// table is the table of a rule as it is after the batch. Anonymous chains are
// shown by their names, since they have events of their own.
func (p *eventPrinter) table(e ruleset.Event) *ruleset.Table {
	t := p.rules.Table(e.Table.Family, e.Table.Name)
	if t == nil {
		t = e.Table
	}
	if !slices.ContainsFunc(t.Chains, func(c *ruleset.Chain) bool { return c.Binding }) {
		return t
	}
	named := *t
	named.Chains = slices.Clone(t.Chains)
	for i, c := range named.Chains {
		if c.Binding {
			again := *c
			again.Binding = false
			named.Chains[i] = &again
		}
	}
	return &named
}

// position names the rule in front of one that is neither the first nor the
// last of its chain.
//
// Ref: nf_tables_api.c, nf_tables_rule_notify
func (p *eventPrinter) position(t *ruleset.Table, e ruleset.Event) string {
	c := t.Chain(e.Chain.Name)
	if c == nil {
		return ""
	}
	for i, r := range c.Rules {
		if r.Handle == e.Rule.Handle && i > 0 && i < len(c.Rules)-1 {
			return fmt.Sprintf("handle %d ", c.Rules[i-1].Handle)
		}
	}
	return ""
}

// elements prints a line for each element; the two ends of a range are one.
func (p *eventPrinter) elements(e ruleset.Event) {
	s, err := subset(e.Table, e.Set, e.Elements, e.Targets, p.options.Clock)
	if err != nil {
		return // the set cannot hold them any more
	}
	for element := range decompiledElements(s, p.options) {
		verb := syntax.VerbAdd
		if e.Op == ruleset.OpDelete {
			verb = syntax.VerbDelete
		}
		p.command(&syntax.Command{
			Verb: verb, Explicit: true, Object: syntax.ObjElement, Target: p.target(e, e.Set.Name),
			Elements: &syntax.SetLiteral{Elements: []syntax.Expr{element}},
		})
	}
}
