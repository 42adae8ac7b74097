package pipapo

import (
	"fmt"
	"sync/atomic"

	"verdict/set/elem"
)

// Plain is the kernel's algorithm as it is: the definition of what the package
// does, and the model that Set is tested against. Lookups cost time
// proportional to the number of elements, a transaction copies all tables.
//
// It implements elem.Backend. Elements that a transaction deletes stay in its
// tables, inactive, until it is committed.
type Plain struct {
	live atomic.Pointer[match]
	desc elem.Desc
	next *match
	// pristine tells that the prepared tables do not differ from the live ones.
	pristine bool
	// broken tells that a failure left the prepared tables half-changed.
	broken  bool
	deleted []*elem.Entry
	gen     generation
	count   int // elements that are active in the transaction
	limit   int
	exact   bool // no slack in the mapping tables
	lastGC  int64
}

// NewPlain returns an empty set for the description, which must be a
// concatenation with ranges of at most 16 bytes a field.
func NewPlain(d *elem.Desc) (*Plain, error) {
	if err := checkDesc(d); err != nil {
		return nil, err
	}
	p := &Plain{desc: *d, limit: maxRules}
	p.live.Store(newMatch(d, p.limit))
	return p, nil
}

// checkDesc refuses what the kernel's size estimate refuses.
//
// Ref: nft_set_pipapo.c, nft_pipapo_estimate
func checkDesc(d *elem.Desc) error {
	if err := d.Check(); err != nil {
		return err
	}
	if d.Flags&elem.Interval == 0 || len(d.Fields) < 2 || d.Flags&elem.Eval != 0 {
		return fmt.Errorf("%w: pipapo needs ranges and two fields or more", elem.ErrUnsupported)
	}
	for i, n := range d.Fields {
		if n > 16 {
			return fmt.Errorf("%w: field %d has %d bytes, 16 are possible", elem.ErrUnsupported, i, n)
		}
	}
	return nil
}

// AllocateExactly makes the mapping tables of an empty set grow and shrink with
// every rule, as before patch set C gave them slack. It is for measurements.
func (p *Plain) AllocateExactly() {
	p.exact = true
	p.live.Store(p.empty())
}

// empty returns tables without elements.
func (p *Plain) empty() *match {
	m := newMatch(&p.desc, p.limit)
	m.slack.exact = p.exact
	return m
}

// Lookup implements elem.Backend.
func (p *Plain) Lookup(key []byte, now int64) *elem.Entry {
	if len(key) != p.desc.KeyLen {
		return nil
	}
	return p.live.Load().get(key, generation{}, now)
}

// begin copies the live tables at the first change of a transaction.
func (p *Plain) begin() error {
	if p.broken {
		return fmt.Errorf("%w: an earlier change of the transaction failed", elem.ErrNoMemory)
	}
	if p.next == nil {
		p.next, p.pristine = p.live.Load().clone(), true
		p.next.limit = p.limit
		p.gen = generation{map[*elem.Entry]struct{}{}}
		p.count = p.live.Load().n
	}
	return nil
}

// Insert implements elem.Backend. Of the points that the element covers only
// two are looked up: the corner where all fields are at their start, and the
// one where all are at their end.
//
//   - An element with the same range at the start corner: ErrExist.
//   - Another element at the start corner, or one at the end corner:
//     ErrNotEmpty.
//   - A field that has reached the highest number of rules: ErrNoSpace.
//   - A field whose start is above its end: ErrInvalid.
//
// An element that crosses or contains another without covering its corners is
// accepted; where both match, the one inserted first wins.
//
// Ref: nft_set_pipapo.c, nft_pipapo_insert
func (p *Plain) Insert(e *elem.Entry, now int64) (*elem.Entry, error) {
	if len(e.Key()) != p.desc.KeyLen || len(e.Last()) != p.desc.KeyLen || e.Flags != 0 {
		return nil, fmt.Errorf("%w: keys have %d bytes", elem.ErrInvalid, p.desc.KeyLen)
	}
	if err := p.begin(); err != nil {
		return nil, err
	}
	if old := p.next.get([]byte(e.Key()), p.gen, now); old != nil {
		return old, cornerError(old, e)
	}
	if old := p.next.get([]byte(e.Last()), p.gen, now); old != nil {
		return old, fmt.Errorf("%w: it ends inside", elem.ErrNotEmpty)
	}
	if err := p.next.check(e); err != nil {
		return nil, err
	}
	if err := p.next.insert(e); err != nil {
		if p.pristine {
			p.Abort()
		} else {
			p.broken = true
		}
		return nil, err
	}
	p.pristine = false
	p.count++
	return nil, nil
}

// InsertAll implements elem.Backend.
func (p *Plain) InsertAll(es []*elem.Entry, now int64) (int, *elem.Entry, error) {
	return elem.InsertEach(p, es, now)
}

// cornerError is the error for e when old was found at its start corner.
func cornerError(old, e *elem.Entry) error {
	if old.Key() == e.Key() && old.Last() == e.Last() {
		return elem.ErrExist
	}
	return fmt.Errorf("%w: it starts inside", elem.ErrNotEmpty)
}

