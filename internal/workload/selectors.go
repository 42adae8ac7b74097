package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"verdict/catalog"
)

// Selector is what rules compare: a field, an option or a key.
type Selector struct {
	Text     string // in the language
	Type     *catalog.Type
	Bits     int
	Families []string // of tables whose rules can have it
}

// Forms are right-hand sides for rules about a selector: values, sets, ranges,
// prefixes and verdict maps, as far as its type has them.
func (s *Selector) Forms() []string {
	a, b, c := s.values()
	list := []string{a, "!= " + a, fmt.Sprintf("{ %s, %s }", a, b), fmt.Sprintf("!= { %s, %s }", a, b), fmt.Sprintf("vmap { %s : accept, %s : drop }", a, b)}
	if a != "0" && ordered(s.Type) && !named(s.Type) {
		list = append(list, a+"-"+b, "!= "+a+"-"+b, fmt.Sprintf("{ %s-%s, %s }", a, b, c), "> "+a, "<= "+b, fmt.Sprintf("vmap { %s-%s : accept, %s : drop }", a, b, c))
	}
	switch s.Type.Form {
	case catalog.FormIPv4:
		list = append(list, "10.0.0.0/8", "!= 10.64.0.0/10", "{ 10.0.0.0/8, 192.168.1.0/24 }", "vmap { 10.0.0.0/8 : accept, 192.168.0.0/25 : drop }")
	case catalog.FormIPv6:
		list = append(list, "2001:db8::/32", "!= fe80::/10", "{ 2001:db8::/32, fe80::/10 }", "vmap { 2001:db8::/32 : accept, fe80::/10 : drop }")
	}
	return list
}

// ordered tells the types that have ranges.
func ordered(typ *catalog.Type) bool {
	switch typ.Form {
	case catalog.FormBoolean, catalog.FormString, catalog.FormLabel, catalog.FormBitmask, catalog.FormIfIndex, catalog.FormCgroup2:
		return false
	}
	return true
}

// named tells the types whose values have names, of which two and a dash are
// one word.
func named(typ *catalog.Type) bool { return len(typ.Symbols) >= 3 && !typ.HiddenSymbols }

// values are three ascending values of a selector's type.
func (s *Selector) values() (a, b, c string) {
	switch s.Type.Form {
	case catalog.FormIPv4:
		return "10.0.0.1", "10.0.0.9", "192.168.1.1"
	case catalog.FormIPv6:
		return "2001:db8::1", "2001:db8::9", "fe80::1"
	case catalog.FormMAC:
		return "00:01:02:03:04:05", "00:01:02:03:04:09", "02:00:00:00:00:01"
	case catalog.FormString:
		return `"lo"`, `"eth0"`, `"eth1"`
	case catalog.FormIfIndex:
		return `"lo"`, `"eth0"`, `"eth1"`
	case catalog.FormBoolean:
		return "exists", "missing", "missing"
	case catalog.FormDate:
		return `"2026-01-02 03:04:05"`, `"2026-02-02 03:04:05"`, `"2026-03-02 03:04:05"`
	case catalog.FormDay:
		return `"Monday"`, `"Tuesday"`, `"Friday"`
	case catalog.FormHour:
		return `"10:00"`, `"12:00"`, `"20:00"`
	case catalog.FormDuration:
		return "10s", "1m", "2h"
	case catalog.FormClassID:
		return "1:2", "1:3", "2:0"
	}
	if named(s.Type) {
		sorted := slices.Clone(s.Type.Symbols)
		slices.SortStableFunc(sorted, func(a, b catalog.Symbol) int { return cmp.Compare(a.Value, b.Value) })
		sorted = slices.CompactFunc(sorted, func(a, b catalog.Symbol) bool { return a.Value == b.Value })
		if len(sorted) >= 3 {
			return sorted[0].Name, sorted[1].Name, sorted[2].Name
		}
	}
	highest := uint64(1)<<min(s.Bits, 16) - 1
	switch {
	case s.Type.Form == catalog.FormLabel:
		highest = 127
	case s.Text == "socket transparent", s.Text == "socket wildcard":
		highest = 1
	}
	if highest < 3 {
		return "0", "1", "1"
	}
	return "1", fmt.Sprint((highest + 1) / 2), fmt.Sprint(highest)
}

