package nftjson

import (
	"strconv"
	"strings"

	"verdict/nft/syntax"
)

// Meta is what the first object of a document says about its writer.
type Meta struct {
	Version string // "1.1.6"
	Release string // the release's name
}

// Reference is the release whose output this package follows.
var Reference = Meta{Version: "1.1.6", Release: "Commodore Bullmoose #7"}

// Append writes a whole document, as `nft -j list ruleset` prints it: one
// line with its newline. The file's items are tables, as *syntax.Table or as
// commands in block form; others are left out.
func Append(b []byte, f *syntax.File, m Meta) []byte {
	d := NewDocument(b, m)
	for _, item := range f.Items {
		switch item := item.(type) {
		case *syntax.Table:
			d.Table(item)
		case *syntax.Command:
			if item.Table != nil {
				d.Table(item.Table)
			}
		}
	}
	return d.Bytes()
}

// Document is a document in the making, for listings of less than the whole
// ruleset. It is not safe for concurrent use.
type Document struct{ w writer }

// NewDocument starts a document behind the bytes of b. With the zero Meta it
// says nothing about its writer, as documents of events do.
func NewDocument(b []byte, m Meta) *Document {
	d := &Document{w: writer{b: append(b, `{"nftables": [`...)}}
	if m == (Meta{}) {
		return d
	}
	d.w.wrap("metainfo")
	d.w.key("version")
	d.w.string(m.Version)
	d.w.key("release_name")
	d.w.string(m.Release)
	d.w.key("json_schema_version")
	d.w.number(schemaVersion)
	d.w.unwrap()
	return d
}

const schemaVersion = 1

// Bytes ends the document and returns it.
func (d *Document) Bytes() []byte { return append(d.w.b, "]}\n"...) }

// Table writes a table with all that is in it: chains, objects, sets,
// flowtables and then the rules of all chains.
func (d *Document) Table(t *syntax.Table) {
	d.TableOnly(t)
	o := owner{t.Family.Text, t.Name.Text}
	for _, item := range t.Items {
		if c, ok := item.(*syntax.Chain); ok {
			d.w.chain(o, c)
		}
	}
	for _, item := range t.Items {
		switch item := item.(type) {
		case *syntax.StatefulObj:
			d.w.object(o, item)
		case *syntax.Set:
			d.w.set(o, item)
		case *syntax.Flowtable:
			d.w.flowtable(o, item)
		}
	}
	for _, item := range t.Items {
		if c, ok := item.(*syntax.Chain); ok {
			d.w.rules(o, c)
		}
	}
}

// TableOnly writes a table without what is in it, as `nft -j list tables`
// does.
func (d *Document) TableOnly(t *syntax.Table) { d.w.table(t) }

// Chain writes a chain and then its rules, if the node holds any.
func (d *Document) Chain(family, table string, c *syntax.Chain) {
	o := owner{family, table}
	d.w.chain(o, c)
	d.w.rules(o, c)
}

// Rules writes a chain's rules without the chain.
func (d *Document) Rules(family, table string, c *syntax.Chain) {
	d.w.rules(owner{family, table}, c)
}

// Item writes a set, a stateful object or a flowtable.
func (d *Document) Item(family, table string, item syntax.Item) {
	d.w.item(owner{family, table}, item)
}

// Event writes one object under a verb such as "add" or "delete", as
// `nft monitor json` and echo do. The item is a table, chain, set, object or
// flowtable; rules and elements have functions of their own.
func (d *Document) Event(verb, family, table string, item syntax.Item) {
	o := owner{family, table}
	if x, ok := item.(*syntax.StatefulObj); ok && verb == "delete" {
		d.w.event(verb, func() {
			d.w.objectHead(o, x)
			d.w.unwrap()
		})
		return
	}
	d.w.event(verb, func() { d.w.item(o, item) })
}

// RuleEvent writes a rule under a verb.
func (d *Document) RuleEvent(verb, family, table, chain string, r *syntax.Rule) {
	d.w.event(verb, func() { d.w.rule(owner{family, table}, chain, r) })
}

// ElementEvent writes elements of a set under a verb.
func (d *Document) ElementEvent(verb, family, table, set string, elements *syntax.SetLiteral) {
	d.w.event(verb, func() { d.w.elements(owner{family, table}, set, elements) })
}

// AppendEvent writes an event as a line of its own, as monitors do: the
// object of Document.Event without a document around it.
func AppendEvent(b []byte, verb, family, table string, item syntax.Item) []byte {
	return line(b, func(d *Document) { d.Event(verb, family, table, item) })
}

// AppendRuleEvent writes a rule's event as a line of its own.
func AppendRuleEvent(b []byte, verb, family, table, chain string, r *syntax.Rule) []byte {
	return line(b, func(d *Document) { d.RuleEvent(verb, family, table, chain, r) })
}

// AppendElementEvent writes an event of elements as a line of its own.
func AppendElementEvent(b []byte, verb, family, table, set string, elements *syntax.SetLiteral) []byte {
	return line(b, func(d *Document) { d.ElementEvent(verb, family, table, set, elements) })
}

func line(b []byte, write func(*Document)) []byte {
	var d Document
	write(&d)
	return append(append(b, d.w.b...), '\n')
}

func (w *writer) event(verb string, object func()) {
	w.open('{')
	w.key(verb)
	object()
	w.close('}')
}

// owner names the table that an object belongs to.
type owner struct{ family, table string }

func (w *writer) item(o owner, item syntax.Item) {
	switch item := item.(type) {
	case *syntax.Table:
		w.table(item)
	case *syntax.Chain:
		w.chain(o, item)
	case *syntax.Set:
		w.set(o, item)
	case *syntax.StatefulObj:
		w.object(o, item)
	case *syntax.Flowtable:
		w.flowtable(o, item)
	}
}

// handle writes an object's handle, which listings note behind it; 0 where
// the tree was made without handles.
func (w *writer) handle(item syntax.Item) {
	w.key("handle")
	w.number(handleOf(item))
}

func handleOf(item syntax.Item) uint64 {
	_, digits, ok := strings.Cut(item.Around().Trailing, "handle ")
	if !ok {
		return 0
	}
	digits, _, _ = strings.Cut(digits, " ")
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
