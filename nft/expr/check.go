package expr

import (
	"fmt"
	"syscall"
)

// Error is a refusal of the kernel: an errno and what was wrong.
type Error struct {
	Errno  syscall.Errno
	Reason string
}

func (e *Error) Error() string { return e.Reason + ": " + e.Errno.Error() }

// Unwrap gives the errno, so that errors.Is(err, syscall.EINVAL) works.
func (e *Error) Unwrap() error { return e.Errno }

func refuse(errno syscall.Errno, format string, args ...any) error {
	return &Error{Errno: errno, Reason: fmt.Sprintf(format, args...)}
}

// Limits of a rule. Ref: nf_tables_api.c, nf_tables_newrule.
const (
	MaxRuleExprs    = 128
	MaxElementExprs = 2
)

// Checker carries what the checks of a rule need: the registers written so
// far and the place the rule stands in. Make one per rule.
type Checker struct {
	Place   Place
	written [FileSize / 4]bool
}

// Place is the context of a rule: its family and what a set reference means.
type Place struct {
	Family uint8
	// SetByName describes a set visible to the rule; nil if it does not exist.
	SetByName func(name string, id uint32) *SetInfo
	// ChainExists reports whether a chain may be the target of a jump, and
	// whether it is a base chain.
	ChainExists func(name string) (exists, base bool)
	// ObjectExists reports whether a stateful object exists.
	ObjectExists func(t ObjectType, name string) bool
	// FlowtableExists reports whether a flowtable exists.
	FlowtableExists func(name string) bool
}

// SetInfo is what expressions need to know of a set.
type SetInfo struct {
	Flags           uint32
	KeyLen, DataLen uint32
	VerdictData     bool
	Exprs           []Expr
	// NoUpdate says that the set's backend takes no elements from packets.
	NoUpdate bool
}

// Flags of sets that expressions look at.
// Ref: include/uapi/linux/netfilter/nf_tables.h, enum nft_set_flags.
const (
	setAnonymous uint32 = 0x1
	setConstant  uint32 = 0x2
	setInterval  uint32 = 0x4
	setMap       uint32 = 0x8
	setTimeout   uint32 = 0x10
	setEval      uint32 = 0x20
	setObject    uint32 = 0x40
)

// CheckRule makes the checks of a whole rule, expression by expression. at is
// the index of the refused expression, or -1 when the rule as a whole is
// refused; err is nil if all is well. The error is a *Error.
func CheckRule(rule []Expr, place Place) (at int, err error) {
	if len(rule) > MaxRuleExprs {
		return -1, refuse(syscall.EINVAL, "rule has %d expressions, more than %d", len(rule), MaxRuleExprs)
	}
	c := Checker{Place: place}
	for i, e := range rule {
		if err := e.Check(&c); err != nil {
			return i, err
		}
	}
	return -1, CheckSize(rule)
}

// set finds a set that an expression refers to, nil if there is none.
func (p *Place) set(name string, id uint32) *SetInfo {
	if p.SetByName == nil {
		return nil
	}
	return p.SetByName(name, id)
}

// addressLen is the length of an address of the rule's family: only ip knows
// that it is short.
func (p *Place) addressLen() uint32 {
	if p.Family == familyIP {
		return 4
	}
	return 16
}

// parse maps a netlink register number to its byte offset.
// Ref: nf_tables_api.c, nft_parse_register.
func parseReg(r Reg) (int, error) {
	off := r.Offset()
	if off < 0 {
		return 0, refuse(syscall.ERANGE, "no register %d", r)
	}
	return off, nil
}

// load checks a read of length bytes from a register.
// Ref: nf_tables_api.c, nft_parse_register_load.
func (c *Checker) load(r Reg, length uint32) error {
	off, err := parseReg(r)
	switch {
	case err != nil:
		return err
	case r == RegVerdict:
		return refuse(syscall.EINVAL, "read of the verdict register")
	case length == 0:
		return refuse(syscall.EINVAL, "read of no bytes from register %d", r)
	case uint64(off)+uint64(length) > FileSize:
		return refuse(syscall.ERANGE, "read of %d bytes from register %d goes past the last register", length, r)
	}
	for w := off / 4; w*4 < off+int(length); w++ {
		if !c.written[w] {
			return refuse(syscall.ENODATA, "read of %d bytes from register %d, which the rule has not written", length, r)
		}
	}
	return nil
}

// store checks a write of length bytes to a data register and notes it.
// Ref: nf_tables_api.c, nft_parse_register_store.
func (c *Checker) store(r Reg, length uint32) error {
	off, err := parseReg(r)
	switch {
	case err != nil:
		return err
	case r == RegVerdict:
		return refuse(syscall.EINVAL, "write of a value to the verdict register")
	case length == 0:
		return refuse(syscall.EINVAL, "write of no bytes to register %d", r)
	case uint64(off)+uint64(length) > FileSize:
		return refuse(syscall.ERANGE, "write of %d bytes to register %d goes past the last register", length, r)
	}
	for w := off / 4; w*4 < off+int(length); w++ {
		c.written[w] = true
	}
	return nil
}

// storeVerdict checks a write of a verdict.
func (c *Checker) storeVerdict(r Reg) error {
	if _, err := parseReg(r); err != nil {
		return err
	}
	if r != RegVerdict {
		return refuse(syscall.EINVAL, "write of a verdict to data register %d", r)
	}
	return nil
}

// maxValue is the longest constant of cmp, bitwise, range and immediate.
const maxValue = 16

// value checks a constant; want is the length it must have, 0 for any.
// Ref: nf_tables_api.c, nft_value_init.
func value(what string, v Value, want int) error {
	switch n := len(v.Bytes); {
	case n == 0:
		return refuse(syscall.EINVAL, "%s is empty", what)
	case n > maxValue:
		return refuse(syscall.EOVERFLOW, "%s has %d bytes, more than %d", what, n, maxValue)
	case want != 0 && n != want:
		return refuse(syscall.EINVAL, "%s has %d bytes instead of %d", what, n, want)
	}
	return nil
}

// overlap reports whether two ranges of registers overlap without being the
// same.
func overlap(a, b Reg, length uint32) bool {
	x, y := a.Offset(), b.Offset()
	if x == y || x < 0 || y < 0 {
		return false
	}
	n := (int(length) + 3) &^ 3
	return x < y+n && y < x+n
}

// The families, by the kernel's number.
const (
	familyInet   uint8 = 1
	familyIP     uint8 = 2
	familyARP    uint8 = 3
	familyNetdev uint8 = 5
	familyBridge uint8 = 7
	familyIP6    uint8 = 10
)

// tracked refuses families that have no connection tracking.
// Ref: nf_conntrack_proto.c, nf_ct_netns_get.
func (c *Checker) tracked(what string) error {
	switch c.Place.Family {
	case familyARP, familyNetdev:
		return refuse(syscall.EPROTO, "%s in a family without connection tracking", what)
	}
	return nil
}

// only refuses an expression type that the kernel has not registered for the
// rule's family.
// Ref: nf_tables_api.c, nft_expr_type_get.
func (c *Checker) only(kind string, families ...uint8) error {
	for _, f := range families {
		if c.Place.Family == f {
			return nil
		}
	}
	return refuse(syscall.ENOENT, "%s does not exist in this family", kind)
}
