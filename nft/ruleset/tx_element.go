package ruleset

import (
	"bytes"
	"errors"
	"syscall"

	"verdict/catalog"
	"verdict/internal/huge"
	"verdict/nft/expr"
	"verdict/set"
	"verdict/set/elem"
)

// timeUpdate is a new lifetime that an element gets at the commit.
type timeUpdate struct {
	set              *setEdit
	entry            *set.Entry
	timeout, expires int64
}

func (tx *transaction) changeElements(c *Change) error {
	t, err := tx.table(c)
	if err != nil {
		return destroyed(c, err)
	}
	i, err := tx.setOf(t, c)
	if err != nil {
		return destroyed(c, err)
	}
	s := t.edit.sets.items[i]
	if s.use > 0 && s.Flags&(SetConstant|SetAnonymous) != 0 && c.Op != OpReset {
		return refuse(syscall.EBUSY, "the elements of set %q cannot change", s.Name).at(nameWord)
	}
	switch c.Op {
	case OpAdd, OpCreate:
		if s, err = tx.elements(t, i); err == nil {
			err = tx.addElements(t, s, c)
		}
		return err
	case OpDelete, OpDestroy:
		if s, err = tx.elements(t, i); err == nil {
			err = tx.deleteElements(t, s, c)
		}
		return err
	case OpFlush:
		return tx.flushSet(t, i)
	case OpReset:
		return tx.resetElements(t, i, c.Elements)
	}
	return refuse(syscall.EOPNOTSUPP, "elements cannot be changed this way")
}

// inserter is set.Set's InsertAll or Restore.
type inserter func(entries []*set.Entry, now int64) (int, *set.Entry, error)

// adder adds the elements of one change.
type adder struct {
	tx      *transaction
	table   *Table
	set     *Set
	create  bool // an element that exists is an error
	insert  inserter
	batch   *elem.Batch
	payload []Payload // room for more, taken from the front
	place   expr.Place
	// verdict and target are the last verdict of an element and its number.
	verdict expr.Verdict
	target  uint32
	chain   *Chain // of that verdict, if it jumps
}

// addElements adds elements. All that come before one that is not well formed
// are inserted at once, so that the set can use its bulk path.
func (tx *transaction) addElements(t *Table, s *Set, c *Change) error {
	return tx.fill(t, s, c, s.edit.store.InsertAll)
}

// fill is addElements with another way to insert.
func (tx *transaction) fill(t *Table, s *Set, c *Change, insert inserter) error {
	a := adder{tx: tx, table: t, set: s, create: c.Op == OpCreate, insert: insert, batch: elem.NewBatch(int(s.KeyLen)), place: t.edit.place}
	entries := huge.Slice[*set.Entry](len(c.Elements))[:0]
	var bad error
	for i := range c.Elements {
		e, err := a.prepare(&c.Elements[i], len(c.Elements)-i)
		if err != nil {
			bad = refused(err).on(c.Elements[i].Place)
			break
		}
		entries = append(entries, e)
	}
	if err := a.add(entries, c.Elements); err != nil {
		return err
	}
	return bad
}

// add inserts entries, made from the elements with the same indices.
func (a *adder) add(entries []*set.Entry, elements []Element) error {
	for at := 0; at < len(entries); at++ {
		n, old, err := a.insert(entries[at:], a.tx.opts.Now)
		a.tx.changed = a.tx.changed || n > 0
		a.tx.noteElements(OpAdd, a.table, a.set, entries[at:at+n])
		if err == nil {
			return nil
		}
		at += n
		if errors.Is(err, elem.ErrFull) {
			at = max(0, at-a.overflow())
		}
		if r := a.present(&elements[at], entries[at], old, err); r != nil {
			for _, e := range entries[at:] {
				a.tx.unreferElement(a.table, a.set, e)
			}
			return refused(r).on(elements[at].Place)
		}
		a.tx.unreferElement(a.table, a.set, entries[at])
	}
	return nil
}

