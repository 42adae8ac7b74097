package hash

import (
	"sync/atomic"

	"verdict/set/elem"
)

const (
	pageSlots = 128
	// pageFull is the load at which the whole table grows although the
	// average is low; a free slot ends every probe.
	pageFull = pageSlots - 8
	// meanFull is the average load of a page at which the table grows.
	meanFull = 80
	minPages = 2
)

type slot struct {
	word uint64
	e    *elem.Entry
}

// page is an open-addressed table with linear probing. Only the transaction
// that made it may change it.
type page struct {
	owner uint64
	used  int
	slots [pageSlots]slot
}

// Table is one state of a set. The directory has a power of two of pages.
// Packet-path updates replace pages of the live table in place, hence the
// atomic pointers; everything else copies the directory first.
type Table struct {
	dir   []atomic.Pointer[page]
	shift uint8
	exact bool // slots hold whole keys
	timed bool // elements may expire
	klen  int
	seed  uint64
	n     atomic.Int64
	// soonest is a time before which no element expires.
	soonest atomic.Int64
}

const never = 1<<63 - 1

func newTable(klen int, timed bool, seed uint64, want int) *Table {
	pages, shift := minPages, uint8(63)
	for pages*meanFull < want && shift > 32 {
		pages, shift = pages*2, shift-1
	}
	t := &Table{
		dir: make([]atomic.Pointer[page], pages), shift: shift,
		exact: klen <= 8, timed: timed, klen: klen, seed: seed,
	}
	t.soonest.Store(never)
	return t
}

// clone copies the directory, so that pages can be replaced.
func (t *Table) clone() *Table {
	c := &Table{
		dir: make([]atomic.Pointer[page], len(t.dir)), shift: t.shift,
		exact: t.exact, timed: t.timed, klen: t.klen, seed: t.seed,
	}
	copy(c.dir, t.dir) // nobody else writes to either
	c.n.Store(t.n.Load())
	c.soonest.Store(t.soonest.Load())
	return c
}

// find returns the element with key, expired or not.
func (t *Table) find(key []byte) *elem.Entry {
	w := word(key, t.seed)
	h := place(w, t.seed)
	p := t.dir[h>>t.shift].Load()
	if p == nil {
		return nil
	}
	for i := h % pageSlots; ; i = (i + 1) % pageSlots {
		s := &p.slots[i]
		if s.e == nil {
			return nil
		}
		if s.word == w && (t.exact || s.e.Key() == string(key)) {
			return s.e
		}
	}
}

// Lookup implements elem.View.
func (t *Table) Lookup(key []byte, now int64) *elem.Entry {
	if len(key) != t.klen {
		return nil
	}
	e := t.find(key)
	if t.timed && e != nil && e.Expired(now) {
		return nil
	}
	return e
}

// Walk implements elem.View. The order is that of the table: it depends on
// the seed and the size.
func (t *Table) Walk(visit func(*elem.Entry) bool) {
	for i := range t.dir {
		p := t.dir[i].Load()
		if p == nil {
			continue
		}
		for j := range p.slots {
			if e := p.slots[j].e; e != nil && !visit(e) {
				return
			}
		}
	}
}

// Len implements elem.View.
func (t *Table) Len() int { return int(t.n.Load()) }

func (t *Table) bytes() int {
	n := len(t.dir) * 8
	for i := range t.dir {
		if t.dir[i].Load() != nil {
			n += pageSlots*16 + 16
		}
	}
	return n
}

// own returns page number i for changing by the transaction owner.
func (t *Table) own(i uint64, owner uint64) *page {
	p := t.dir[i].Load()
	switch {
	case p == nil:
		p = &page{owner: owner}
	case p.owner == owner:
		return p
	default:
		c := *p
		c.owner = owner
		p = &c
	}
	t.dir[i].Store(p)
	return p
}

// full tells whether adding the word would overfill its page or the table.
func (t *Table) full(h uint64) bool {
	p := t.dir[h>>t.shift].Load()
	return (p != nil && p.used >= pageFull) || t.Len() >= len(t.dir)*meanFull
}

// put adds an entry whose key is not there. The table must have room.
func (t *Table) put(e *elem.Entry, w uint64, owner uint64) {
	h := place(w, t.seed)
	t.own(h>>t.shift, owner).put(e, w, h)
	t.n.Add(1)
	t.note(e)
}

func (p *page) put(e *elem.Entry, w, h uint64) {
	i := h % pageSlots
	for p.slots[i].e != nil {
		i = (i + 1) % pageSlots
	}
	p.slots[i] = slot{w, e}
	p.used++
}

// note keeps soonest right when e is added or changed.
func (t *Table) note(e *elem.Entry) {
	if e.Timeout() != 0 && e.Expires() < t.soonest.Load() {
		t.soonest.Store(e.Expires())
	}
}

// remove takes the entry out of its page and closes the gap.
func (t *Table) remove(e *elem.Entry, owner uint64) bool {
	h := place(wordOf(e, t.seed), t.seed)
	if p := t.dir[h>>t.shift].Load(); p == nil || p.index(e, h) < 0 {
		return false
	}
	p := t.own(h>>t.shift, owner)
	p.removeAt(uint64(p.index(e, h)), t.seed)
	t.n.Add(-1)
	return true
}

func (p *page) index(e *elem.Entry, h uint64) int {
	for i := h % pageSlots; p.slots[i].e != nil; i = (i + 1) % pageSlots {
		if p.slots[i].e == e {
			return int(i)
		}
	}
	return -1
}

// removeAt empties slot i and moves back what probed past it.
func (p *page) removeAt(i, seed uint64) {
	p.used--
	for j := i; ; {
		j = (j + 1) % pageSlots
		if p.slots[j].e == nil {
			break
		}
		home := place(p.slots[j].word, seed) % pageSlots
		if (j-home)%pageSlots >= (j-i)%pageSlots {
			p.slots[i] = p.slots[j]
			i = j
		}
	}
	p.slots[i] = slot{}
}

// replace puts e in the place of old, which has the same key.
func (t *Table) replace(old, e *elem.Entry, owner uint64) {
	h := place(wordOf(old, t.seed), t.seed)
	p := t.own(h>>t.shift, owner)
	if i := p.index(old, h); i >= 0 {
		p.slots[i].e = e
		t.note(e)
	}
}

// grown returns a table of at least twice the size with the same elements.
func (t *Table) grown(owner uint64) *Table {
	for want := 2 * len(t.dir) * meanFull; ; want *= 2 {
		g := newTable(t.klen, t.timed, t.seed, want)
		if t.pourInto(g, owner) {
			return g
		}
	}
}

func (t *Table) pourInto(g *Table, owner uint64) bool {
	for i := range t.dir {
		p := t.dir[i].Load()
		if p == nil {
			continue
		}
		for j := range p.slots {
			s := &p.slots[j]
			if s.e == nil {
				continue
			}
			h := place(s.word, g.seed)
			if g.full(h) {
				return false
			}
			g.own(h>>g.shift, owner).put(s.e, s.word, h)
			g.n.Add(1)
		}
	}
	g.soonest.Store(t.soonest.Load())
	return true
}
