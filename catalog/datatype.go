package catalog

// ByteOrder says how values of a type sit in a register.
type ByteOrder uint8

// The byte orders. Host means little endian everywhere in this project.
const (
	OrderNone ByteOrder = iota // single bytes and values without an order of their own
	OrderHost
	OrderNetwork
)

// Form says how numeric values of a type print and which syntax its literals
// have.
type Form uint8

// The forms of values.
const (
	FormDecimal   Form = iota // 42
	FormHex                   // 0x0000002a, as wide as the type
	FormIPv4                  // 192.0.2.1
	FormIPv6                  // 2001:db8::1
	FormMAC                   // 00:11:22:33:44:55
	FormString                // quoted, zero padded
	FormProtocol              // inet_proto: names of protocols
	FormService               // inet_service
	FormEtherType             // 0x0800 or symbol
	FormMark                  // 0x%08x
	FormDuration              // 1d2h; milliseconds unless Seconds
	FormIfIndex               // interface name
	FormUID                   // user
	FormGID                   // group
	FormClassID               // maj:min
	FormDevGroup              // group file
	FormRealm                 // realms file
	FormBitmask               // flag lists of Symbols
	FormBoolean               // exists, missing
	FormLabel                 // ct label
	FormDate                  // meta time
	FormDay                   // meta day
	FormHour                  // meta hour
	FormVerdict               // accept, jump …
	FormCgroup2               // cgroup path
	FormSymbolic              // Symbols, else decimal
	FormConcat
)

// Symbol is a named constant of a type.
type Symbol struct {
	Name  string
	Value uint64
}

// Type is a data type of the language.
// Ref: nft(8), DATA TYPES.
type Type struct {
	ID          uint32 // the number by which set declarations name it to the kernel
	Name        string // ipv4_addr
	Description string // IPv4 address
	Bits        int    // 0 where it depends on the selector
	Order       ByteOrder
	Form        Form
	Base        *Type
	Symbols     []Symbol // in table order
	// DecimalSymbols says that describe prints the symbols in decimal.
	DecimalSymbols bool
	Prefix         bool // ranges that are prefixes print as A/N (ipv4_addr, ipv6_addr)
	PerLine        int  // elements per line in set listings: 5, 2, else 1
	Bitmask        bool // comparison with a value means "any of these bits"
	NotDeclarable  bool // cannot be used with `type` (needs typeof)
	// Seconds: durations of this type are seconds, not milliseconds.
	Seconds bool
	// QuotedSymbols says that listings put symbol names in quotes.
	QuotedSymbols bool
	// HiddenSymbols says that describe does not show the symbols.
	HiddenSymbols bool
}

// SymbolByName finds a symbol's value.
func (t *Type) SymbolByName(name string) (uint64, bool) {
	for _, s := range t.Symbols {
		if s.Name == name {
			return s.Value, true
		}
	}
	return 0, false
}

// SymbolByValue finds the first symbol with a value.
func (t *Type) SymbolByValue(value uint64) (string, bool) {
	for _, s := range t.Symbols {
		if s.Value == value {
			return s.Name, true
		}
	}
	return "", false
}
