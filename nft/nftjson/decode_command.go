package nftjson

import (
	"strconv"

	"verdict/nft/syntax"
)

// verbs are the commands by name.
var verbs = map[string]syntax.Verb{
	"add": syntax.VerbAdd, "create": syntax.VerbCreate, "insert": syntax.VerbInsert, "replace": syntax.VerbReplace,
	"delete": syntax.VerbDelete, "destroy": syntax.VerbDestroy, "list": syntax.VerbList, "reset": syntax.VerbReset,
	"flush": syntax.VerbFlush, "rename": syntax.VerbRename,
}

// objects are what commands are about, by name.
var objects = map[string]syntax.Object{}

// objectNames are the names in the order of the language's objects.
var objectNames, commandNames []string

func init() {
	for o := syntax.ObjTable; o <= syntax.ObjHooks; o++ {
		objects[o.String()] = o
		objectNames = append(objectNames, o.String())
	}
	commandNames = append([]string{
		"metainfo", "add", "create", "insert", "replace", "delete", "destroy", "list", "reset", "flush", "rename",
	}, objectNames...)
}

// commandObject reads one item of the document: {VERB: {OBJECT: …}}, an object
// alone, which is added, or the facts about the writer.
func (d *decoder) commandObject(n *node) syntax.Item {
	k, body := d.only(n)
	if k == nil {
		return nil
	}
	before := d.diags.Errors()
	c := &syntax.Command{At: d.at(n)}
	verb, explicit := verbs[k.name]
	switch {
	case k.name == "metainfo":
		d.metainfo(body)
		return nil
	case explicit:
		c.Verb, c.Explicit = verb, true
		if k, body = d.only(body); k == nil {
			return nil
		}
	}
	o, ok := objects[k.name]
	if !ok {
		possible, what := commandNames, "command"
		if explicit {
			possible, what = objectNames, "object"
		}
		d.unknownKey(k, body, what, possible)
		return nil
	}
	c.Object = o
	d.command(c, k, body)
	if d.diags.Errors() > before {
		return nil
	}
	return c
}

// metainfo checks that the document's schema is one that is read here.
func (d *decoder) metainfo(n *node) {
	if !d.want(n, kindObject) {
		return
	}
	v := n.get("json_schema_version")
	if v == nil {
		return
	}
	if version, ok := d.int(v); ok && version > schemaVersion {
		d.errorf(v, codeVersion, "version %d of the schema is not known, the newest is %d", version, schemaVersion)
	}
}

func (d *decoder) command(c *syntax.Command, k *key, n *node) {
	switch c.Verb {
	case syntax.VerbAdd, syntax.VerbCreate, syntax.VerbInsert, syntax.VerbReplace:
		d.addition(c, k, n)
	case syntax.VerbDelete, syntax.VerbDestroy:
		d.deletion(c, k, n)
	case syntax.VerbRename:
		if c.Object != syntax.ObjChain {
			d.notPossible(c, k, n, "chain")
			return
		}
		if d.object(n, "family", "table", "name", "handle", "newname") {
			d.target(c, n, true)
			c.NewName = d.name(n, "newname")
		}
	default:
		d.selection(c, k, n)
	}
}

// notPossible reports an object that a verb cannot be about.
func (d *decoder) notPossible(c *syntax.Command, k *key, n *node, possible ...string) {
	at := *n
	at.start, at.end = k.start, k.end
	e := d.errorf(&at, codeUnknown, "%s %s is not possible", c.Verb, k.name)
	e.Expected = possible
}

// target reads the family, the table and, unless the command is about a whole
// table, the name.
func (d *decoder) target(c *syntax.Command, n *node, named bool) {
	c.Target.Family = d.family(n)
	if !named {
		c.Target.Table = d.name(n, "name")
		return
	}
	c.Target.Table = d.name(n, "table")
	c.Target.Name = d.name(n, "name")
}

var families = []string{"ip", "ip6", "inet", "arp", "bridge", "netdev"}

// family reads the family, which everything in a table needs.
func (d *decoder) family(n *node) syntax.Word {
	return d.oneOf(d.need(n, "family"), "family", families...)
}