// overflow is the number of elements by which the set is larger than it may
// be. The limit of ranges counts both ends, and one more for an end at zero.
func (a *adder) overflow() int {
	s := a.set
	limit := int(s.Size)
	if s.Elements.Kind() == set.Rbtree {
		limit *= 2
		if s.edit.store.Find(elem.NewIntervalEnd(make([]byte, s.KeyLen)), a.tx.opts.Now) != nil {
			limit++
		}
	}
	return s.edit.store.Prepared().Len() - limit
}

// prepare checks one element and makes its entry; more tells how many are
// still to come.
//
// Ref: nf_tables_api.c, nft_add_set_elem
func (a *adder) prepare(el *Element, more int) (*set.Entry, error) {
	s := a.set
	if r := s.checkElement(el); r != nil {
		return nil, r
	}
	timeout, expires, r := s.times(el, a.tx.opts.Now)
	if r != nil {
		return nil, r
	}
	if err := a.checkExprs(el); err != nil {
		return nil, err
	}
	if r := s.checkKey(el); r != nil {
		return nil, r
	}
	target, err := a.refer(el)
	if err != nil {
		return nil, err
	}
	e := a.entry(el)
	if timeout != 0 {
		e.SetTimeout(timeout, expires)
	}
	e.Index = target
	if p := a.payloadOf(el, more); p != nil {
		e.Ext = p
	}
	return e, nil
}

// present decides about an element that could not be inserted.
func (a *adder) present(el *Element, e, old *set.Entry, err error) error {
	switch {
	case errors.Is(err, elem.ErrCanceled):
		return nil
	case errors.Is(err, elem.ErrNotEmpty):
		return refuse(syscall.EEXIST, "the element overlaps another one of set %q", a.set.Name)
	case !errors.Is(err, elem.ErrExist):
		return err
	case a.create:
		return refuse(syscall.EEXIST, "the element is in set %q already", a.set.Name)
	case old != nil && !sameData(old, e):
		return refuse(syscall.EEXIST, "the element is in map %q already with other data", a.set.Name)
	}
	if old != nil && a.set.Flags&SetTimeout != 0 && (el.HasTimeout || el.Expires != 0) {
		if el.Expires != 0 || old.Timeout() != e.Timeout() {
			a.tx.pending = append(a.tx.pending, timeUpdate{a.set.edit, old, e.Timeout(), e.Expires()})
			a.tx.changed = true
		}
	}
	return nil
}

// sameData compares what two elements map to.
func sameData(x, y *set.Entry) bool {
	if x.Index != y.Index {
		return false
	}
	var dx, dy []byte
	if p := PayloadOf(x); p != nil && p.Data != nil {
		dx = p.Data.Value.Bytes
	}
	if p := PayloadOf(y); p != nil && p.Data != nil {
		dy = p.Data.Value.Bytes
	}
	return bytes.Equal(dx, dy)
}

// entry makes the entry of an element.
func (a *adder) entry(el *Element) *set.Entry {
	if el.Flags&ElemCatchAll != 0 {
		return elem.NewCatchAll()
	}
	e := a.batch.New(el.Key, el.KeyEnd)
	e.Flags = elem.EntryFlags(el.Flags)
	return e
}

// entry makes an entry by which an element is looked for.
func (el *Element) entry() *set.Entry {
	if el.Flags&ElemCatchAll != 0 {
		return elem.NewCatchAll()
	}
	e := newEntry(el.Key, el.KeyEnd)
	e.Flags = elem.EntryFlags(el.Flags)
	return e
}

func newEntry(key, keyEnd []byte) *set.Entry { return elem.New(key, keyEnd) }

