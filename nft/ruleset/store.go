package ruleset

// Elements is the store of a set's elements: the backend that package set
// selects for the definition, plus the catch-all element.
type Elements struct{}
