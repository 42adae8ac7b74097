package hash

import (
	"verdict/set/elem"
)

// Op is what a packet does to a set, with the kernel's values.
type Op uint32

// Operations of packets.
const (
	Add Op = iota
	Update
	Remove
)

// Update is the packet path's add and update. It finds the element with key,
// or adds what make returns for it, and returns the element and whether it is
// new. It returns nil if the set is full, or if make returns nil.
//
// A new element of a set with timeouts gets timeout, or the set's default if
// that is 0. Add never refreshes an existing element; Update does so if the
// element has a timeout. Existing elements cost no allocation and no lock.
// The set counts as full when it holds as many elements as its description
// names, expired ones included until they are collected.
//
// Ref: nft_dynset.c, nft_dynset_eval; nft_set_hash.c, nft_rhash_update
func (s *Set) Update(op Op, key []byte, now, timeout int64, make func(key []byte) *elem.Entry) (e *elem.Entry, fresh bool) {
	if len(key) != s.klen {
		return nil, false
	}
	if timeout == 0 {
		timeout = s.value
	}
	if e := s.live.Load().Lookup(key, now); e != nil {
		s.refresh(op, e, now, timeout)
		return e, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.live.Load()
	if e := t.Lookup(key, now); e != nil { // added meanwhile
		s.refresh(op, e, now, timeout)
		return e, false
	}
	// The kernel's collector runs beside the packets; here it runs when its
	// time has come and somebody needs the room.
	if s.limit > 0 && t.Len() >= s.limit {
		if s.collect(now); t.Len() >= s.limit {
			return nil, false
		}
	}
	e = make(key)
	if e == nil || len(e.Key()) != s.klen {
		return nil, false
	}
	if s.timed && timeout != 0 {
		e.SetTimeout(timeout, now+timeout)
	}
	s.add(e, key)
	return e, true
}

// refresh applies Update to an existing element.
func (s *Set) refresh(op Op, e *elem.Entry, now, timeout int64) {
	if op == Update && e.Timeout() != 0 && timeout != 0 {
		e.Refresh(now + timeout)
	}
}

// add puts a new element into the live table and into a prepared one.
func (s *Set) add(e *elem.Entry, key []byte) {
	w := word(key, s.seed)
	s.live.Store(s.addTo(s.live.Load(), e, key, w))
	if s.next != nil {
		s.next = s.addTo(s.next, e, key, w)
	}
}

func (s *Set) addTo(t *Table, e *elem.Entry, key []byte, w uint64) *Table {
	s.owner++ // pages that readers may hold must be copied
	if old := t.find(key); old != nil {
		t.replace(old, e, s.owner)
		return t
	}
	for t.full(place(w, s.seed)) {
		t = t.grown(s.owner)
	}
	t.put(e, w, s.owner)
	return t
}

// Collect removes the expired elements from the live state, if the set's
// interval since the last time is over, and returns them.
//
// Ref: nft_set_hash.c, nft_rhash_gc
func (s *Set) Collect(now int64) []*elem.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.collect(now)
}

func (s *Set) collect(now int64) []*elem.Entry {
	if !s.timed || now-s.lastGC < s.gc {
		return nil
	}
	s.lastGC = now
	s.owner++
	gone := s.sweep(s.live.Load(), now)
	if s.next != nil {
		s.sweep(s.next, now)
	}
	return gone
}

// Remove is the packet path's delete. It tells whether there was such an
// element.
//
// Ref: nft_set_hash.c, nft_rhash_delete
func (s *Set) Remove(key []byte, now int64) bool {
	if s.Lookup(key, now) == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.live.Load().Lookup(key, now)
	if e == nil {
		return false
	}
	s.owner++
	s.live.Load().remove(e, s.owner)
	if s.next != nil {
		s.next.remove(e, s.owner)
	}
	return true
}

// SetLimit changes the number of elements that packets may fill the set to.
func (s *Set) SetLimit(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = n
}
