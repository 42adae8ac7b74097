package compile

import (
	"strings"

	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

type tableKey struct {
	family catalog.Family
	name   string
}

// tableInfo is what the compiler knows of a table: the snapshot's objects and
// those that the batch declared.
type tableInfo struct {
	family  catalog.Family
	name    string
	base    *ruleset.Table // nil if the batch made it
	sets    map[string]*setInfo
	chains  map[string]*chainInfo
	objects map[objectKey]bool
	flows   map[string]bool
	gone    map[string]bool // sets deleted in the batch
	// declared are the sets of the batch in order.
	declared []string
}

type objectKey struct {
	typ  expr.ObjectType
	name string
}

// chainInfo is what rules need to know of the chain they stand in.
type chainInfo struct {
	name string
	base *ruleset.BaseChain
}

// setInfo is what the compiler knows of a set or map.
type setInfo struct {
	name      string
	id        uint32 // within the batch, 0 if the set is in the snapshot
	flags     uint32
	key, data vtype
	object    expr.ObjectType
	autoMerge bool
	// dataInterval: the data are intervals.
	dataInterval bool
	filled       bool // elements exist, so that no initial null segment is due
	old          *ruleset.Set
	def          *ruleset.SetDef // of sets that the batch declares
	exprs        []expr.Expr
	meter        bool
	// taken are the intervals that the batch and the snapshot put into an
	// interval set of a single field.
	taken []interval
	known bool // taken holds all of the snapshot's
	// read are the starts of those of the snapshot that were brought into
	// taken, whether or not they are still there.
	read map[num]bool
}

func (s *setInfo) isMap() bool { return s.flags&(ruleset.SetMap|ruleset.SetObject) != 0 }

// kind is what the language calls the set.
func (s *setInfo) kind() string {
	if s.isMap() {
		return "map"
	}
	return "set"
}

func (s *setInfo) interval() bool { return s.flags&ruleset.SetInterval != 0 }

func (s *setInfo) verdicts() bool { return s.data.typ == catalog.Verdict }

// tableFor finds a table in the snapshot or the batch; nil if it is neither.
func (c *compiler) tableFor(family catalog.Family, name string) *tableInfo {
	key := tableKey{family, name}
	if t, ok := c.tables[key]; ok {
		return t
	}
	base := c.base.Table(family, name)
	if base == nil {
		return nil
	}
	t := newTableInfo(family, name)
	t.base = base
	c.tables[key] = t
	return t
}

func newTableInfo(family catalog.Family, name string) *tableInfo {
	return &tableInfo{
		family: family, name: name,
		sets: map[string]*setInfo{}, chains: map[string]*chainInfo{},
		objects: map[objectKey]bool{}, flows: map[string]bool{}, gone: map[string]bool{},
	}
}

// orNew gives the table's info, making one for tables that do not exist: the
// kernel will refuse the change, not the compiler.
func (c *compiler) orNew(family catalog.Family, name string) *tableInfo {
	t := c.tableFor(family, name)
	if t == nil {
		t = newTableInfo(family, name)
		c.tables[tableKey{family, name}] = t
	}
	return t
}

// chainFor finds a chain of a table, nil if it does not exist.
func (t *tableInfo) chainFor(name string) *chainInfo {
	if ch, ok := t.chains[name]; ok {
		return ch
	}
	if t.base != nil {
		if ch := t.base.Chain(name); ch != nil {
			info := &chainInfo{name: name, base: ch.Base}
			t.chains[name] = info
			return info
		}
	}
	return nil
}

// setFor finds a set of a table, nil if it does not exist.
func (c *compiler) setFor(t *tableInfo, name string) *setInfo {
	if s, ok := t.sets[name]; ok {
		return s
	}
	if t.base == nil || t.gone[name] {
		return nil
	}
	old := t.base.Set(name)
	if old == nil {
		return nil
	}
	s := c.setFromSnapshot(t, old)
	t.sets[name] = s
	return s
}

// setFromSnapshot recovers a set's types from its definition.
func (c *compiler) setFromSnapshot(t *tableInfo, old *ruleset.Set) *setInfo {
	d := &old.SetDef
	s := &setInfo{
		name: old.Name, flags: d.Flags, object: d.ObjType, autoMerge: d.UserData.AutoMerge,
		dataInterval: d.UserData.DataInterval, old: old, exprs: d.Exprs, meter: d.UserData.Meter,
	}
	if old.Elements != nil {
		s.filled = old.Elements.Len() > 0
	}
	s.key = c.storedType(t, d.UserData.KeyTypeof, d.KeyType, d.KeyLen)
	if d.Flags&ruleset.SetMap != 0 {
		length := d.DataLen
		if d.UserData.DataInterval {
			length /= 2
		}
		s.data = c.storedType(t, d.UserData.DataTypeof, d.DataType, length)
	}
	return s
}

// storedType gives a type back from a typeof expression or a type number.
func (c *compiler) storedType(t *tableInfo, typeof string, id, length uint32) vtype {
	if typeof != "" {
		if e, list := syntax.ParseExpr(diag.NewSource("typeof", []byte(typeof))); !list.HasErrors() {
			r := c.newRule(t, nil)
			r.declare = true
			mark := c.diags
			v, ok := r.declaredType(e)
			c.diags = mark
			if ok {
				return v
			}
		}
	}
	parts := catalog.ConcatTypes(id)
	if len(parts) == 1 {
		v := typeOf(parts[0])
		if v.bits == 0 || parts[0].Bits == 0 {
			v.bits = int(length) * 8
		}
		return v
	}
	var types []vtype
	for _, p := range parts {
		types = append(types, typeOf(p))
	}
	return concatType(types)
}

// setNames lists the sets of a table in order of creation, for suggestions.
func (t *tableInfo) setNames() []string {
	var names []string
	if t.base != nil {
		for _, s := range t.base.Sets {
			if !strings.HasPrefix(s.Name, "__") {
				names = append(names, s.Name)
			}
		}
	}
	return append(names, t.declared...)
}

// findSet resolves @NAME in a rule.
func (r *rule) findSet(e *syntax.SetRef) *setInfo {
	s := r.setFor(r.table, e.Name)
	if s == nil {
		d := r.errorf(e.Span, "compile/no-set", "No such file or directory")
		if near := diag.Misspelled(e.Name, r.table.setNames()); near != "" {
			d.Message += "; did you mean set '" + near + "' in table " + r.family.String() + " '" + r.table.name + "'?"
		}
	}
	return s
}

// declaredType is the type that a typeof expression stands for.
func (r *rule) declaredType(e syntax.Expr) (vtype, bool) {
	if c, ok := e.(*syntax.Concat); ok {
		var parts []vtype
		for _, p := range c.Parts {
			t, ok := r.declaredType(p)
			if !ok {
				return vtype{}, false
			}
			parts = append(parts, t)
		}
		return concatType(parts), true
	}
	if _, isBinary := e.(*syntax.Binary); isBinary {
		r.errorf(e.Place(), "compile/typeof", "typeof cannot be computed")
		return vtype{}, false
	}
	o := r.evaluate(e, nil)
	if o == nil {
		return vtype{}, false
	}
	t := o.head().vtype
	switch o := o.(type) {
	case *bitfield:
		t.bits = o.fieldBits
	case *verdict:
		t = typeOf(catalog.Verdict)
	case *lookup:
		t = o.set.data
	}
	if b, ok := o.(*bitfield); ok && b.fieldBits > 8 && b.shift > 0 {
		// The value of a field across bytes is a number in host order.
		if _, fromPacket := b.of.(*payload); fromPacket {
			t.order = catalog.OrderHost
		}
	}
	return t, true
}
