package expr

import "syscall"

// DynsetOp is what a Dynset does. Ref: enum nft_dynset_ops.
type DynsetOp uint8

// The operations.
const (
	DynsetAdd DynsetOp = iota
	DynsetUpdate
	DynsetDelete
)

var dynsetOps = [...]string{"add", "update", "delete"}

func (op DynsetOp) String() string {
	if int(op) < len(dynsetOps) {
		return dynsetOps[op]
	}
	return "unknown"
}

// Dynset adds, updates or deletes an element of a set from a rule.
// Ref: nft_dynset.c.
type Dynset struct {
	Set     string
	SetID   uint32
	Op      DynsetOp
	Key     Reg
	Data    Reg
	HasData bool
	Timeout uint64 // milliseconds, 0: the set's default
	Exprs   []Expr // stateful expressions of the element
	Invert  bool
}

// Kind is dynset.
func (*Dynset) Kind() string { return "dynset" }

// AppendText appends `dynset add reg_key 1 set s`, with ` sreg_data 2`,
// ` timeout 1000ms` and ` expr [ … ]` where they apply.
func (e *Dynset) AppendText(b []byte) []byte {
	b = append(append(b, "dynset "...), e.Op.String()...)
	b = appendNamed(b, "reg_key", uint64(e.Key))
	b = append(append(b, " set "...), e.Set...)
	if e.HasData {
		b = appendNamed(b, "sreg_data", uint64(e.Data))
	}
	if e.Timeout != 0 {
		b = append(appendNamed(b, "timeout", e.Timeout), "ms"...)
	}
	for _, x := range e.Exprs {
		b = append(x.AppendText(append(b, " expr [ "...)), " ]"...)
	}
	return b
}

// Check refuses sets that do not exist (ENOENT), object maps and sets whose
// backend packets cannot change (EOPNOTSUPP), constant sets (EBUSY), unknown
// operations (EOPNOTSUPP), a timeout that the set has not (EOPNOTSUPP), data
// for sets and verdict maps (EOPNOTSUPP), no data for maps (EINVAL), and
// expressions that the set does not take (EINVAL), are too many (E2BIG) or
// differ from the set's own (EOPNOTSUPP).
// Ref: nft_dynset.c, nft_dynset_init.
func (e *Dynset) Check(c *Checker) error {
	set := c.Place.set(e.Set, e.SetID)
	switch {
	case set == nil:
		return refuse(syscall.ENOENT, "set %q does not exist", e.Set)
	case set.Flags&setObject != 0:
		return refuse(syscall.EOPNOTSUPP, "set %q maps to objects", e.Set)
	case set.NoUpdate || set.Flags&setInterval != 0:
		return refuse(syscall.EOPNOTSUPP, "set %q takes no elements from rules", e.Set)
	case set.Flags&setConstant != 0:
		return refuse(syscall.EBUSY, "set %q is constant", e.Set)
	case e.Op > DynsetDelete:
		return refuse(syscall.EOPNOTSUPP, "unknown operation %d", e.Op)
	case e.Timeout != 0 && set.Flags&setTimeout == 0:
		return refuse(syscall.EOPNOTSUPP, "set %q has no timeouts", e.Set)
	}
	if err := c.load(e.Key, set.KeyLen); err != nil {
		return err
	}
	if err := e.checkData(c, set); err != nil {
		return err
	}
	return e.checkExprs(c, set)
}

func (e *Dynset) checkData(c *Checker, set *SetInfo) error {
	switch isMap := set.Flags&setMap != 0; {
	case e.HasData && !isMap:
		return refuse(syscall.EOPNOTSUPP, "set %q has no data", e.Set)
	case e.HasData && set.VerdictData:
		return refuse(syscall.EOPNOTSUPP, "verdict map %q", e.Set)
	case e.HasData:
		return c.load(e.Data, set.DataLen)
	case isMap:
		return refuse(syscall.EINVAL, "map %q needs data", e.Set)
	}
	return nil
}

func (e *Dynset) checkExprs(c *Checker, set *SetInfo) error {
	switch {
	case len(e.Exprs) == 0:
		return nil
	case set.Flags&setEval == 0:
		return refuse(syscall.EINVAL, "set %q is not dynamic", e.Set)
	case len(e.Exprs) > MaxElementExprs:
		return refuse(syscall.E2BIG, "element has %d expressions, more than %d", len(e.Exprs), MaxElementExprs)
	}
	for _, x := range e.Exprs {
		if !Stateful(x) {
			return refuse(syscall.EINVAL, "%s cannot belong to an element", x.Kind())
		}
		if err := x.Check(&Checker{Place: c.Place}); err != nil {
			return err
		}
	}
	if len(set.Exprs) == 0 {
		return nil
	}
	if len(set.Exprs) != len(e.Exprs) {
		return refuse(syscall.EOPNOTSUPP, "element has %d expressions, its set %d", len(e.Exprs), len(set.Exprs))
	}
	for i, x := range e.Exprs {
		if x.Kind() != set.Exprs[i].Kind() {
			return refuse(syscall.EOPNOTSUPP, "element has %s where its set has %s", x.Kind(), set.Exprs[i].Kind())
		}
	}
	return nil
}

// Stateful reports whether an expression may belong to a set's elements.
func Stateful(e Expr) bool {
	switch e.(type) {
	case *Counter, *Quota, *Limit, *ConnLimit, *Last:
		return true
	}
	return false
}

// Registers reads the key and perhaps the data.
func (e *Dynset) Registers(p *Place) RegUse {
	var set SetInfo
	if s := p.set(e.Set, e.SetID); s != nil {
		set = *s
	}
	u := reads(e.Key, set.KeyLen)
	if e.HasData {
		u.addRead(e.Data, set.DataLen)
	}
	return u
}

func parseDynset(p *textParser) Expr {
	e := &Dynset{Op: DynsetOp(p.oneOf("operation", dynsetOps[:]))}
	p.expect("reg_key")
	e.Key = p.regNumber()
	p.expect("set")
	e.Set = p.name("a set")
	if p.accept("sreg_data") {
		e.Data, e.HasData = p.regNumber(), true
	}
	if p.accept("timeout") {
		e.Timeout = p.suffixed("ms", 64)
	}
	for p.accept("expr") {
		if x := p.nested(); x != nil {
			e.Exprs = append(e.Exprs, x)
		}
	}
	return e
}

// nested reads an expression in brackets, which must not hold another one.
func (p *textParser) nested() Expr {
	p.expect("[")
	start := p.space()
	if kind := p.peek(); kind == "inner" || kind == "dynset" {
		p.failAt(start, "%s inside another expression", kind)
	}
	x := p.expression()
	p.expect("]")
	if p.err != nil {
		return nil
	}
	return x
}
