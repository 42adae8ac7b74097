package offload

import (
	"fmt"
	"sort"
	"strings"
)

// KeyID is a group of fields that a flow dissector fills, with the kernel's
// number.
//
// Ref: include/net/flow_dissector.h, enum flow_dissector_key_id
type KeyID uint8

// The groups that filters use.
const (
	KeyControl    KeyID = 0
	KeyBasic      KeyID = 1
	KeyIPv4       KeyID = 2
	KeyIPv6       KeyID = 3
	KeyPorts      KeyID = 4
	KeyPortsRange KeyID = 5
	KeyICMP       KeyID = 6
	KeyEth        KeyID = 7
	KeyARP        KeyID = 9
	KeyVLAN       KeyID = 10
	KeyEncKeyID   KeyID = 14
	KeyEncIPv4    KeyID = 15
	KeyEncIPv6    KeyID = 16
	KeyEncControl KeyID = 17
	KeyEncPorts   KeyID = 18
	KeyMPLS       KeyID = 19
	KeyTCP        KeyID = 20
	KeyIP         KeyID = 21
	KeyCVLAN      KeyID = 22
	KeyEncIP      KeyID = 23
	KeyEncOpts    KeyID = 24
	KeyMeta       KeyID = 25
	KeyCT         KeyID = 26
	KeyHash       KeyID = 27
	KeyNumVLAN    KeyID = 28
	KeyPPPoE      KeyID = 29
	KeyL2TPv3     KeyID = 30
	KeyCFM        KeyID = 31
	KeyIPsec      KeyID = 32
)

var keyNames = map[KeyID]string{
	KeyControl: "control", KeyBasic: "basic", KeyIPv4: "ipv4", KeyIPv6: "ipv6", KeyPorts: "ports",
	KeyPortsRange: "ports-range", KeyICMP: "icmp", KeyEth: "eth", KeyARP: "arp", KeyVLAN: "vlan",
	KeyEncKeyID: "enc-key-id", KeyEncIPv4: "enc-ipv4", KeyEncIPv6: "enc-ipv6", KeyEncControl: "enc-control",
	KeyEncPorts: "enc-ports", KeyMPLS: "mpls", KeyTCP: "tcp", KeyIP: "ip", KeyCVLAN: "cvlan",
	KeyEncIP: "enc-ip", KeyEncOpts: "enc-opts", KeyMeta: "meta", KeyCT: "ct", KeyHash: "hash",
	KeyNumVLAN: "num-of-vlans", KeyPPPoE: "pppoe", KeyL2TPv3: "l2tpv3", KeyCFM: "cfm", KeyIPsec: "ipsec",
}

// String returns the name that models use.
func (k KeyID) String() string {
	if n, ok := keyNames[k]; ok {
		return n
	}
	return fmt.Sprintf("key%d", uint8(k))
}

// KeySet is a set of groups, a bit for each number.
type KeySet uint64

// AllKeys holds every group.
const AllKeys = ^KeySet(0)

// Keys makes a set.
func Keys(ids ...KeyID) (s KeySet) {
	for _, id := range ids {
		s |= 1 << id
	}
	return s
}

// Has reports whether the set holds a group.
func (s KeySet) Has(id KeyID) bool { return s>>id&1 != 0 }

// String lists the names in the order of the numbers.
func (s KeySet) String() string {
	var names []string
	for id := KeyID(0); id < 64; id++ {
		if s.Has(id) {
			names = append(names, id.String())
		}
	}
	return strings.Join(names, " ")
}

// ParseKeys reads a list of names; "all" is every group.
func ParseKeys(names []string) (KeySet, error) {
	var s KeySet
	for _, n := range names {
		id, ok := keyByName(n)
		switch {
		case n == "all":
			s = AllKeys
		case !ok:
			return 0, fmt.Errorf("unknown dissector key %q; known are %s", n, strings.Join(KeyNames(), ", "))
		default:
			s |= 1 << id
		}
	}
	return s, nil
}

func keyByName(name string) (KeyID, bool) {
	for id, n := range keyNames {
		if n == name {
			return id, true
		}
	}
	return 0, false
}

// KeyNames lists the names of all groups, sorted.
func KeyNames() []string {
	var l []string
	for _, n := range keyNames {
		l = append(l, n)
	}
	sort.Strings(l)
	return l
}
