package host

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// MAC is an Ethernet address in network byte order.
type MAC [6]byte

// String prints the address as 02:00:00:00:00:01.
func (m MAC) String() string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
}

// IsGroup says whether the address names a group of stations: multicast, and
// broadcast as its widest form.
func (m MAC) IsGroup() bool { return m[0]&1 != 0 }

// Interface is one network interface.
type Interface struct {
	Name  string
	Index int
	// Type is the ARPHRD_ number of the hardware type: 1 for Ethernet, 772
	// for loopback. Zero means 772 for "lo" and 1 for others.
	Type  uint16
	Group uint32
	// Kind is the driver kind that ip-link shows: "bridge", "vlan", "vrf",
	// "tun", ...; empty for plain devices.
	Kind   string
	MAC    MAC
	HasMAC bool
	MTU    int // 0 means 1500, and 65536 for loopback
	Down   bool
	// Master is the bridge, bond or VRF that the interface belongs to, and
	// MasterIndex its index, which New fills in (0 for none).
	Master      string
	MasterIndex int
	// Lower is the interface that a VLAN device sits on, VLAN its tag.
	Lower string
	VLAN  uint16
	// Table is the routing table of an interface of kind "vrf".
	Table uint32
	// Addresses in the order of the kernel's list, which decides the address
	// that masquerade takes.
	Addresses []Address
}

// Address is an address of an interface.
type Address struct {
	Prefix        netip.Prefix // the address with its prefix length
	Broadcast     netip.Addr   // explicit broadcast address, if any
	Peer          netip.Prefix // the other end of a point-to-point link, if any
	Scope         Scope
	Secondary     bool
	Deprecated    bool
	Tentative     bool
	NoPrefixRoute bool // no route to the connected network was made for it
}

// Scope is how far an address or route reaches, with the kernel's numbers.
type Scope uint8

const (
	ScopeGlobal  Scope = 0
	ScopeSite    Scope = 200
	ScopeLink    Scope = 253
	ScopeHost    Scope = 254
	ScopeNowhere Scope = 255
)

var scopeNames = []struct {
	name  string
	scope Scope
}{{"global", ScopeGlobal}, {"site", ScopeSite}, {"link", ScopeLink}, {"host", ScopeHost}, {"nowhere", ScopeNowhere}}

// String returns "global", "link", "host", ... or the number.
func (s Scope) String() string {
	for _, known := range scopeNames {
		if known.scope == s {
			return known.name
		}
	}
	return fmt.Sprint(uint8(s))
}

// nameMax is the longest interface name.
//
// Ref: include/uapi/linux/if.h, IFNAMSIZ
const nameMax = 15

// checkName says what is wrong with an interface name, as the kernel judges it.
//
// Ref: net/core/dev.c, dev_valid_name
func checkName(name string) string {
	switch {
	case name == "":
		return "an interface needs a name"
	case len(name) > nameMax:
		return fmt.Sprintf("interface name %q is longer than %d bytes", name, nameMax)
	case name == "." || name == ".." || strings.ContainsAny(name, "/: \t\n\v\f\r"):
		return fmt.Sprintf("%q cannot be an interface name", name)
	}
	return ""
}

// addInterfaces copies the interfaces, gives indexes and fills the look-ups.
func (h *Host) addInterfaces() *Error {
	for n, given := range h.config.Interfaces {
		field := fmt.Sprintf("interfaces[%d]", n)
		if wrong := checkName(given.Name); wrong != "" {
			return &Error{Field: field + ".name", Reason: wrong}
		}
		if _, exists := h.byName[given.Name]; exists {
			return &Error{Field: field + ".name", Reason: fmt.Sprintf("interface %q is listed twice", given.Name)}
		}
		if given.Name == "lo" && given.Index == 0 {
			given.Index = loopbackIndex
		}
		if err := checkIndex(&given, field); err != nil {
			return err
		}
		if other, exists := h.byIndex[given.Index]; exists {
			return &Error{Field: field + ".index",
				Reason: fmt.Sprintf("index %d belongs to %q already", given.Index, other.Name)}
		}
		h.insert(&given)
	}
	if _, exists := h.byName["lo"]; !exists {
		h.insert(loopback())
	}
	for _, i := range h.interfaces {
		if i.Index == 0 {
			i.Index = h.freeIndex()
			h.byIndex[i.Index] = i
		}
	}
	slices.SortFunc(h.interfaces, func(a, b *Interface) int { return cmp.Compare(a.Index, b.Index) })
	return nil
}

const loopbackIndex = 1

// checkIndex keeps the index of the loopback interface, which Linux fixes.
func checkIndex(i *Interface, field string) *Error {
	switch {
	case i.Index < 0 || i.Index > 1<<31-1:
		return &Error{Field: field + ".index", Reason: fmt.Sprintf("index %d is out of range", i.Index)}
	case (i.Index == loopbackIndex) != (i.Name == "lo"):
		return &Error{Field: field + ".index", Reason: "index 1 always belongs to lo"}
	}
	return nil
}

// insert adds a checked interface, with its defaults.
func (h *Host) insert(given *Interface) *Interface {
	i := new(Interface)
	*i = *given
	if i.Type == 0 {
		i.Type = typeEther
		if i.Name == "lo" {
			i.Type = typeLoopback
		}
	}
	if i.MTU == 0 {
		i.MTU = 1500
		if i.Type == typeLoopback {
			i.MTU = 65536
		}
	}
	h.interfaces = append(h.interfaces, i)
	h.byName[i.Name] = i
	if i.Index != 0 {
		h.byIndex[i.Index] = i
	}
	return i
}

func loopback() *Interface {
	return &Interface{Name: "lo", Index: loopbackIndex, HasMAC: true, Addresses: []Address{
		{Prefix: netip.MustParsePrefix("127.0.0.1/8"), Scope: ScopeHost},
		{Prefix: netip.MustParsePrefix("::1/128"), Scope: ScopeHost},
	}}
}

// freeIndex returns the smallest index above 1 that no interface has.
func (h *Host) freeIndex() int {
	for index := loopbackIndex + 1; ; index++ {
		if _, taken := h.byIndex[index]; !taken {
			return index
		}
	}
}

// linkInterfaces resolves the names of masters and lower devices.
func (h *Host) linkInterfaces() *Error {
	for n, given := range h.config.Interfaces {
		i := h.byName[given.Name]
		if given.Master != "" {
			master, err := h.resolve(given.Master, fmt.Sprintf("interfaces[%d].master", n))
			if err != nil {
				return err
			}
			if master == i {
				return &Error{Field: fmt.Sprintf("interfaces[%d].master", n), Reason: "an interface cannot be its own master"}
			}
			i.MasterIndex = master.Index
		}
		if given.Lower != "" {
			if _, err := h.resolve(given.Lower, fmt.Sprintf("interfaces[%d].lower", n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// resolve finds the interface that a field of the configuration names.
func (h *Host) resolve(name, field string) (*Interface, *Error) {
	if i, ok := h.byName[name]; ok {
		return i, nil
	}
	names := make([]string, 0, len(h.interfaces))
	for _, i := range h.interfaces {
		names = append(names, i.Name)
	}
	return nil, &Error{Field: field, Reason: fmt.Sprintf("no interface %q", name), Suggestion: nearest(name, names)}
}