// addition reads what add, create, insert and replace are about.
func (d *decoder) addition(c *syntax.Command, k *key, n *node) {
	onlyRule := c.Verb == syntax.VerbInsert || c.Verb == syntax.VerbReplace
	switch {
	case onlyRule && c.Object != syntax.ObjRule:
		d.notPossible(c, k, n, "rule")
	case c.Object == syntax.ObjRule && c.Verb == syntax.VerbCreate:
		d.notPossible(c, k, n, "table", "chain", "set", "map", "element", "flowtable")
	case c.Object == syntax.ObjTable:
		d.addTable(c, n)
	case c.Object == syntax.ObjChain:
		d.addChain(c, n)
	case c.Object == syntax.ObjRule:
		d.addRule(c, n)
	case c.Object == syntax.ObjSet, c.Object == syntax.ObjMap, c.Object == syntax.ObjMeter:
		d.addSet(c, n)
	case c.Object == syntax.ObjElement:
		d.addElements(c, n)
	case c.Object == syntax.ObjFlowtable:
		d.addFlowtable(c, n)
	case c.Object >= syntax.ObjCounter && c.Object <= syntax.ObjTunnel:
		d.addObject(c, n)
	default:
		d.notPossible(c, k, n, "table", "chain", "rule", "set", "map", "element", "flowtable", "counter", "quota")
	}
}

// deletion reads what delete and destroy are about: a name or a handle.
func (d *decoder) deletion(c *syntax.Command, k *key, n *node) {
	switch c.Object {
	case syntax.ObjElement:
		d.addElements(c, n)
		return
	case syntax.ObjRule:
		if d.want(n, kindObject) {
			d.ruleTarget(c, n)
			if h := d.need(n, "handle"); h != nil {
				c.Target.Handle = d.number(h, maxUint64)
			}
		}
		return
	}
	if c.Object > syntax.ObjTunnel {
		d.notPossible(c, k, n, "table", "chain", "rule", "set", "map", "element", "flowtable", "counter", "quota")
		return
	}
	if c.Object == syntax.ObjMeter {
		c.Object = syntax.ObjSet
	}
	if !d.want(n, kindObject) {
		return
	}
	c.Target.Family = d.family(n)
	name := "name"
	if c.Object != syntax.ObjTable {
		c.Target.Table = d.name(n, "table")
	}
	if n.get(name) == nil && n.get("handle") != nil {
		c.Target.Handle = d.number(n.get("handle"), maxUint64)
		return
	}
	if c.Object == syntax.ObjTable {
		c.Target.Table = d.name(n, name)
		return
	}
	c.Target.Name = d.name(n, name)
}

func (d *decoder) ruleTarget(c *syntax.Command, n *node) {
	c.Target.Family = d.family(n)
	c.Target.Table = d.name(n, "table")
	c.Target.Name = d.name(n, "chain")
}

// selection reads what list, reset and flush are about.
func (d *decoder) selection(c *syntax.Command, k *key, n *node) {
	switch {
	case c.Verb == syntax.VerbFlush && !flushes(c.Object):
		d.notPossible(c, k, n, "table", "chain", "set", "map", "meter", "ruleset")
		return
	case c.Verb == syntax.VerbReset && !resets(c.Object):
		d.notPossible(c, k, n, "counter", "counters", "quota", "quotas", "rule", "rules", "element", "set", "map")
		return
	case c.Object == syntax.ObjElement && c.Verb == syntax.VerbReset:
		d.addElements(c, n)
		return
	case n.kind == kindNull && c.Object >= syntax.ObjRuleset:
		return // all of them
	case !d.want(n, kindObject):
		return
	}
	switch {
	case c.Object == syntax.ObjRule:
		d.ruleTarget(c, n)
		if h := d.need(n, "handle"); h != nil {
			c.Target.Handle = d.number(h, maxUint64)
		}
	case c.Object >= syntax.ObjRuleset:
		c.Target.Family = d.oneOf(n.get("family"), "family", families...)
		c.Target.Table = d.word(n.get("table"))
		if c.Object == syntax.ObjRules {
			c.Target.Name = d.word(n.get("chain"))
		}
	default:
		d.target(c, n, c.Object != syntax.ObjTable)
	}
}

func flushes(o syntax.Object) bool {
	switch o {
	case syntax.ObjTable, syntax.ObjChain, syntax.ObjSet, syntax.ObjMap, syntax.ObjMeter, syntax.ObjRuleset:
		return true
	}
	return false
}

func resets(o syntax.Object) bool {
	switch o {
	case syntax.ObjCounter, syntax.ObjCounters, syntax.ObjQuota, syntax.ObjQuotas, syntax.ObjRule, syntax.ObjRules,
		syntax.ObjElement, syntax.ObjSet, syntax.ObjMap:
		return true
	}
	return false
}

// literalInt is a literal of a whole number.
func literalInt(at syntax.At, v int) *syntax.Literal {
	return &syntax.Literal{At: at, Kind: syntax.LitNumber, Text: strconv.Itoa(v), Value: uint64(int64(v))}
}
