package elem

// View is one state of a set: a snapshot that no later transaction changes
// (only elements of sets with packet-path updates come and go). Any number of
// goroutines may use it.
type View interface {
	// Lookup returns the element that matches key at now, or nil. This is the
	// packet path: no allocation, no lock. A key of another length than the
	// set's matches nothing.
	Lookup(key []byte, now int64) *Entry
	// LookupBatch looks up len(found) keys that lie one after the other in
	// keys, each stride bytes from the one before, and stores what Lookup
	// would return. Bursts hide memory latency.
	LookupBatch(keys []byte, stride int, now int64, found []*Entry)
	// Walk visits the elements in the kernel's order, expired ones too, until
	// visit returns false.
	Walk(visit func(*Entry) bool)
	// Len is the number of elements, expired ones included.
	Len() int
}

// Backend is a set: a live state that readers see, and the changes that a
// transaction prepares. One goroutine may write; readers never wait for it.
//
// A transaction begins with its first change and ends with Commit or Abort.
// Changes see those made before them in the same transaction; readers see all
// of them at once after Commit.
type Backend interface {
	// Lookup in the live state, see View.
	Lookup(key []byte, now int64) *Entry
	// Live is the state that readers see now.
	Live() View
	// Next is the state that Commit will publish.
	Next() View
	// Insert adds e. Elements that are expired at now do not count as
	// existing. With ErrExist it returns the identical element, with
	// ErrNotEmpty one that overlaps.
	Insert(e *Entry, now int64) (*Entry, error)
	// InsertAll adds elements with the same result as inserting them one after
	// the other. It stops at the first that Insert refuses, for whatever reason,
	// and returns how many were added and Insert's results for that one.
	InsertAll(es []*Entry, now int64) (int, *Entry, error)
	// Delete removes the element that the kernel finds for e and returns it,
	// or ErrNoEntry. Expired elements are not found.
	Delete(e *Entry, now int64) (*Entry, error)
	// Find returns what Delete would remove, or nil.
	Find(e *Entry, now int64) *Entry
	// Get returns the element that the kernel reports for a request with e's
	// key and flags, from the live state, or nil.
	Get(e *Entry, now int64) *Entry
	// Retime gives an element of the set a new lifetime and expiration. It cannot
	// be aborted: call it when the transaction can no longer fail, and commit.
	// States before that commit may show the old times or the new ones.
	Retime(e *Entry, timeout, expires int64)
	// Flush removes all elements.
	Flush()
	// Commit publishes the changes, and removes and returns the elements that
	// expired, if the time for that has come.
	Commit(now int64) []*Entry
	// Abort drops the changes.
	Abort()
	// Stats of the live state.
	Stats() Stats
}

// InsertEach is InsertAll for backends without a faster way.
func InsertEach(b Backend, es []*Entry, now int64) (int, *Entry, error) {
	for i, e := range es {
		if old, err := b.Insert(e, now); err != nil {
			return i, old, err
		}
	}
	return len(es), nil, nil
}

// Stats say how a set is stored.
type Stats struct {
	// Structure names what serves the lookups.
	Structure string
	// Elements in the set.
	Elements int
	// Bytes in use beside the elements themselves.
	Bytes int
	// Fields are the tables of a concatenation in the kernel's form.
	Fields []FieldStats
}

// FieldStats describe the tables of one field in the kernel's form of pipapo.
type FieldStats struct {
	// Rules in the tables, and rules for which the mapping table has room.
	Rules, Allocated int
	// GroupBits is the width of the groups, 8 or 4.
	GroupBits int
	// Bytes of the lookup table.
	Bytes int
	// Moved counts the bytes copied by re-allocations so far.
	Moved int
}
