package syntax

import (
	"slices"
)

// verbs are the commands by word.
var verbs = map[string]Verb{
	"add": VerbAdd, "create": VerbCreate, "insert": VerbInsert, "replace": VerbReplace, "delete": VerbDelete,
	"destroy": VerbDestroy, "list": VerbList, "flush": VerbFlush, "reset": VerbReset, "get": VerbGet,
	"rename": VerbRename, "describe": VerbDescribe, "monitor": VerbMonitor, "export": VerbExport, "import": VerbImport,
}

// String is the word of the verb.
func (v Verb) String() string {
	for word, verb := range verbs {
		if verb == v {
			return word
		}
	}
	return "unknown"
}

// objectWords are the words of the objects; of two words the second follows
// ct.
var objectWords = map[Object]string{
	ObjTable: "table", ObjChain: "chain", ObjRule: "rule", ObjSet: "set", ObjMap: "map", ObjElement: "element",
	ObjFlowtable: "flowtable", ObjMeter: "meter", ObjCounter: "counter", ObjQuota: "quota", ObjLimit: "limit",
	ObjCTHelper: "ct helper", ObjCTTimeout: "ct timeout", ObjCTExpectation: "ct expectation", ObjSynproxy: "synproxy",
	ObjSecmark: "secmark", ObjTunnel: "tunnel", ObjRuleset: "ruleset", ObjTables: "tables", ObjChains: "chains",
	ObjRules: "rules", ObjSets: "sets", ObjMaps: "maps", ObjMeters: "meters", ObjFlowtables: "flowtables",
	ObjCounters: "counters", ObjQuotas: "quotas", ObjLimits: "limits", ObjCTHelpers: "ct helpers",
	ObjCTTimeouts: "ct timeouts", ObjCTExpectations: "ct expectations", ObjSynproxys: "synproxys",
	ObjSecmarks: "secmarks", ObjTunnels: "tunnels", ObjHooks: "hooks",
}

// String is what the language calls the object, "" for ObjNone.
func (o Object) String() string { return objectWords[o] }

// objectsOf lists what each verb can be about.
var objectsOf = func() map[Verb][]Object {
	stateful := []Object{
		ObjCounter, ObjQuota, ObjLimit, ObjCTHelper, ObjCTTimeout, ObjCTExpectation, ObjSynproxy, ObjSecmark, ObjTunnel,
	}
	declared := slices.Concat([]Object{ObjTable, ObjChain, ObjRule, ObjSet, ObjMap, ObjElement, ObjFlowtable}, stateful)
	all := slices.Concat(stateful, []Object{
		ObjTable, ObjChain, ObjSet, ObjMap, ObjMeter, ObjFlowtable, ObjRuleset, ObjTables, ObjChains, ObjSets, ObjMaps,
		ObjMeters, ObjFlowtables, ObjCounters, ObjQuotas, ObjLimits, ObjCTHelpers, ObjCTTimeouts, ObjCTExpectations,
		ObjSynproxys, ObjSecmarks, ObjTunnels, ObjHooks,
	})
	return map[Verb][]Object{
		VerbAdd:     declared,
		VerbCreate:  slices.DeleteFunc(slices.Clone(declared), func(o Object) bool { return o == ObjRule }),
		VerbInsert:  {ObjRule},
		VerbReplace: {ObjRule},
		VerbDelete:  declared,
		VerbDestroy: declared,
		VerbList:    all,
		VerbFlush:   {ObjTable, ObjChain, ObjSet, ObjMap, ObjMeter, ObjRuleset},
		VerbReset:   {ObjCounter, ObjCounters, ObjQuota, ObjQuotas, ObjRule, ObjRules, ObjElement, ObjSet, ObjMap},
		VerbGet:     {ObjElement},
		VerbRename:  {ObjChain},
	}
}()

// objectOf finds an object by its word, among those a verb can be about.
func objectOf(verb Verb, word string) Object {
	for _, o := range objectsOf[verb] {
		if objectWords[o] == word {
			return o
		}
	}
	return ObjNone
}

