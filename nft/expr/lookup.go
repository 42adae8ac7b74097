package expr

import "syscall"

// Lookup looks a key up in a set. With HasDst it delivers the map's data;
// Dst RegVerdict makes it a verdict map.
// Ref: nft_lookup.c.
type Lookup struct {
	Set    string // as in the ruleset: __set%d before, __set0 after loading
	SetID  uint32 // the set's number within its batch, 0 if unknown
	Src    Reg
	Dst    Reg
	HasDst bool
	Invert bool
}

// Kind is lookup.
func (*Lookup) Kind() string { return "lookup" }

// AppendText appends `lookup reg 1 set s`, with ` dreg 1` for maps and ` 0x1`
// for inverted lookups.
func (e *Lookup) AppendText(b []byte) []byte {
	b = appendReg(append(b, "lookup "...), e.Src)
	b = append(append(b, " set "...), e.Set...)
	if e.HasDst {
		b = appendNamed(b, "dreg", uint64(e.Dst))
	}
	if e.Invert {
		b = append(b, " 0x1"...)
	}
	return b
}

// Check refuses sets that do not exist (ENOENT), a destination for inverted
// lookups or for sets without data (EINVAL), a destination that does not fit
// the kind of data (EINVAL), and anonymous maps whose data goes nowhere
// (EINVAL).
// Ref: nft_lookup.c, nft_lookup_init.
func (e *Lookup) Check(c *Checker) error {
	set := c.Place.set(e.Set, e.SetID)
	if set == nil {
		return refuse(syscall.ENOENT, "set %q does not exist", e.Set)
	}
	if err := c.load(e.Src, set.KeyLen); err != nil {
		return err
	}
	if !e.HasDst {
		if set.Flags&(setMap|setAnonymous) == setMap|setAnonymous {
			return refuse(syscall.EINVAL, "data of the anonymous map is not used")
		}
		return nil
	}
	switch {
	case e.Invert:
		return refuse(syscall.EINVAL, "inverted lookup with a destination")
	case set.Flags&setMap == 0:
		return refuse(syscall.EINVAL, "set %q has no data", e.Set)
	case set.VerdictData:
		return c.storeVerdict(e.Dst)
	}
	return c.store(e.Dst, set.DataLen)
}

// Registers reads the key and writes the data.
func (e *Lookup) Registers(p *Place) RegUse {
	var set SetInfo
	if s := p.set(e.Set, e.SetID); s != nil {
		set = *s
	}
	u := reads(e.Src, set.KeyLen)
	if e.HasDst {
		u.setWrite(e.Dst, set.DataLen)
	}
	return u
}

func parseLookup(p *textParser) Expr {
	e := &Lookup{Src: p.reg()}
	p.expect("set")
	e.Set = p.name("a set")
	if p.accept("dreg") {
		e.Dst, e.HasDst = p.regNumber(), true
	}
	if p.peek() == "0x0" || p.peek() == "0x1" {
		e.Invert = p.word() == "0x1"
	}
	return e
}
