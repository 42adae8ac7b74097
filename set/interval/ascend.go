package interval

import "verdict/set/elem"

// Ascend visits the elements in ascending order, expired ones too, from the
// last one whose key is not above key, until visit returns false. The end of
// a range comes before the start of another with the same key. Finding the
// first takes logarithmic time.
func (t *Table) Ascend(key []byte, visit func(*elem.Entry) bool) {
	if len(key) != t.klen {
		return
	}
	p, _ := t.last(numberOf(key), key)
	for ; t.holds(p); p = t.after(p) {
		if !visit(t.at(p)) {
			return
		}
	}
}
