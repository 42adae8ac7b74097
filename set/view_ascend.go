package set

// Ascend visits the elements of a set of kind Rbtree in ascending order,
// expired ones too, from the last one whose key is not above key, until visit
// returns false. Finding the first takes logarithmic time. It returns false,
// visiting nothing, for sets of other kinds.
func (v *View) Ascend(key []byte, visit func(*Entry) bool) bool {
	if v.interval == nil {
		return false
	}
	v.interval.Ascend(key, visit)
	return true
}