// Selectors lists all selectors of the language.
func Selectors() (all []Selector) {
	add := func(text string, typ *catalog.Type, bits int, families ...string) {
		all = append(all, Selector{text, typ, bits, families})
	}
	for _, p := range catalog.Protocols {
		for i := range p.Fields {
			f := &p.Fields[i]
			text := p.Name + " " + f.Name
			if p == catalog.VXLAN || p == catalog.Geneve {
				text = "udp dport 4789 " + text
			}
			add(text, f.Type, f.Bits, familiesOf(p)...)
		}
	}
	for _, kind := range []struct {
		prefix   string
		list     []*catalog.Option
		families []string
	}{
		{"", catalog.Exthdrs, []string{"ip6", "inet"}}, {"tcp option ", catalog.TCPOptions, []string{"ip", "inet"}},
		{"ip option ", catalog.IPOptions, []string{"ip", "inet"}}, {"sctp chunk ", catalog.SCTPChunks, []string{"ip", "inet"}},
	} {
		for _, o := range kind.list {
			for i := range o.Fields {
				f := &o.Fields[i]
				name := f.Name
				if f.Step > 0 {
					name += "[1]"
				}
				add(kind.prefix+o.Name+" "+name, f.Type, f.Bits, kind.families...)
			}
		}
	}
	for _, k := range catalog.MetaKeys {
		switch {
		case k.SetOnly:
		case strings.HasPrefix(k.Name, "ibr"), k.Name == "obrname":
			add("meta "+k.Name, k.Type, k.Bits, "bridge")
		case k.Name == "nfproto":
			add("meta "+k.Name, k.Type, k.Bits, "inet")
		default:
			add("meta "+k.Name, k.Type, k.Bits, "inet", "bridge")
		}
	}
	for _, k := range catalog.CTKeys {
		text := "ct " + k.Name
		switch {
		case k.SetOnly, k.Name == "saddr" && k.Family == catalog.FamilyUnspec, k.Name == "daddr" && k.Family == catalog.FamilyUnspec:
			continue // no selector of a rule
		case k.NeedsDir && k.Family != catalog.FamilyUnspec:
			text = "ct original " + k.Family.String() + " " + k.Name
		case k.NeedsDir:
			text = "ct original " + k.Name
		}
		add(text, k.Type, k.Bits, "ip", "inet")
	}
	for _, k := range catalog.SocketKeys {
		if text := "socket " + k.Name; k.Name == "cgroupv2" {
			add(text+" level 1", k.Type, k.Bits, "inet")
		} else {
			add(text, k.Type, k.Bits, "inet")
		}
	}
	for _, k := range catalog.RTKeys {
		text := "rt "
		if k.Family != catalog.FamilyUnspec {
			text += k.Family.String() + " "
		}
		add(text+k.Name, k.Type, k.Bits, "inet")
	}
	for _, k := range catalog.TunnelKeys {
		add("tunnel "+k.Name, k.Type, k.Bits, "netdev")
	}
	return all
}

// familiesOf are families in which a header can be matched.
func familiesOf(p *catalog.Protocol) []string {
	switch p {
	case catalog.Ether:
		return []string{"bridge", "netdev", "inet"}
	case catalog.VLAN:
		return []string{"bridge", "netdev"}
	case catalog.ARP:
		return []string{"arp", "bridge", "netdev"}
	case catalog.IP:
		return []string{"ip", "inet", "bridge", "netdev"}
	case catalog.IP6:
		return []string{"ip6", "inet", "bridge", "netdev"}
	case catalog.ICMP, catalog.IGMP:
		return []string{"ip", "inet", "bridge", "netdev"}
	case catalog.ICMPv6:
		return []string{"ip6", "inet", "bridge", "netdev"}
	}
	return []string{"ip", "ip6", "inet", "bridge", "netdev"}
}
