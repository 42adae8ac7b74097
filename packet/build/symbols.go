package build

import "slices"

// symbol is a name for a value.
type symbol struct {
	name  string
	value uint64
}

// symbols are the names of one kind of value; of several names for one value
// the first is printed.
type symbols []symbol

func (s symbols) value(name string) (uint64, bool) {
	i := slices.IndexFunc(s, func(e symbol) bool { return e.name == name })
	if i < 0 {
		return 0, false
	}
	return s[i].value, true
}

func (s symbols) name(value uint64) (string, bool) {
	i := slices.IndexFunc(s, func(e symbol) bool { return e.value == value })
	if i < 0 {
		return "", false
	}
	return s[i].name, true
}

func (s symbols) names() []string {
	var names []string
	for _, e := range s {
		names = append(names, e.name)
	}
	return names
}

var etherTypes = symbols{{"ip", 0x0800}, {"arp", 0x0806}, {"ip6", 0x86dd}, {"8021q", 0x8100}, {"vlan", 0x8100},
	{"8021ad", 0x88a8}, {"ether", 0x6558}}

var protocols = symbols{{"icmp", 1}, {"igmp", 2}, {"ipencap", 4}, {"ipip", 4}, {"tcp", 6}, {"udp", 17}, {"dccp", 33},
	{"ipv6", 41}, {"ipv6-route", 43}, {"ipv6-frag", 44}, {"gre", 47}, {"esp", 50}, {"ah", 51}, {"ipv6-icmp", 58},
	{"icmpv6", 58}, {"ipv6-nonxt", 59}, {"ipv6-opts", 60}, {"ospf", 89}, {"pim", 103}, {"comp", 108}, {"vrrp", 112},
	{"sctp", 132}, {"mobility-header", 135}, {"udplite", 136}}

var services = symbols{{"ftp", 21}, {"ssh", 22}, {"telnet", 23}, {"smtp", 25}, {"domain", 53}, {"bootps", 67},
	{"bootpc", 68}, {"tftp", 69}, {"http", 80}, {"ntp", 123}, {"imap2", 143}, {"snmp", 161}, {"bgp", 179},
	{"ldap", 389}, {"https", 443}, {"imaps", 993}, {"pop3s", 995}, {"openvpn", 1194}, {"mysql", 3306},
	{"sip", 5060}, {"postgresql", 5432}}

var icmpTypes = symbols{{"echo-reply", 0}, {"destination-unreachable", 3}, {"source-quench", 4}, {"redirect", 5},
	{"echo-request", 8}, {"router-advertisement", 9}, {"router-solicitation", 10}, {"time-exceeded", 11},
	{"parameter-problem", 12}, {"timestamp-request", 13}, {"timestamp-reply", 14}, {"info-request", 15},
	{"info-reply", 16}, {"address-mask-request", 17}, {"address-mask-reply", 18}}

var icmpCodes = symbols{{"net-unreachable", 0}, {"host-unreachable", 1}, {"prot-unreachable", 2},
	{"port-unreachable", 3}, {"frag-needed", 4}, {"net-prohibited", 9}, {"host-prohibited", 10},
	{"admin-prohibited", 13}}

var icmpv6Types = symbols{{"destination-unreachable", 1}, {"packet-too-big", 2}, {"time-exceeded", 3},
	{"parameter-problem", 4}, {"echo-request", 128}, {"echo-reply", 129}, {"mld-listener-query", 130},
	{"mld-listener-report", 131}, {"mld-listener-done", 132}, {"mld-listener-reduction", 132},
	{"nd-router-solicit", 133}, {"nd-router-advert", 134}, {"nd-neighbor-solicit", 135}, {"nd-neighbor-advert", 136},
	{"nd-redirect", 137}, {"router-renumbering", 138}, {"ind-neighbor-solicit", 141}, {"ind-neighbor-advert", 142},
	{"mld2-listener-report", 143}}

var icmpv6Codes = symbols{{"no-route", 0}, {"admin-prohibited", 1}, {"addr-unreachable", 3}, {"port-unreachable", 4},
	{"policy-fail", 5}, {"reject-route", 6}}

var igmpTypes = symbols{{"membership-query", 0x11}, {"membership-report-v1", 0x12}, {"membership-report-v2", 0x16},
	{"leave-group", 0x17}, {"membership-report-v3", 0x22}}

var arpOperations = symbols{{"request", 1}, {"reply", 2}, {"rrequest", 3}, {"rreply", 4}, {"inrequest", 8},
	{"inreply", 9}, {"nak", 10}}

var tcpFlags = symbols{{"fin", 1}, {"syn", 2}, {"rst", 4}, {"psh", 8}, {"ack", 16}, {"urg", 32}, {"ecn", 64}, {"cwr", 128}}

var dccpTypes = symbols{{"request", 0}, {"response", 1}, {"data", 2}, {"ack", 3}, {"dataack", 4}, {"closereq", 5},
	{"close", 6}, {"reset", 7}, {"sync", 8}, {"syncack", 9}}

var mobilityTypes = symbols{{"binding-refresh-request", 0}, {"home-test-init", 1}, {"careof-test-init", 2},
	{"home-test", 3}, {"careof-test", 4}, {"binding-update", 5}, {"binding-acknowledgement", 6}, {"binding-error", 7},
	{"fast-binding-update", 8}, {"fast-binding-acknowledgement", 9}, {"fast-binding-advertisement", 10},
	{"experimental-mobility-header", 11}, {"home-agent-switch-message", 12}}

var dscpNames = symbols{{"cs0", 0}, {"df", 0}, {"be", 0}, {"cs1", 8}, {"cs2", 16}, {"cs3", 24}, {"cs4", 32}, {"cs5", 40},
	{"cs6", 48}, {"cs7", 56}, {"lephb", 1}, {"af11", 10}, {"af12", 12}, {"af13", 14}, {"af21", 18}, {"af22", 20},
	{"af23", 22}, {"af31", 26}, {"af32", 28}, {"af33", 30}, {"af41", 34}, {"af42", 36}, {"af43", 38}, {"va", 44},
	{"ef", 46}}

var ecnNames = symbols{{"not-ect", 0}, {"ect1", 1}, {"ect0", 2}, {"ce", 3}}

var pktTypes = symbols{{"host", 0}, {"unicast", 0}, {"broadcast", 1}, {"multicast", 2}, {"other", 3}}
