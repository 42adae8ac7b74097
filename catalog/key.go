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
	// PrintAlone: listings leave the word meta out.
	PrintAlone bool
	Aliases    []string // further names that the language accepts
	Settable   bool
	SetOnly    bool
	NeedsDir   bool // ct: only with a direction
	DirOK      bool // ct: direction allowed
	Form       Form
	// Family is that of the address, for keys that have one variant for each
	// address family (ct saddr, rt nexthop, ipsec saddr); else FamilyUnspec.
	Family Family
}

// BytecodeName is the name that bytecode text uses.
func (k *Key) BytecodeName() string {
	if k.Bytecode != "" {
		return k.Bytecode
	}
	return k.Name
}

// MetaKey finds a key of meta by its word or an alias, nil if there is none.
func MetaKey(name string) *Key { return keyByName(MetaKeys, name, FamilyUnspec) }

// CTKey finds a key of ct, nil if there is none. For saddr and daddr the
// family chooses the variant: FamilyUnspec where the language names none.
func CTKey(name string, family Family) *Key { return keyByName(CTKeys, name, family) }

// RTKey finds a key of rt, nil if there is none. For nexthop the family
// chooses the variant, and FamilyUnspec has none.
func RTKey(name string, family Family) *Key { return keyByName(RTKeys, name, family) }

// SocketKey finds a key of socket, nil if there is none.
func SocketKey(name string) *Key { return keyByName(SocketKeys, name, FamilyUnspec) }

// TunnelKey finds a key of tunnel, nil if there is none.
func TunnelKey(name string) *Key { return keyByName(TunnelKeys, name, FamilyUnspec) }

// XFRMKey finds a key of ipsec, nil if there is none. For saddr and daddr the
// family chooses the variant.
func XFRMKey(name string, family Family) *Key { return keyByName(XFRMKeys, name, family) }

// FibResult finds a result of fib, check included; nil if there is none.
func FibResult(name string) *Key {
	if name == FibCheck.Name {
		return FibCheck
	}
	return keyByName(FibResults, name, FamilyUnspec)
}

// OSFKey finds a result of osf, nil if there is none.
func OSFKey(name string) *Key { return keyByName(OSFKeys, name, FamilyUnspec) }

// MetaKeyByNumber finds a key of meta by the kernel's number.
func MetaKeyByNumber(number uint32) *Key { return keyByNumber(MetaKeys, number) }

// CTKeyByNumber finds a key of ct by the kernel's number.
func CTKeyByNumber(number uint32) *Key { return keyByNumber(CTKeys, number) }

// RTKeyByNumber finds a key of rt by the kernel's number.
func RTKeyByNumber(number uint32) *Key { return keyByNumber(RTKeys, number) }

// SocketKeyByNumber finds a key of socket by the kernel's number.
func SocketKeyByNumber(number uint32) *Key { return keyByNumber(SocketKeys, number) }

// TunnelKeyByNumber finds a key of tunnel by the kernel's number.
func TunnelKeyByNumber(number uint32) *Key { return keyByNumber(TunnelKeys, number) }

// XFRMKeyByNumber finds a key of ipsec by the kernel's number.
func XFRMKeyByNumber(number uint32) *Key { return keyByNumber(XFRMKeys, number) }

// FibResultByNumber finds a result of fib by the kernel's number.
func FibResultByNumber(number uint32) *Key { return keyByNumber(FibResults, number) }

// KeyByBytecode finds a key of a list by its name in bytecode text, nil if
// there is none.
func KeyByBytecode(list []*Key, name string) *Key {
	for _, k := range list {
		if k.BytecodeName() == name {
			return k
		}
	}
	return nil
}

// keyByName prefers the variant of the family. A key without variants is
// found for every family.
func keyByName(list []*Key, name string, family Family) *Key {
	for _, k := range list {
		if k.Family == family && k.hasName(name) {
			return k
		}
	}
	for _, k := range list {
		if k.Family == FamilyUnspec && k.hasName(name) {
			return k
		}
	}
	return nil
}

func (k *Key) hasName(name string) bool {
	if k.Name == name {
		return true
	}
	for _, a := range k.Aliases {
		if a == name {
			return true
		}
	}
	return false
}

func keyByNumber(list []*Key, number uint32) *Key {
	for _, k := range list {
		if k.Number == number {
			return k
		}
	}
	return nil
}

// Bytes is the size of the key's value in a register; 0 where it depends on
// the family.
func (k *Key) Bytes() int { return (k.Bits + 7) / 8 }
