package hash

import (
	"sync/atomic"
	"unsafe"

	"verdict/set/elem"
)

const (
	pageSlots = 128
	// pageFull is the highest load of a page; a free slot ends every probe.
	pageFull = pageSlots - 8
	// meanFull is the average load of a page at which the table grows.
	meanFull = 80
	// chainBelow is the average load up to which a full page does not make
	// the table grow: keys are then chosen to collide, and growth is no help.
	chainBelow = meanFull / 4
	minPages   = 2
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
	more  *page // what did not fit, where keys collide more than chance allows
	slots [pageSlots]slot
}

// Table is one state of a set. The directory has a power of two of pages.
// Packet-path updates replace pages of the live table in place, hence the
// atomic pointers; everything else copies the directory first.
type Table struct {
	dir   []atomic.Pointer[page]
	shift uint8
	exact bool        // slots hold whole keys
	timed bool        // elements may expire
	chain atomic.Bool // some page has more behind it
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
	c.chain.Store(t.chain.Load())
	c.soonest.Store(t.soonest.Load())
	return c
}

// find returns the element with key, expired or not.
func (t *Table) find(key []byte) *elem.Entry {
	w := word(key, t.seed)
	h := place(w, t.seed)
	return t.probe(t.dir[h>>t.shift].Load(), w, h, key)
}

// probe searches a page, and those behind it, for a key.
func (t *Table) probe(p *page, w, h uint64, key []byte) *elem.Entry {
	for ; p != nil; p = p.more {
		for i := h % pageSlots; ; i = (i + 1) % pageSlots {
			s := &p.slots[i]
			if s.e == nil {
				break
			}
			if s.word == w && (t.exact || s.e.Key() == string(key)) {
				return s.e
			}
		}
		if !t.chain.Load() {
			break
		}
	}
	return nil
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
		for p := t.dir[i].Load(); p != nil; p = p.more {
			for j := range p.slots {
				if e := p.slots[j].e; e != nil && !visit(e) {
					return
				}
			}
		}
	}
}

// Len implements elem.View.
func (t *Table) Len() int { return int(t.n.Load()) }

func (t *Table) bytes() int {
	n := len(t.dir) * 8
	for i := range t.dir {
		for p := t.dir[i].Load(); p != nil; p = p.more {
			n += int(unsafe.Sizeof(page{}))
		}
	}
	return n
}

// owned returns a page for changing: itself, a copy, or a new one.
func (p *page) owned(owner uint64) *page {
	switch {
	case p == nil:
		return &page{owner: owner}
	case p.owner == owner:
		return p
	}
	c := *p
	c.owner = owner
	return &c
}

// full tells whether the table should grow before a word is added.
func (t *Table) full(h uint64) bool {
	n := t.Len()
	if n >= len(t.dir)*meanFull {
		return true
	}
	p := t.dir[h>>t.shift].Load()
	return p != nil && p.used >= pageFull && n >= len(t.dir)*chainBelow
}

// put adds an entry whose key is not there. As all changes, it changes pages
// that only the writer sees, and puts them into the directory when they are
// complete.
func (t *Table) put(e *elem.Entry, w uint64, owner uint64) {
	h := place(w, t.seed)
	at := &t.dir[h>>t.shift]
	old := at.Load()
	root := old.owned(owner)
	p := root
	for p.used >= pageFull {
		p.more = p.more.owned(owner)
		p = p.more
		t.chain.Store(true)
	}
	p.put(e, w, h)
	if root != old {
		at.Store(root)
	}
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
	removed := t.change(e, owner, func(p *page, i int) { p.removeAt(uint64(i), t.seed) })
	if removed {
		t.n.Add(-1)
	}
	return removed
}

// change changes the page that has the entry in slot i; false if there is none.
func (t *Table) change(e *elem.Entry, owner uint64, do func(p *page, i int)) bool {
	h := place(wordOf(e, t.seed), t.seed)
	dir := &t.dir[h>>t.shift]
	old := dir.Load()
	depth, at := 0, -1
	for p := old; p != nil; p = p.more {
		if at = p.index(e, h); at >= 0 {
			break
		}
		depth++
	}
	if at < 0 {
		return false
	}
	root := old.owned(owner)
	p := root
	for range depth {
		p.more = p.more.owned(owner)
		p = p.more
	}
	do(p, at)
	if root != old {
		dir.Store(root)
	}
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
	if t.change(old, owner, func(p *page, i int) { p.slots[i].e = e }) {
		t.note(e)
	}
}

// grown returns a table of twice the size or more with the same elements.
func (t *Table) grown(owner uint64) *Table {
	for want := 2 * len(t.dir) * meanFull; ; want *= 2 {
		g := newTable(t.klen, t.timed, t.seed, want)
		if t.pourInto(g, owner) {
			g.soonest.Store(t.soonest.Load())
			return g
		}
	}
}

// pourInto adds all elements to g; false if g should be larger.
func (t *Table) pourInto(g *Table, owner uint64) bool {
	fits := true
	t.Walk(func(e *elem.Entry) bool {
		w := wordOf(e, t.seed)
		if fits = !g.full(place(w, g.seed)); fits {
			g.put(e, w, owner)
		}
		return fits
	})
	return fits
}
