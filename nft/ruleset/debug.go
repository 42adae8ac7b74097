package ruleset

import (
	"strconv"

	"verdict/catalog"
	"verdict/nft/expr"
)

// AppendDebug appends what `nft --debug=netlink` prints for a batch on its way
// to the kernel. Base is the ruleset that the batch is for; elements of sets
// that neither it nor the batch declares print as plain words of four bytes.
func AppendDebug(b []byte, base *Ruleset, batch []Change) []byte {
	d := debugger{base: base, defs: map[debugKey]*SetDef{}, ids: map[uint32]*SetDef{}}
	for i := range batch {
		b = d.change(b, &batch[i])
	}
	return b
}

// debugger knows the sets that the batch declared so far.
type debugger struct {
	base *Ruleset
	defs map[debugKey]*SetDef
	ids  map[uint32]*SetDef
}

type debugKey struct {
	family      catalog.Family
	table, name string
}

func (d *debugger) change(b []byte, c *Change) []byte {
	declares := c.Op == OpAdd || c.Op == OpCreate
	switch {
	case c.Kind == KindChain && (declares || c.Op == OpRename):
		return appendChainHeader(b, c)
	case c.Kind == KindRule && c.RuleDef != nil:
		return appendRuleDebug(b, c)
	case c.Kind == KindSet && declares && c.SetDef != nil:
		d.defs[debugKey{c.Family, c.Table, c.Name}] = c.SetDef
		if c.SetID != 0 {
			d.ids[c.SetID] = c.SetDef
		}
		return appendSetHeader(b, c, c.SetDef)
	case c.Kind == KindSet && c.Op == OpFlush:
		return append(appendSetName(b, c, 0), '\n')
	case c.Kind == KindElements && c.Op != OpReset:
		return d.elements(b, c)
	case c.Kind == KindObject && declares && c.ObjectDef != nil:
		return appendObjectDebug(b, c.ObjectDef)
	case c.Kind == KindFlowtable && declares && c.Flowtable != nil:
		b = append(b, "flow table (null) (null) use 0 size 0 flags "...)
		return append(strconv.AppendUint(b, uint64(c.Flowtable.flags()), 10), '\n')
	}
	return b
}

// Flags of flowtables. Ref: include/uapi/linux/netfilter/nf_tables.h.
const (
	flowtableOffload = 1
	flowtableCounter = 2
)

func (f *Flowtable) flags() (flags uint32) {
	if f.Offload {
		flags |= flowtableOffload
	}
	if f.Counter {
		flags |= flowtableCounter
	}
	return flags
}

func appendPlace(b []byte, c *Change) []byte {
	b = append(b, c.Family.String()...)
	b = append(b, ' ')
	return append(b, c.Table...)
}

// missingName is what the C library prints for a name that is not there yet.
const missingName = "(null)"

func appendChainHeader(b []byte, c *Change) []byte {
	name := c.Name
	if c.ChainDef != nil && c.ChainDef.Binding {
		name = missingName
	}
	if c.Op == OpRename {
		name = c.NewName
	}
	b = append(appendPlace(b, c), ' ')
	b = append(b, name...)
	return append(b, " use 0\n"...)
}

func appendRuleDebug(b []byte, c *Change) []byte {
	b = appendPlace(b, c)
	if !isPlaceholder(c.Name) {
		b = append(b, ' ')
		b = append(b, c.Name...)
	}
	if c.RuleDef.Position != 0 {
		b = append(b, ' ')
		b = strconv.AppendUint(b, c.RuleDef.Position, 10)
	}
	b = append(b, '\n')
	for _, e := range c.RuleDef.Exprs {
		b = append(b, "  [ "...)
		b = appendExprDebug(b, e)
		b = append(b, " ]\n"...)
	}
	if c.RuleDef.Comment != "" {
		b = append(appendUserData(b, commentData(c.RuleDef.Comment)), '\n')
	}
	return b
}

// chainPlaceholder begins the placeholders of anonymous chains.
const chainPlaceholder = "__chain%d"

func isPlaceholder(name string) bool {
	return len(name) >= len(chainPlaceholder) && name[:len(chainPlaceholder)] == chainPlaceholder
}

// appendExprDebug appends an expression. A jump to an anonymous chain has no
// name to print yet.
func appendExprDebug(b []byte, e expr.Expr) []byte {
	if x, ok := any(e).(*expr.Immediate); ok && x.Data.Verdict != nil && isPlaceholder(x.Data.Verdict.Chain) {
		b = append(b, "immediate reg 0 "...)
		return append(b, x.Data.Verdict.Kind.String()...)
	}
	return e.AppendText(b)
}

// userData is the length and the sum of the bytes of a user data attribute.
type userData struct{ length, sum int }

// add adds a type-length-value triple.
func (u *userData) add(typ byte, value string, terminated bool) {
	n := len(value)
	if terminated {
		n++
	}
	u.length += 2 + n
	u.sum += int(typ) + n
	for i := range len(value) {
		u.sum += int(value[i])
	}
}

// Types of user data. Ref: libnftnl/udata.h.
const (
	udataComment   = 0 // of rules and elements
	udataElemFlags = 1
)

func commentData(comment string) (u userData) {
	u.add(udataComment, comment, true)
	return u
}

func appendUserData(b []byte, u userData) []byte {
	b = append(b, "  userdata len "...)
	b = strconv.AppendInt(b, int64(u.length), 10)
	b = append(b, " sum 0x"...)
	return strconv.AppendInt(b, int64(u.sum), 16)
}

// appendSetName appends what begins the header of a set.
func appendSetName(b []byte, c *Change, flags uint32) []byte {
	b = append(b, "family "...)
	b = strconv.AppendUint(b, uint64(c.Family), 10)
	b = append(b, ' ')
	b = append(b, c.Name...)
	b = append(b, ' ')
	b = append(b, c.Table...)
	b = append(b, ' ')
	return strconv.AppendUint(b, uint64(flags), 16)
}

func appendSetHeader(b []byte, c *Change, def *SetDef) []byte {
	b = appendSetName(b, c, def.Flags)
	if def.Timeout != 0 {
		b = append(b, " timeout "...)
		b = append(strconv.AppendUint(b, def.Timeout, 10), "ms"...)
	}
	if def.GC != 0 {
		b = append(b, " gc_interval "...)
		b = append(strconv.AppendUint(b, uint64(def.GC), 10), "ms"...)
	}
	if def.Memory {
		b = append(b, " policy 1"...)
	}
	if def.Size != 0 && def.Flags&SetConstant == 0 {
		b = append(b, " size "...)
		b = strconv.AppendUint(b, uint64(def.Size), 10)
	}
	return append(b, '\n')
}
