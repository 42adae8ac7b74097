package host

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// fields lists what an object may hold and how each member is read.
type fields map[string]func(*node)

// object reads an object; a member that is not among the fields is refused
// by name, with a suggestion.
func (d *document) object(n *node, what string, known fields) {
	if d.err != nil || !d.want(n, objectNode, what) {
		return
	}
	for i := range n.members {
		m := &n.members[i]
		read, ok := known[m.name]
		if !ok {
			names := make([]string, 0, len(known))
			for name := range known {
				names = append(names, name)
			}
			slices.Sort(names)
			suggestion := nearest(m.name, names)
			d.fail(m.offset, "unknown field %q of %s", m.name, what).Suggestion = suggestion
			return
		}
		if read(m.value); d.err != nil {
			return
		}
	}
}

// list reads every item of a list.
func (d *document) list(n *node, what string, read func(*node)) {
	if d.err != nil || !d.want(n, arrayNode, what) {
		return
	}
	for _, item := range n.items {
		if read(item); d.err != nil {
			return
		}
	}
}

func (d *document) want(n *node, kind nodeKind, what string) bool {
	if n.kind != kind {
		d.failAt(n, "%s must be %v, not %v", what, kind, n.kind)
		return false
	}
	return true
}

func (d *document) string(n *node, what string) string {
	if d.err != nil || !d.want(n, stringNode, what) {
		return ""
	}
	return n.text
}

func (d *document) bool(n *node, what string) bool {
	if d.err == nil && (n.kind != literalNode || n.text == "null") {
		d.failAt(n, "%s must be true or false", what)
	}
	return n.text == "true"
}

// number reads a whole number from 0 to limit.
func (d *document) number(n *node, what string, limit uint64) uint64 {
	if d.err != nil || !d.want(n, numberNode, what) {
		return 0
	}
	value, err := strconv.ParseUint(n.text, 10, 64)
	if err != nil || value > limit {
		d.failAt(n, "%s %s is not a whole number from 0 to %d", what, n.text, limit)
		return 0
	}
	return value
}

// numberOrName reads a number, or a string that is a number or one of the
// names.
func (d *document) numberOrName(n *node, what string, limit uint64, names map[string]uint32) uint32 {
	if d.err != nil || n.kind == numberNode {
		return uint32(d.number(n, what, limit))
	}
	text := d.string(n, what)
	if d.err != nil {
		return 0
	}
	if value, err := strconv.ParseUint(text, 10, 64); err == nil && value <= limit {
		return uint32(value)
	}
	if value, ok := names[text]; ok {
		return value
	}
	known := make([]string, 0, len(names))
	for name := range names {
		known = append(known, name)
	}
	slices.Sort(known)
	d.failAt(n, "unknown %s %q", what, text).Suggestion = nearest(text, known)
	return 0
}

// numbers reads an object from names to numbers.
func (d *document) numbers(n *node, what string) map[string]uint32 {
	if d.err != nil || !d.want(n, objectNode, what) {
		return nil
	}
	values := make(map[string]uint32, len(n.members))
	for i := range n.members {
		m := &n.members[i]
		values[m.name] = uint32(d.number(m.value, what+" "+strconv.Quote(m.name), 1<<32-1))
	}
	return values
}

func (d *document) mac(n *node, what string) MAC {
	text := d.string(n, what)
	if d.err != nil {
		return MAC{}
	}
	mac, err := ParseMAC(text)
	if err != nil {
		d.failAt(n, "%s: %v", what, err)
	}
	return mac
}

// ParseMAC reads an Ethernet address such as 02:00:00:00:00:01.
func ParseMAC(text string) (MAC, error) {
	var mac MAC
	octets := strings.Split(text, ":")
	if len(octets) != len(mac) {
		return MAC{}, fmt.Errorf("%q is not an Ethernet address", text)
	}
	for i, octet := range octets {
		value, err := strconv.ParseUint(octet, 16, 8)
		if err != nil || len(octet) > 2 {
			return MAC{}, fmt.Errorf("%q is not an Ethernet address", text)
		}
		mac[i] = byte(value)
	}
	return mac, nil
}

func (d *document) address(n *node, what string) netip.Addr {
	text := d.string(n, what)
	if d.err != nil {
		return netip.Addr{}
	}
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		d.failAt(n, "%s %q is not an IP address", what, text)
		return netip.Addr{}
	}
	return address.Unmap()
}

// prefix reads an address with a prefix length, or without one, meaning all
// of its bits.
func (d *document) prefix(n *node, what string) netip.Prefix {
	text := d.string(n, what)
	if d.err != nil {
		return netip.Prefix{}
	}
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return prefix
	}
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		d.failAt(n, "%s %q is not an address with a prefix length", what, text)
		return netip.Prefix{}
	}
	return netip.PrefixFrom(address, address.BitLen())
}
