package ruleset

import (
	"fmt"
	"strings"

	"verdict/catalog"
)

// dump prints all that a ruleset holds, for comparison.
func dump(rs *Ruleset) string {
	var b strings.Builder
	for _, t := range rs.Tables {
		fmt.Fprintf(&b, "table %v %s #%d", t.Family, t.Name, t.Handle)
		if t.Flags != 0 {
			fmt.Fprintf(&b, " flags %#x", t.Flags)
		}
		if t.Owner != "" {
			fmt.Fprintf(&b, " owner %s", t.Owner)
		}
		b.WriteByte('\n')
		for _, c := range t.Chains {
			dumpChain(&b, t, c)
		}
		for _, s := range t.Sets {
			dumpSet(&b, s)
		}
		for _, o := range t.Objects {
			fmt.Fprintf(&b, "  object %d %s #%d use %d\n", o.Type, o.Name, o.Handle, o.Use())
		}
		for _, f := range t.Flowtables {
			fmt.Fprintf(&b, "  flowtable %s #%d use %d devices %v\n", f.Name, f.Handle, f.Use(), f.Devices)
		}
	}
	return b.String()
}

func dumpChain(b *strings.Builder, t *Table, c *Chain) {
	fmt.Fprintf(b, "  chain %s #%d use %d", c.Name, c.Handle, c.Use())
	if h := c.Base; h != nil {
		fmt.Fprintf(b, " %s %s %d policy %v", h.Type, catalog.HookName(t.Family, h.Hook), h.Priority, h.Policy)
		for _, d := range h.Devices {
			fmt.Fprintf(b, " device %s", d)
		}
	}
	b.WriteByte('\n')
	for _, r := range c.Rules {
		fmt.Fprintf(b, "    rule #%d", r.Handle)
		if r.Revision != 0 {
			fmt.Fprintf(b, ".%d", r.Revision)
		}
		for _, e := range r.Exprs {
			fmt.Fprintf(b, " [ %s ]", e.AppendText(nil))
		}
		if r.Comment != "" {
			fmt.Fprintf(b, " comment %s", r.Comment)
		}
		b.WriteByte('\n')
	}
}

func dumpSet(b *strings.Builder, s *Set) {
	fmt.Fprintf(b, "  set %s #%d flags %#x use %d %v", s.Name, s.Handle, s.Flags, s.Use(), s.Elements.Kind())
	if s.Size != 0 {
		fmt.Fprintf(b, " size %d", s.Size)
	}
	if s.Timeout != 0 {
		fmt.Fprintf(b, " timeout %d", s.Timeout)
	}
	b.WriteByte('\n')
	var f elementForm
	for el := range s.Elements.All() {
		fmt.Fprintf(b, "    %s", f.append(nil, el))
		if el.HasTimeout {
			fmt.Fprintf(b, " timeout %d", el.Timeout)
		}
		for _, e := range el.Exprs {
			fmt.Fprintf(b, " [ %s ]", e.AppendText(nil))
		}
		b.WriteByte('\n')
	}
}