// commandWords start a line of a file.
var commandWords = func() []string {
	words := []string{"define", "redefine", "undefine", "include"}
	for w := range verbs {
		words = append(words, w)
	}
	for _, o := range objectsOf[VerbAdd] {
		if w := objectWords[o]; !slices.Contains([]Object{ObjCTHelper, ObjCTTimeout, ObjCTExpectation}, o) {
			words = append(words, w)
		}
	}
	slices.Sort(words)
	return words
}()

// fileItem parses one command or definition of a file.
func (p *parser) fileItem() Item {
	if item, ok := p.scopeItem((*parser).fileItem); ok {
		return item
	}
	if p.at(kindRBrace) {
		d := p.fail(p.tokSpan(p.tok), codeStray, "unexpected '}': no block is open here")
		d.Hint = "a '}' before this line closes too much, or a '{' is missing"
		p.skipStray()
		return nil
	}
	if p.tok.kind != kindWord {
		p.unexpected("a command")
		return nil
	}
	start := p.tok.start
	c := &Command{}
	if verb, ok := verbs[p.str(p.tok)]; ok {
		c.Verb, c.Explicit = verb, true
		p.next()
	}
	p.command(c)
	c.At = p.since(start)
	return c
}

// skipStray steps over a closing brace so that resynchronising does not stop
// at it for ever.
func (p *parser) skipStray() {
	bad := p.tok
	p.failed, p.tok = false, p.resume
	p.next()
	p.depth++
	p.failed, p.resume, p.tok = true, p.tok, bad
}

func (p *parser) command(c *Command) {
	switch c.Verb {
	case VerbDescribe:
		c.Subject = p.mixedExpr()
		return
	case VerbMonitor:
		p.monitor(c)
		return
	case VerbExport, VerbImport:
		if p.acceptWord("ruleset") {
			c.Object = ObjRuleset
		}
		p.format(c, true)
		return
	}
	if !p.commandObject(c) {
		return
	}
	switch c.Verb {
	case VerbAdd, VerbCreate, VerbInsert, VerbReplace:
		p.addition(c)
	case VerbDelete, VerbDestroy:
		p.deletion(c)
	case VerbRename:
		p.target(c, levelChain)
		c.NewName = p.name("the new name")
	case VerbGet:
		p.elementTarget(c)
	default:
		p.listing(c)
	}
}

// commandObject takes the word of the object. Without one, `add` and lines
// without a verb mean a rule.
func (p *parser) commandObject(c *Command) bool {
	if p.tok.kind == kindWord {
		if word := p.str(p.tok); word == "ct" {
			p.next()
			c.Object = p.ctObject(c.Verb)
			return !p.failed
		} else if o := objectOf(c.Verb, word); o != ObjNone {
			c.Object = o
			p.next()
			return true
		}
		if c.Verb == VerbAdd || c.Verb == VerbInsert || c.Verb == VerbReplace {
			if p.looksLikeRule() {
				c.Object = ObjRule
				return true
			}
			if !c.Explicit {
				p.unknown(codeCommand, "command", commandWords)
				return false
			}
		}
	}
	var words []string
	for _, o := range objectsOf[c.Verb] {
		words = append(words, objectWords[o])
	}
	p.unexpectedOf("", words)
	return false
}

// ctObject takes the word behind ct.
func (p *parser) ctObject(verb Verb) Object {
	var words []string
	for _, o := range objectsOf[verb] {
		if w := objectWords[o]; len(w) > 3 && w[:3] == "ct " {
			words = append(words, w[3:])
		}
	}
	w := p.oneOf(words...)
	return objectOf(verb, "ct "+w.Text)
}

// looksLikeRule reports whether a line without verb and object can be a rule:
// [FAMILY] TABLE CHAIN and something that starts a statement.
func (p *parser) looksLikeRule() bool {
	ahead := lexer{text: p.text, pos: int(p.tok.start)}
	if slices.Contains(familyNames, p.str(p.tok)) {
		ahead.scan()
	}
	for range 2 { // table and chain
		if t := ahead.scan(); t.kind != kindWord || reservedWords[p.str(t)] {
			return false
		}
	}
	t := ahead.scan()
	switch t.kind {
	case kindAt, kindDollar, kindLParen:
		return true
	case kindWord:
		word := p.str(t)
		_, selects := selectorWords[word]
		return selects || statementParsers[word] != nil || word == "handle" || word == "position" || word == "index"
	}
	return false
}

