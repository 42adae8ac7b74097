package nftcmd

import (
	"cmp"
	"fmt"
	"slices"

	"verdict/catalog"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// hooked is a base chain at a hook.
type hooked struct {
	table *ruleset.Table
	chain *ruleset.Chain
}

// listHooks answers list hooks: the base chains of each family and hook by
// priority. Nothing else is attached to the hooks of a state file.
func (v *view) listHooks(c *syntax.Command) {
	families := []catalog.Family{
		catalog.FamilyIP, catalog.FamilyIP6, catalog.FamilyARP, catalog.FamilyBridge, catalog.FamilyNetdev,
	}
	if c.Target.Family.Given() {
		families = []catalog.Family{family(c)}
	}
	for _, f := range families {
		v.familyHooks(f, c.Device.Text)
	}
}

// familyHooks prints the hooks of a family that have chains. The chains of
// inet are attached to those of ip and ip6.
func (v *view) familyHooks(f catalog.Family, device string) {
	opened := false
	for _, name := range catalog.HookNames(f) {
		list := v.attached(f, name, device)
		if len(list) == 0 {
			continue
		}
		if !opened {
			fmt.Fprintf(&v.out, "family %v {\n", f)
			opened = true
		}
		fmt.Fprintf(&v.out, "\thook %s {\n", name)
		for _, h := range list {
			fmt.Fprintf(&v.out, "\t\t%s chain %v %s %s [nf_tables]\n", hookPriority(h.chain.Base.Priority), h.table.Family, h.table.Name, h.chain.Name)
		}
		fmt.Fprintf(&v.out, "\t}\n")
	}
	if opened {
		fmt.Fprintf(&v.out, "}\n")
	}
}

func (v *view) attached(f catalog.Family, hook, device string) []hooked {
	var list []hooked
	for _, t := range v.rules.Tables {
		inet := t.Family == catalog.FamilyInet && (f == catalog.FamilyIP || f == catalog.FamilyIP6)
		if t.Family != f && !inet || t.Flags&ruleset.TableDormant != 0 {
			continue
		}
		for _, c := range t.Chains {
			if c.Base == nil || catalog.HookName(t.Family, c.Base.Hook) != hook {
				continue
			}
			if device == "" || slices.Contains(c.Base.Devices, device) {
				list = append(list, hooked{t, c})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b hooked) int { return cmp.Compare(a.chain.Base.Priority, b.chain.Base.Priority) })
	return list
}

// hookPriority writes a priority with its sign in eleven columns.
func hookPriority(p int32) string {
	switch {
	case p < 0:
		return fmt.Sprintf("%011d", p)
	case p == 0:
		return fmt.Sprintf(" %010d", p)
	}
	return fmt.Sprintf("+%010d", p)
}
