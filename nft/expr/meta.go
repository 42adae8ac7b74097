package expr

import (
	"syscall"

	"verdict/catalog"
)

// Meta loads a meta key into Dst, or sets it from Src.
// Ref: nft_meta.c, nft_meta_bridge.c.
type Meta struct {
	Key      *catalog.Key
	Dst, Src Reg
	Set      bool
}

// Kind is meta.
func (*Meta) Kind() string { return "meta" }

// AppendText appends `meta load mark => reg 1` or `meta set mark with reg 1`.
func (e *Meta) AppendText(b []byte) []byte {
	return appendKey(append(b, "meta "...), e.Key, e.Set, e.Src, e.Dst)
}

// appendKey appends `load KEY => reg N` or `set KEY with reg N`.
func appendKey(b []byte, k *catalog.Key, set bool, src, dst Reg) []byte {
	verb, arrow, r := "load ", " => ", dst
	if set {
		verb, arrow, r = "set ", " with ", src
	}
	b = append(append(b, verb...), keyName(k)...)
	return appendReg(append(b, arrow...), r)
}

func keyName(k *catalog.Key) string {
	if k == nil {
		return "unknown"
	}
	return k.BytecodeName()
}

// Keys of meta that checks look at, by the kernel's number.
const (
	metaProtocol = 1
	metaL4Proto  = 16
)

// bridgeKey reports whether only bridge tables have the key.
func bridgeKey(k *catalog.Key) bool {
	switch k.Number {
	case 17, 18, 28, 29, 35, 37:
		return true
	}
	return false
}

// Check refuses unknown keys, keys of another family and keys that cannot be
// read or set (EOPNOTSUPP).
// Ref: nft_meta.c, nft_meta_get_init, nft_meta_set_init.
func (e *Meta) Check(c *Checker) error {
	switch {
	case e.Key == nil:
		return refuse(syscall.EOPNOTSUPP, "unknown meta key")
	case bridgeKey(e.Key) && c.Place.Family != familyBridge:
		return refuse(syscall.EOPNOTSUPP, "meta %s exists in bridge tables only", e.Key.Name)
	case e.Set && !e.Key.Settable:
		return refuse(syscall.EOPNOTSUPP, "meta %s cannot be set", e.Key.Name)
	case e.Set:
		return c.load(e.Src, keyLen(e.Key))
	case e.Key.SetOnly:
		return refuse(syscall.EOPNOTSUPP, "meta %s can only be set", e.Key.Name)
	}
	return c.store(e.Dst, keyLen(e.Key))
}

// keyLen is the size of a key's value in a register.
func keyLen(k *catalog.Key) uint32 {
	if k == nil {
		return 0
	}
	return uint32(k.Bytes())
}

// Registers writes Dst, or reads Src.
func (e *Meta) Registers(*Place) RegUse {
	if e.Set {
		return reads(e.Src, keyLen(e.Key))
	}
	return writes(e.Dst, keyLen(e.Key))
}

func parseMeta(p *textParser) Expr {
	e := &Meta{Set: p.oneOf("form", []string{"load", "set"}) == 1}
	e.Key = p.key("meta key", catalog.MetaKeys)
	e.Src, e.Dst = p.keyRegister(e.Set)
	return e
}

// key reads the bytecode name of a key.
func (p *textParser) key(what string, list []*catalog.Key) *catalog.Key {
	start := p.space()
	w := p.word()
	k := catalog.KeyByBytecode(list, w)
	if k == nil {
		p.failAt(start, "unknown %s %s", what, found(w))
	}
	return k
}

// keyRegister reads `with reg N` for set, else `=> reg N`.
func (p *textParser) keyRegister(set bool) (src, dst Reg) {
	if set {
		p.expect("with")
		return p.reg(), 0
	}
	p.expect("=>")
	return 0, p.reg()
}
