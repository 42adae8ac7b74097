package pipapo

import (
	"fmt"

	"verdict/set/elem"
)

// check reports what insert cannot take: a key of the wrong length, a field
// that is full, a field whose start is above its end.
//
// Ref: nft_set_pipapo.c, nft_pipapo_insert
func (m *match) check(e *elem.Entry) error {
	low, high := e.Key(), e.Last()
	for i := range m.fields {
		f := &m.fields[i]
		if f.rules >= m.limit {
			return fmt.Errorf("%w: field %d has %d", elem.ErrNoSpace, i, f.rules)
		}
		if low[f.offset:f.offset+f.size] > high[f.offset:f.offset+f.size] {
			return fmt.Errorf("%w: in field %d the start is above the end", elem.ErrInvalid, i)
		}
	}
	return nil
}

// insert adds the rules of an element that check has accepted. After an error
// the tables are left half-changed.
func (m *match) insert(e *elem.Entry) error {
	var runs [elem.MaxFields]mapping
	low, high := []byte(e.Key()), []byte(e.Last())
	for i := range m.fields {
		f := &m.fields[i]
		first := f.rules
		err := expand(low[f.offset:f.offset+f.size], high[f.offset:f.offset+f.size], func(p prefix) error {
			return f.add(p, m.limit, m.slack)
		})
		if err != nil {
			return err
		}
		runs[i] = mapping{uint32(first), uint32(f.rules - first)}
		m.maxWords = max(m.maxWords, f.words)
	}
	for i := range m.fields {
		f := &m.fields[i]
		for r := runs[i].to; r < runs[i].to+runs[i].n; r++ {
			if f.last {
				f.ents.items[r] = e
			} else {
				f.maps.items[r] = runs[i+1]
			}
		}
	}
	return nil
}

// remove drops the rules of an element: it goes through the runs of rules of
// the first field and compares what they and the runs that they map to mean
// with the element's key.
//
// Ref: nft_set_pipapo.c, nft_pipapo_remove
func (m *match) remove(e *elem.Entry) bool {
	var runs [elem.MaxFields]mapping
	for first := 0; first < m.fields[0].rules; first += int(runs[0].n) {
		if m.runsAt(first, &runs); m.means(e, &runs) {
			m.drop(&runs)
			return true
		}
	}
	return false
}

// runsAt finds the runs of the element whose first-field rules begin at first.
func (m *match) runsAt(first int, runs *[elem.MaxFields]mapping) {
	f := &m.fields[0]
	same := 1
	for first+same < f.rules && f.maps.items[first+same] == f.maps.items[first] {
		same++
	}
	runs[0] = mapping{uint32(first), uint32(same)}
	for i := range m.fields[:len(m.fields)-1] {
		runs[i+1] = m.fields[i].maps.items[runs[i].to]
	}
}

// means tells whether the runs belong to e.
func (m *match) means(e *elem.Entry, runs *[elem.MaxFields]mapping) bool {
	key, last := e.Key(), e.Last()
	for i := range m.fields {
		f := &m.fields[i]
		a, n := int(runs[i].to), int(runs[i].n)
		if f.last && f.ents.items[a] != e {
			return false
		}
		low, high := f.bounds(a, a+n-1)
		if string(low[:f.size]) != key[f.offset:f.offset+f.size] || string(high[:f.size]) != last[f.offset:f.offset+f.size] {
			return false
		}
	}
	return true
}

// drop cuts an element's runs out of all fields.
//
// Ref: nft_set_pipapo.c, pipapo_drop
func (m *match) drop(runs *[elem.MaxFields]mapping) {
	m.maxWords = 0
	for i := range m.fields {
		f := &m.fields[i]
		first, n := int(runs[i].to), int(runs[i].n)
		f.cut(first, n, m.limit, m.slack)
		if !f.last {
			for r := first; r < f.rules; r++ {
				f.maps.items[r].to -= runs[i+1].n
			}
		}
		m.maxWords = max(m.maxWords, f.words)
	}
}

// walk visits each element once: at the last of its rules.
//
// Ref: nft_set_pipapo.c, nft_pipapo_walk
func (m *match) walk(g generation, visit func(*elem.Entry) bool) {
	ents := m.last().ents.items
	for r, e := range ents {
		if r+1 < len(ents) && ents[r+1] == e {
			continue
		}
		if g.active(e) && !visit(e) {
			return
		}
	}
}