// level is how many names a target has.
type level uint8

const (
	levelFamily level = iota
	levelTable
	levelChain // table and a name in it
)

var familyNames = []string{"ip", "ip6", "inet", "arp", "bridge", "netdev"}

// target parses [FAMILY] [TABLE [NAME]].
func (p *parser) target(c *Command, to level) {
	p.family(c)
	if to >= levelTable {
		c.Target.Table = p.name("the name of a table")
	}
	if to >= levelChain {
		c.Target.Name = p.name(c.Object.named())
	}
}

// named says what names an object, for messages. Rules are named by their
// chain.
func (o Object) named() string {
	if o == ObjRule {
		o = ObjChain
	}
	return "the name of a " + o.String()
}

func (p *parser) family(c *Command) {
	if p.at(kindWord) && slices.Contains(familyNames, p.str(p.tok)) {
		c.Target.Family = p.takeWord()
	}
}

// addition parses what add, create, insert and replace are about.
func (p *parser) addition(c *Command) {
	switch c.Object {
	case ObjTable:
		p.target(c, levelTable)
		start := c.Target.Table.Span.Start
		c.Table = &Table{Family: c.Target.Family, Name: c.Target.Table}
		if p.at(kindLBrace) {
			p.tableBlock(c.Table)
		}
		c.Table.At = p.since(start)
	case ObjChain:
		p.target(c, levelChain)
		p.commandChain(c)
	case ObjRule:
		p.target(c, levelChain)
		p.commandRule(c)
	case ObjSet, ObjMap:
		p.target(c, levelChain)
		c.Set = &Set{Name: c.Target.Name, IsMap: c.Object == ObjMap}
		p.setBlock(c.Set)
		c.Set.At = p.since(c.Target.Name.Span.Start)
	case ObjElement:
		p.elementTarget(c)
	case ObjFlowtable:
		p.target(c, levelChain)
		p.commandFlowtable(c)
	default:
		p.target(c, levelChain)
		p.commandObjectBody(c)
	}
}

func (p *parser) commandChain(c *Command) {
	c.Chain = &Chain{Name: c.Target.Name}
	if p.at(kindLBrace) {
		p.chainBlock(c.Chain)
	}
	c.Chain.At = p.since(c.Target.Name.Span.Start)
}

func (p *parser) commandFlowtable(c *Command) {
	c.Flowtable = &Flowtable{Name: c.Target.Name}
	if p.at(kindLBrace) {
		p.flowtableBlock(c.Flowtable)
	}
	c.Flowtable.At = p.since(c.Target.Name.Span.Start)
}

func (p *parser) commandObjectBody(c *Command) {
	c.Stateful = &StatefulObj{Kind: c.Object, Name: c.Target.Name}
	if p.at(kindLBrace) {
		p.objectBlock(c.Stateful)
	} else {
		p.inlineObject(c.Stateful)
	}
	c.Stateful.At = p.since(c.Target.Name.Span.Start)
}

// commandRule parses the placement and the rule itself.
func (p *parser) commandRule(c *Command) {
	start := p.tok.start
	c.Rule = p.rules.new()
	switch {
	case p.acceptWord("handle"):
		c.Rule.Handle = p.number("a handle")
	case c.Verb == VerbReplace:
		p.expectWord("handle")
	case p.acceptWord("position"):
		c.Rule.Position = p.number("a handle")
	case p.acceptWord("index"):
		c.Rule.Index = p.number("an index")
	}
	p.ruleBody(c.Rule)
	c.Rule.At = p.since(start)
}