// Find implements elem.Backend: the element at e's start, whatever its end.
func (p *Plain) Find(e *elem.Entry, now int64) *elem.Entry {
	if len(e.Key()) != p.desc.KeyLen || p.broken {
		return nil
	}
	if p.next == nil {
		return p.Lookup([]byte(e.Key()), now)
	}
	return p.next.get([]byte(e.Key()), p.gen, now)
}

// Delete implements elem.Backend. The element is looked up by the start of e;
// its end is not compared.
//
// Ref: nft_set_pipapo.c, nft_pipapo_deactivate
func (p *Plain) Delete(e *elem.Entry, now int64) (*elem.Entry, error) {
	if p.begin() != nil {
		return nil, elem.ErrNoEntry
	}
	old := p.Find(e, now)
	if old == nil {
		return nil, elem.ErrNoEntry
	}
	p.deactivate(old)
	return old, nil
}

func (p *Plain) deactivate(e *elem.Entry) {
	p.gen.inactive[e] = struct{}{}
	p.deleted = append(p.deleted, e)
	p.pristine = false
	p.count--
}

// Get implements elem.Backend.
func (p *Plain) Get(e *elem.Entry, now int64) *elem.Entry {
	return p.Lookup([]byte(e.Key()), now)
}

// Retime implements elem.Backend.
func (p *Plain) Retime(e *elem.Entry, timeout, expires int64) { e.SetTimeout(timeout, expires) }

// Flush implements elem.Backend.
//
// Ref: nft_set_pipapo.c, nft_pipapo_flush
func (p *Plain) Flush() {
	if p.begin() != nil {
		return
	}
	p.next.walk(p.gen, func(e *elem.Entry) bool {
		p.deactivate(e)
		return true
	})
}

// Commit implements elem.Backend.
//
// Ref: nft_set_pipapo.c, nft_pipapo_commit
func (p *Plain) Commit(now int64) []*elem.Entry {
	if p.next == nil {
		return nil
	}
	m := p.next
	if p.count == 0 && len(p.deleted) > 0 {
		m = p.empty()
	} else {
		for _, e := range p.deleted {
			m.remove(e)
		}
	}
	var gone []*elem.Entry
	if now-p.lastGC >= p.desc.GC() {
		p.lastGC = now
		gone = m.collect(now)
	}
	m.n = p.count - len(gone)
	p.live.Store(m)
	p.reset()
	return gone
}

// collect removes the expired elements.
//
// Ref: nft_set_pipapo.c, pipapo_gc_scan
func (m *match) collect(now int64) []*elem.Entry {
	var gone []*elem.Entry
	var runs [elem.MaxFields]mapping
	for first := 0; first < m.fields[0].rules; {
		m.runsAt(first, &runs)
		e := m.last().ents.items[runs[len(m.fields)-1].to]
		if !e.Expired(now) {
			first += int(runs[0].n)
			continue
		}
		m.drop(&runs)
		gone = append(gone, e)
	}
	return gone
}

// Abort implements elem.Backend.
func (p *Plain) Abort() { p.reset() }

func (p *Plain) reset() {
	p.next, p.deleted, p.gen = nil, nil, generation{}
	p.pristine, p.broken = false, false
}

// Stats implements elem.Backend.
func (p *Plain) Stats() elem.Stats {
	m := p.live.Load()
	s := elem.Stats{Structure: "pipapo", Elements: m.n}
	for i := range m.fields {
		f := &m.fields[i]
		fs := elem.FieldStats{
			Rules: f.rules, GroupBits: f.bits, Bytes: f.tableBytes(),
			Allocated: f.maps.allocated, Moved: f.moved + f.maps.moved,
		}
		if f.last {
			fs.Allocated, fs.Moved = f.ents.allocated, f.moved+f.ents.moved
		}
		s.Bytes += fs.Bytes + fs.Allocated*mappingBytes
		s.Fields = append(s.Fields, fs)
	}
	return s
}

// plainView is one state of a Plain set.
type plainView struct {
	m   *match
	gen generation
	n   int
}

// Live implements elem.Backend.
func (p *Plain) Live() elem.View {
	m := p.live.Load()
	return plainView{m: m, n: m.n}
}

// Next implements elem.Backend.
func (p *Plain) Next() elem.View {
	if p.next == nil {
		return p.Live()
	}
	return plainView{p.next, p.gen, p.count}
}

func (v plainView) Lookup(key []byte, now int64) *elem.Entry {
	if len(key) != v.m.keyLen {
		return nil
	}
	return v.m.get(key, v.gen, now)
}

func (v plainView) LookupBatch(keys []byte, stride int, now int64, found []*elem.Entry) {
	if stride < v.m.keyLen || len(found) > 0 && len(keys) < (len(found)-1)*stride+v.m.keyLen {
		clear(found)
		return
	}
	for i := range found {
		found[i] = v.m.get(keys[i*stride:i*stride+v.m.keyLen], v.gen, now)
	}
}

func (v plainView) Walk(visit func(*elem.Entry) bool) { v.m.walk(v.gen, visit) }

func (v plainView) Len() int { return v.n }

var _ elem.Backend = (*Plain)(nil)
