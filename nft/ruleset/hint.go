package ruleset

import (
	"fmt"
	"syscall"

	"verdict/diag"
)

// The errors for missing things name the nearest one there is, in any table,
// as nft does.

func (tx *transaction) noTable(c *Change) *refusal {
	name := c.Table
	if name == "" {
		return refuse(syscall.ENOENT, "no table with handle %d", c.Handle)
	}
	r := refuse(syscall.ENOENT, "no table %q in family %v", name, c.Family)
	var names []string
	for _, t := range tx.tables {
		if t == nil {
			continue
		}
		if t.Name == name {
			r.hint = fmt.Sprintf("did you mean table '%s' in family %v?", t.Name, t.Family)
			return r
		}
		names = append(names, t.Name)
	}
	if near := diag.Nearest(name, names); near != "" {
		for _, t := range tx.tables {
			if t != nil && t.Name == near {
				r.hint = fmt.Sprintf("did you mean table '%s' in family %v?", t.Name, t.Family)
				return r
			}
		}
	}
	return r
}

func (tx *transaction) noChain(t *Table, c *Change) *refusal {
	r := refuse(syscall.ENOENT, "no chain %q in table %q", c.Name, t.Name)
	names := named(t.edit.chains.items, func(ch *Chain) string { return ch.Name })
	r.suggest("chain", c.Name, names, t)
	return r
}

func (tx *transaction) noSet(t *Table, c *Change) *refusal {
	r := refuse(syscall.ENOENT, "no set %q in table %q", c.Name, t.Name)
	names := named(t.edit.sets.items, func(s *Set) string {
		if s.Flags&SetAnonymous != 0 {
			return ""
		}
		return s.Name
	})
	r.suggest("set", c.Name, names, t)
	return r
}

func (tx *transaction) noObject(t *Table, c *Change) *refusal {
	if c.Handle != 0 {
		return refuse(syscall.ENOENT, "no object with handle %d", c.Handle)
	}
	r := refuse(syscall.ENOENT, "no object %q in table %q", c.Name, t.Name)
	names := named(t.edit.objects.items, func(o *Object) string {
		if o.Type != c.ObjType {
			return ""
		}
		return o.Name
	})
	r.suggest("obj", c.Name, names, t)
	return r
}

func (tx *transaction) noFlowtable(t *Table, c *Change) *refusal {
	if c.Handle != 0 {
		return refuse(syscall.ENOENT, "no flowtable with handle %d", c.Handle)
	}
	r := refuse(syscall.ENOENT, "no flowtable %q in table %q", c.Name, t.Name)
	r.suggest("flowtable", c.Name, named(t.edit.flowtables.items, func(f *Flowtable) string { return f.Name }), t)
	return r
}

func named[T any](items []*T, name func(*T) string) []string {
	var names []string
	for _, it := range items {
		if it == nil {
			continue
		}
		if n := name(it); n != "" {
			names = append(names, n)
		}
	}
	return names
}

func (r *refusal) suggest(kind, name string, names []string, t *Table) {
	if near := diag.Nearest(name, names); near != "" {
		r.hint = fmt.Sprintf("did you mean %s '%s' in table %v '%s'?", kind, near, t.Family, t.Name)
	}
}