// elementTarget parses a set's name and elements.
func (p *parser) elementTarget(c *Command) {
	p.family(c)
	c.Target.Table = p.name("the name of a table")
	c.Target.Name = p.name("the name of a set")
	switch p.tok.kind {
	case kindLBrace:
		if s, ok := p.setLiteral(valuing).(*SetLiteral); ok {
			c.Elements = s
		}
	case kindDollar:
		if v := p.variable(); v != nil {
			c.Elements = &SetLiteral{At: v.At, Elements: []Expr{v}}
		}
	default:
		p.unexpected("'{'", "a variable")
	}
}

// deletion parses what delete and destroy are about.
func (p *parser) deletion(c *Command) {
	switch c.Object {
	case ObjElement:
		p.elementTarget(c)
		return
	case ObjRule:
		p.target(c, levelChain)
		p.expectWord("handle")
		c.Target.Handle = p.number("a handle")
		return
	}
	p.family(c)
	if c.Object == ObjTable {
		if !p.handle(c) {
			c.Target.Table = p.name("the name of a table")
		}
		return
	}
	c.Target.Table = p.name("the name of a table")
	if p.handle(c) {
		return
	}
	c.Target.Name = p.name(c.Object.named())
	if !p.at(kindLBrace) {
		return
	}
	switch c.Object {
	case ObjChain:
		p.commandChain(c)
	case ObjFlowtable:
		p.commandFlowtable(c)
	case ObjTable, ObjSet, ObjMap:
	default:
		p.commandObjectBody(c)
	}
}

// handle parses handle N where it stands.
func (p *parser) handle(c *Command) bool {
	if !p.acceptWord("handle") {
		return false
	}
	c.Target.Handle = p.number("a handle")
	return true
}

// plural reports whether an object stands for all of its kind.
func (o Object) plural() bool { return o >= ObjRuleset && o <= ObjHooks }

// listing parses what list, flush and reset are about.
func (p *parser) listing(c *Command) {
	switch {
	case c.Object == ObjElement:
		p.elementTarget(c)
	case c.Object == ObjRules:
		p.rulesTarget(c)
	case c.Object == ObjRule:
		p.target(c, levelChain)
		p.expectWord("handle")
		c.Target.Handle = p.number("a handle")
	case c.Object == ObjHooks:
		p.family(c)
		if p.acceptWord("device") {
			c.Device = p.quotedText("the name of a device")
		}
	case c.Object.plural():
		if p.acceptWord("table") {
			p.target(c, levelTable)
			return
		}
		p.family(c)
	case c.Object == ObjTable:
		p.target(c, levelTable)
	default:
		p.target(c, levelChain)
	}
}

// rulesTarget parses reset rules [table|chain] [FAMILY] [TABLE [CHAIN]].
func (p *parser) rulesTarget(c *Command) {
	scope := ""
	if p.is("table") || p.is("chain") {
		scope = p.takeWord().Text
	}
	p.family(c)
	if scope != "" || p.at(kindWord) {
		c.Target.Table = p.name("the name of a table")
	}
	if scope == "chain" || scope == "" && p.at(kindWord) {
		c.Target.Name = p.name("the name of a chain")
	}
}

var (
	monitorEvents  = []string{"new", "destroy"}
	monitorObjects = []string{"tables", "chains", "rules", "sets", "elements", "ruleset", "trace"}
	formatWords    = []string{"json", "vm", "xml"}
)

// monitor parses monitor [EVENT] [OBJECTS] [FORMAT].
func (p *parser) monitor(c *Command) {
	if p.at(kindWord) && slices.Contains(monitorEvents, p.str(p.tok)) {
		c.Monitor.Event = p.takeWord()
	}
	if p.at(kindWord) && slices.Contains(monitorObjects, p.str(p.tok)) {
		c.Monitor.Object = p.takeWord()
	}
	if !p.ruleEnds() {
		p.format(c, false)
	}
}

func (p *parser) format(c *Command, required bool) {
	if p.at(kindWord) && slices.Contains(formatWords, p.str(p.tok)) {
		c.Format = p.takeWord()
		if c.Format.Text == "vm" {
			p.acceptWord("json")
		}
		return
	}
	if required {
		p.unexpectedOf("", formatWords)
		return
	}
	p.unexpectedOf("", slices.Concat(monitorEvents, monitorObjects, formatWords))
}
