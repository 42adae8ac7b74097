package decompile

import (
	"iter"

	"verdict/nft/ruleset"
)

// elementsOf visits the elements that a listing shows: the live ones with
// their remaining time where a clock is given, else all.
func (o *Options) elementsOf(s *ruleset.Set) iter.Seq[*ruleset.Element] {
	if o.Clock != 0 {
		return s.Elements.Alive(o.Clock)
	}
	return s.Elements.All()
}
