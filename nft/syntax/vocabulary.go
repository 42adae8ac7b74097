package syntax

import (
	"slices"

	"verdict/catalog"
)

// reservedWords cannot name tables, chains, sets or objects, nor stand for
// values, unless valueWords allows it.
var reservedWords = wordSet(
	"accept", "add", "ah", "all", "and", "arp", "auto-merge", "bridge", "cgroup", "chain", "comment", "comp",
	"constant", "continue", "cpu", "create", "ct", "dccp", "define", "delete", "describe", "destroy", "device",
	"devices", "dnat", "drop", "dst", "dup", "dynamic", "ecn", "element", "elements", "eq", "esp", "ether", "exists",
	"expires", "export", "exthdr", "fib", "flags", "flow", "flowtable", "flush", "frag", "fwd", "gc-interval", "ge",
	"geneve", "get", "goto", "gre", "gretap", "gt", "handle", "hbh", "hook", "ibriport", "ibrname", "icmp", "icmpv6",
	"igmp", "iif", "iifgroup", "iifname", "iiftype", "import", "include", "index", "inet", "insert", "interval",
	"ip", "ip6", "ipsec", "jhash", "jump", "le", "limit", "list", "lshift", "lt", "map", "mark", "masquerade", "meta",
	"meter", "mh", "missing", "monitor", "ne", "netdev", "nftrace", "not", "notrack", "numgen", "obriport", "obrname",
	"offload", "oif", "oifgroup", "oifname", "oiftype", "or", "osf", "pkttype", "policy", "position", "priority",
	"queue", "quota", "random", "redefine", "redirect", "reject", "rename", "replace", "reset", "return", "rshift",
	"rt", "rt0", "rt2", "rtclassid", "rule", "ruleset", "sctp", "secmark", "set", "size", "skgid", "skuid", "snat",
	"socket", "srh", "symhash", "synproxy", "table", "tcp", "th", "time", "timeout", "tproxy", "tunnel", "type",
	"typeof", "udp", "udplite", "undefine", "update", "vlan", "vmap", "vni", "vxlan", "xor", "xt",
)

// valueWords are the reserved words that also stand for values: protocols,
// ICMP types, connection states and events.
var valueWords = wordSet(
	"ah", "arp", "comp", "dccp", "destroy", "dnat", "ecn", "esp", "ether", "exists", "gre", "icmp", "icmpv6", "igmp",
	"ip", "ip6", "missing", "redirect", "reset", "sctp", "snat", "tcp", "udp", "udplite", "vlan",
)

func wordSet(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// selectorKind says which grammar a word at the start of a selector has.
type selectorKind uint8

const (
	selNone selectorKind = iota
	selHeader
	selMetaAlone
	selMeta
	selCT
	selRT // routing data, or the routing header
	selExthdr
	selExthdrExists
	selSocket
	selFib
	selOSF
	selIPsec
	selTunnel
	selNumgen
	selJhash
	selSymhash
)

// selectorWord is a word that starts a selector.
type selectorWord struct {
	kind     selectorKind
	protocol *catalog.Protocol
	exthdr   *catalog.Option
}

// selectorWords holds every word that starts a selector.
var selectorWords = func() map[string]selectorWord {
	m := map[string]selectorWord{
		"meta": {kind: selMeta}, "ct": {kind: selCT}, "exthdr": {kind: selExthdrExists},
		"socket": {kind: selSocket}, "fib": {kind: selFib}, "osf": {kind: selOSF}, "ipsec": {kind: selIPsec},
		"tunnel": {kind: selTunnel}, "numgen": {kind: selNumgen}, "jhash": {kind: selJhash}, "symhash": {kind: selSymhash},
	}
	for _, k := range catalog.MetaKeys {
		if k.Alone && k.Name != "ipsec" {
			m[k.Name] = selectorWord{kind: selMetaAlone}
		}
	}
	for _, name := range []string{"ibriport", "obriport", "random"} {
		m[name] = selectorWord{kind: selMetaAlone}
	}
	for _, o := range catalog.Exthdrs {
		m[o.Name] = selectorWord{kind: selExthdr, exthdr: o}
	}
	m["rt"] = selectorWord{kind: selRT, exthdr: catalog.ExthdrByName("rt")}
	for _, p := range catalog.Protocols {
		m[p.Name] = selectorWord{kind: selHeader, protocol: p}
	}
	return m
}()

// statementWords start statements that are no selectors.
var statementWords = []string{
	"accept", "add", "comment", "continue", "counter", "delete", "dnat", "drop", "dup", "flow", "fwd", "goto", "jump",
	"last", "limit", "log", "masquerade", "meter", "notrack", "queue", "quota", "redirect", "reject", "reset", "return",
	"set", "snat", "synproxy", "tproxy", "update", "xt",
}

// startWords is everything that starts a statement, for suggestions.
var startWords = func() []string {
	words := slices.Clone(statementWords)
	for w := range selectorWords {
		words = append(words, w)
	}
	slices.Sort(words)
	return words
}()

// fieldNames lists a protocol's fields, for suggestions.
func fieldNames(p *catalog.Protocol) []string {
	names := make([]string, 0, len(p.Fields))
	for i := range p.Fields {
		names = append(names, p.Fields[i].Name)
	}
	return names
}

func optionFieldNames(o *catalog.Option) []string {
	names := make([]string, 0, len(o.Fields))
	for i := range o.Fields {
		names = append(names, o.Fields[i].Name)
	}
	return names
}

func optionNames(list []*catalog.Option) []string {
	names := make([]string, 0, len(list))
	for _, o := range list {
		names = append(names, o.Name)
	}
	return names
}

// keyNames lists names and aliases of keys, each once.
func keyNames(keys []*catalog.Key) []string {
	var names []string
	for _, k := range keys {
		if !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
		names = append(names, k.Aliases...)
	}
	return names
}

var (
	metaKeyNames   = keyNames(catalog.MetaKeys)
	ctKeyNames     = keyNames(catalog.CTKeys)
	rtKeyNames     = keyNames(catalog.RTKeys)
	socketKeyNames = keyNames(catalog.SocketKeys)
	tunnelKeyNames = keyNames(catalog.TunnelKeys)
	osfKeyNames    = keyNames(catalog.OSFKeys)
	fibResultNames = []string{"oif", "oifname", "type", "check"}
	fibFlagNames   = []string{"saddr", "daddr", "mark", "iif", "oif"}
	exthdrNames    = optionNames(catalog.Exthdrs)
)
