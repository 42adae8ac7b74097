package expr

import "syscall"

// Objref runs a named stateful object, or the one a map yields.
// Ref: nft_objref.c.
type Objref struct {
	Type ObjectType
	Name string
	// Map form: Set and Src.
	Set   string
	SetID uint32
	Src   Reg
	IsMap bool
}

// Kind is objref.
func (*Objref) Kind() string { return "objref" }

// AppendText appends `objref type 1 name c` or `objref sreg 1 set m`.
func (e *Objref) AppendText(b []byte) []byte {
	b = append(b, "objref"...)
	if e.IsMap {
		b = appendNamed(b, "sreg", uint64(e.Src))
		return append(append(b, " set "...), e.Set...)
	}
	b = appendNamed(b, "type", uint64(e.Type))
	return append(append(b, " name "...), e.Name...)
}

// Check refuses objects and maps that do not exist (ENOENT) and sets that do
// not map to objects (EINVAL).
// Ref: nft_objref.c, nft_objref_init, nft_objref_map_init.
func (e *Objref) Check(c *Checker) error {
	if !e.IsMap {
		if c.Place.ObjectExists == nil || !c.Place.ObjectExists(e.Type, e.Name) {
			return refuse(syscall.ENOENT, "object %q does not exist", e.Name)
		}
		return nil
	}
	set := c.Place.set(e.Set, e.SetID)
	switch {
	case set == nil:
		return refuse(syscall.ENOENT, "map %q does not exist", e.Set)
	case set.Flags&setObject == 0:
		return refuse(syscall.EINVAL, "set %q does not map to objects", e.Set)
	}
	return c.load(e.Src, set.KeyLen)
}

// Registers reads the key of the map form.
func (e *Objref) Registers(p *Place) RegUse {
	if !e.IsMap {
		return RegUse{}
	}
	var keyLen uint32
	if s := p.set(e.Set, e.SetID); s != nil {
		keyLen = s.KeyLen
	}
	return reads(e.Src, keyLen)
}

func parseObjref(p *textParser) Expr {
	e := &Objref{IsMap: p.oneOf("form", []string{"type", "sreg"}) == 1}
	if e.IsMap {
		e.Src = p.regNumber()
		p.expect("set")
		e.Set = p.name("a map")
		return e
	}
	e.Type = ObjectType(p.uint(32))
	p.expect("name")
	e.Name = p.name("an object")
	return e
}
