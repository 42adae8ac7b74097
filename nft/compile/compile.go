package compile

import (
	"time"

	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// Options are the facts about the host and the command line that a ruleset's
// text may refer to. The zero Options know no names.
type Options struct {
	// Interface finds an interface's index; ok is false if it does not exist.
	Interface func(name string) (index uint32, ok bool)
	// User and Group find numeric ids.
	User, Group func(name string) (id uint32, ok bool)
	// Names finds values of files that the host may have: marks, realms,
	// device groups and connection labels.
	Names func(t *catalog.Type, name string) (value uint64, ok bool)
	// Cgroup finds the id of a cgroup path.
	Cgroup func(path string) (id uint64, ok bool)
	// Now is the present, which decides the offset of the time zone for hours.
	Now time.Time
	// Clock is the time of the base ruleset in nanoseconds: elements whose
	// timeout has passed by then do not count. With 0 all count.
	Clock int64
	// Location is the time zone of dates and hours; nil means UTC.
	Location *time.Location
	// Defines are symbols set outside of the text, as by -D name=value.
	Defines map[string]string
}

// Compile turns the commands of a file into a batch of changes. It compiles
// against the base snapshot, which may be nil, and what the same file declared
// before. All errors are reported; where there is any, the changes are not
// fit for use. Commands that only read are skipped.
//
// Cost: linear in the size of the text, apart from sorting the elements of
// interval sets. The base is not changed. Calls are independent of each other
// and safe for concurrent use.
func Compile(base *ruleset.Ruleset, file *syntax.File, opts Options) ([]ruleset.Change, *diag.List) {
	c := newCompiler(base, opts)
	c.items(file.Items)
	return c.changes, &c.diags
}

// compiler is the state of one call of Compile.
type compiler struct {
	opts    Options
	base    *ruleset.Ruleset
	diags   diag.List
	changes []ruleset.Change
	scope   *scope
	bound   map[*syntax.Variable]*binding
	tables  map[tableKey]*tableInfo
	written int // values in the text of all symbols

	eager     int // size of interval sets that are read as a whole
	lastSetID uint32
	lastChain int
	// spare holds the buffers of a rule for the next one; nil while in use.
	spare *ruleBuffers
}

func newCompiler(base *ruleset.Ruleset, opts Options) *compiler {
	c := &compiler{
		opts: opts, base: base, eager: eagerIntervals,
		scope:  &scope{block: true},
		bound:  map[*syntax.Variable]*binding{},
		tables: map[tableKey]*tableInfo{},
	}
	for name, value := range opts.Defines {
		c.scope = c.scope.set(name, &binding{value: &syntax.Literal{Kind: syntax.LitWord, Text: value}})
	}
	return c
}

// items compiles the items of a file in order.
func (c *compiler) items(items []syntax.Item) {
	items = c.joinElements(items)
	for _, it := range items {
		if c.scopeItem(it, c.items) {
			continue
		}
		if command, ok := it.(*syntax.Command); ok {
			c.command(command)
		}
	}
}

// enter opens the scope of a block and returns the function that closes it.
func (c *compiler) enter() func() {
	outer := c.scope
	c.scope = &scope{parent: outer.freeze(), block: true}
	return func() { c.scope = outer }
}

// within runs f with another scope in force.
func (c *compiler) within(s *scope, f func()) {
	outer := c.scope
	c.scope = s
	f()
	c.scope = outer
}
