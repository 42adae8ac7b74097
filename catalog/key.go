package catalog

// Key is a key of meta, ct, rt, socket, tunnel, ipsec, fib or osf: a fact
// about a packet that is not in its bytes.
type Key struct {
	Name     string // the word of the language: iifname
	Number   uint32 // the kernel's
	Bytecode string // the name in bytecode text where it differs, else ""
	Type     *Type
	Bits     int       // in the register
	Order    ByteOrder // in the register
	Alone    bool      // also usable without the word meta
	Settable bool
	SetOnly  bool
	NeedsDir bool // ct: only with a direction
	DirOK    bool // ct: direction allowed
	Form     Form
	// IP4, IP6 name the variants that a key has by address family (ct saddr,
	// rt nexthop, ipsec saddr).
	Family Family
}

// BytecodeName is the name that bytecode text uses.
func (k *Key) BytecodeName() string {
	if k.Bytecode != "" {
		return k.Bytecode
	}
	return k.Name
}
