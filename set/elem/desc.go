package elem

import "fmt"

// Limits of set descriptions.
const (
	// MaxKeyLen is the longest key, in bytes.
	MaxKeyLen = 64
	// MaxFields is the highest number of concatenated fields.
	MaxFields = 16
	// MaxFieldLen is the longest field of a concatenation, in bytes.
	MaxFieldLen = 255
)

// Flags are the set flags of nf_tables, with the kernel's values.
type Flags uint32

// Set flags.
const (
	Anonymous Flags = 1 << iota
	Constant
	Interval
	Map
	Timeout
	Eval
	Object
	Concat
	Expr
)

// Policy says what a set is to be good at, with the kernel's values.
type Policy uint32

// Policies.
const (
	Performance Policy = iota
	Memory
)

// Desc describes a set as nf_tables does.
type Desc struct {
	Flags Flags
	// KeyLen is the length of a key in bytes, padding included.
	KeyLen int
	// Fields are the true lengths in bytes of the concatenated fields; empty
	// if the key is a single field.
	Fields []uint8
	// Size is the highest number of elements (ranges), 0 for no limit.
	Size uint32
	// Policy for the choice of a kind.
	Policy Policy
	// Timeout is the default lifetime of elements that the packet path adds,
	// in nanoseconds.
	Timeout int64
	// GCInterval is the time between two removals of expired elements, in
	// nanoseconds; 0 means one second.
	GCInterval int64
	// Exprs is the number of expressions that each element carries.
	Exprs int
	// Seed of the hash function; equal seeds give equal walk orders.
	Seed uint64
	// PageSize is the page size that the growth slack of pipapo's mapping
	// tables follows, 0 for 4,096.
	PageSize int
}

// DefaultGCInterval is the time between two removals of expired elements
// where the description names none, in nanoseconds.
const DefaultGCInterval = 1_000_000_000

// GC is the effective interval between two removals of expired elements.
func (d *Desc) GC() int64 {
	if d.GCInterval > 0 {
		return d.GCInterval
	}
	return DefaultGCInterval
}

// Check reports what the kernel rejects in a description before it looks for
// a backend.
//
// Ref: nf_tables_api.c, nf_tables_newset, nf_tables_set_desc_parse
func (d *Desc) Check() error {
	if d.KeyLen < 1 || d.KeyLen > MaxKeyLen {
		return fmt.Errorf("%w: key of %d bytes, 1 to %d are possible", ErrInvalid, d.KeyLen, MaxKeyLen)
	}
	if len(d.Fields) > MaxFields {
		return fmt.Errorf("%w: %d, %d are possible", ErrTooBig, len(d.Fields), MaxFields)
	}
	if d.Policy > Memory {
		return fmt.Errorf("%w: policy %d", ErrUnsupported, d.Policy)
	}
	if err := d.checkFlags(); err != nil {
		return err
	}
	if concat := d.Flags&Concat != 0; concat != (len(d.Fields) > 1) {
		return fmt.Errorf("%w: a concatenation and more than one field imply each other", ErrInvalid)
	}
	if len(d.Fields) == 0 {
		return nil
	}
	sum := 0
	for i, n := range d.Fields {
		if n == 0 {
			return fmt.Errorf("%w: field %d has no length", ErrInvalid, i)
		}
		sum += Padded(int(n))
	}
	if sum != Padded(d.KeyLen) || (len(d.Fields) > 1 && sum != d.KeyLen) {
		return fmt.Errorf("%w: fields take %d bytes, the key %d", ErrInvalid, sum, d.KeyLen)
	}
	return nil
}

func (d *Desc) checkFlags() error {
	const known = Anonymous | Constant | Interval | Map | Timeout | Eval | Object | Concat | Expr
	f := d.Flags
	both := func(x Flags) bool { return f&x == x }
	switch {
	case f&^known != 0:
		return fmt.Errorf("%w: set flags %#x", ErrUnsupported, uint32(f&^known))
	case both(Map | Object), both(Eval | Object), both(Constant | Timeout):
		return fmt.Errorf("%w: set flags %#x exclude each other", ErrUnsupported, uint32(f))
	case both(Anonymous|Timeout) && f&Eval == 0:
		return fmt.Errorf("%w: timeouts in an anonymous set", ErrUnsupported)
	}
	return nil
}

// Padded is the space that a field of n bytes takes in a key.
func Padded(n int) int { return (n + 3) &^ 3 }