// payloadOf makes the payload of an element, nil if it carries nothing.
func (a *adder) payloadOf(el *Element, more int) *Payload {
	exprs := el.Exprs
	if len(exprs) == 0 && el.Flags&ElemIntervalEnd == 0 {
		exprs = expr.CloneState(a.set.Exprs)
	}
	data := el.Data
	if data != nil && data.Verdict != nil {
		data = nil
	}
	if data == nil && len(exprs) == 0 && el.Comment == "" {
		if el.OpenInterval {
			return openInterval
		}
		return nil
	}
	const chunk = 512
	if len(a.payload) == 0 {
		a.payload = make([]Payload, min(chunk, more))
	}
	p := &a.payload[0]
	a.payload = a.payload[1:]
	*p = Payload{Data: data, Exprs: exprs, Comment: el.Comment, OpenInterval: el.OpenInterval}
	return p
}

// refer takes the references of an element and gives the number of what it
// leads to, 0 for nothing.
func (a *adder) refer(el *Element) (uint32, error) {
	s := a.set
	switch {
	case el.Object != "":
		if err := a.tx.referObject(a.table, objectKey{s.ObjType, el.Object}, 1); err != nil {
			return 0, err
		}
		return s.edit.names.of(Target{Object: el.Object}), nil
	case el.Data == nil:
		return 0, nil
	case s.DataType == TypeVerdict:
		if el.Data.Verdict == nil {
			return 0, refuse(syscall.EINVAL, "map %q holds verdicts", s.Name)
		}
		return a.referVerdict(*el.Data.Verdict)
	case el.Data.Verdict != nil || len(el.Data.Value.Bytes) != int(s.DataLen):
		return 0, refuse(syscall.EINVAL, "map %q holds data of %d bytes", s.Name, s.DataLen)
	}
	return 0, nil
}

func (a *adder) referVerdict(v expr.Verdict) (uint32, error) {
	if a.target != 0 && v == a.verdict {
		if a.chain != nil {
			a.chain.use++
		}
		return a.target, nil
	}
	final := v
	a.chain = nil
	switch {
	case jumps(&v):
		i := a.tx.findChain(a.table, v.Chain)
		if r := a.tx.target(a.table, i, &v); r != nil {
			return 0, r
		}
		if a.table.edit.chains.items[i].Binding {
			return 0, refuse(syscall.EINVAL, "an element cannot jump to an anonymous chain")
		}
		a.chain = a.table.ownChain(i)
		a.chain.use++
		final.Chain = a.chain.Name
		needsValidation(a.table)
	case !plainVerdict(v.Kind):
		return 0, refuse(syscall.EINVAL, "%v is no verdict of an element", v.Kind)
	}
	a.verdict, a.target = v, a.set.edit.names.of(Target{Verdict: final})
	return a.target, nil
}

func plainVerdict(k catalog.VerdictKind) bool {
	switch k {
	case catalog.VerdictAccept, catalog.VerdictDrop, catalog.VerdictContinue, catalog.VerdictBreak, catalog.VerdictReturn:
		return true
	}
	return false
}

// unreferElement gives back what an element refers to.
func (tx *transaction) unreferElement(t *Table, s *Set, e *set.Entry) {
	if e.Index == 0 {
		return
	}
	to := s.edit.names.list[e.Index-1]
	if to.Object != "" {
		_ = tx.referObject(t, objectKey{s.ObjType, to.Object}, -1)
		return
	}
	if jumps(&to.Verdict) {
		if i := t.edit.chains.find(to.Verdict.Chain); i >= 0 {
			t.ownChain(i).use--
		}
	}
}

// deleteElements deletes elements.
//
// Ref: nf_tables_api.c, nft_del_setelem
func (tx *transaction) deleteElements(t *Table, s *Set, c *Change) error {
	var gone []*set.Entry
	defer func() { tx.noteElements(OpDelete, t, s, gone) }()
	for i := range c.Elements {
		el := &c.Elements[i]
		if r := s.checkKey(el); r != nil {
			return r.on(el.Place)
		}
		old, err := s.edit.store.Delete(el.entry(), tx.opts.Now)
		if err != nil {
			if c.Op == OpDestroy && elem.Errno(err) == int(elem.ErrNoEntry.Errno) {
				continue
			}
			return refused(err).on(el.Place)
		}
		gone = append(gone, old)
		tx.unreferElement(t, s, old)
		tx.changed = true
	}
	return nil
}
