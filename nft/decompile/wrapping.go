package decompile

import (
	"verdict/catalog"
	"verdict/nft/ruleset"
)

// elementsPerLine is how many elements a listing puts on one line: by the type of the
// key, but one where elements carry more than a key.
func (w *elementWriter) elementsPerLine(list []*ruleset.Element) int {
	s := w.set
	if s.Flags&(ruleset.SetMap|ruleset.SetObject|ruleset.SetTimeout) != 0 || s.Timeout != 0 ||
		len(s.Exprs) > 0 || len(w.keys) != 1 {
		return 1
	}
	for _, e := range list {
		if e.Comment != "" {
			return 1
		}
	}
	t := catalog.TypeByID(w.keys[0].typ.ID)
	if t == nil {
		return 1
	}
	return max(t.PerLine, 1)
}
