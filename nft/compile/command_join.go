package compile

import (
	"verdict/nft/syntax"
)

// joinElements joins commands that follow each other and add elements to the
// same set into one, as nft does: their elements are checked, merged and sent
// together.
func (c *compiler) joinElements(items []syntax.Item) []syntax.Item {
	var out []syntax.Item // nil until something is joined
	var into *syntax.Command
	owned := false
	for i, it := range items {
		cmd, ok := it.(*syntax.Command)
		switch {
		case !ok || !addsElements(cmd):
			into = nil
		case into != nil && sameSet(into, cmd):
			if out == nil {
				out = append(out, items[:i]...)
			}
			if !owned {
				joined := *into
				lit := *into.Elements
				lit.Elements = append([]syntax.Expr(nil), lit.Elements...)
				joined.Elements = &lit
				into, owned = &joined, true
				out[len(out)-1] = into
			}
			into.Elements.Elements = append(into.Elements.Elements, cmd.Elements.Elements...)
			continue
		default:
			into, owned = cmd, false
		}
		if out != nil {
			out = append(out, it)
		}
	}
	if out == nil {
		return items
	}
	return out
}

func addsElements(cmd *syntax.Command) bool {
	return cmd.Object == syntax.ObjElement && cmd.Elements != nil &&
		(cmd.Verb == syntax.VerbAdd || cmd.Verb == syntax.VerbCreate)
}

func sameSet(a, b *syntax.Command) bool {
	return a.Verb == b.Verb && a.Target.Table.Text == b.Target.Table.Text && a.Target.Name.Text == b.Target.Name.Text &&
		a.Target.Family.Text == b.Target.Family.Text
}
