package catalog

var nfProtoSymbols = []Symbol{{"ipv4", 2}, {"ipv6", 10}}

var etherTypeSymbols = []Symbol{
	{"ip", 0x0800}, {"arp", 0x0806}, {"ip6", 0x86dd}, {"8021q", 0x8100}, {"8021ad", 0x88a8}, {"vlan", 0x8100},
}

var arpOpSymbols = []Symbol{
	{"request", 1}, {"reply", 2}, {"rrequest", 3}, {"rreply", 4}, {"inrequest", 8}, {"inreply", 9}, {"nak", 10},
}

var tcpFlagSymbols = []Symbol{
	{"fin", 0x01}, {"syn", 0x02}, {"rst", 0x04}, {"psh", 0x08},
	{"ack", 0x10}, {"urg", 0x20}, {"ecn", 0x40}, {"cwr", 0x80},
}

var dccpTypeSymbols = []Symbol{
	{"request", 0}, {"response", 1}, {"data", 2}, {"ack", 3}, {"dataack", 4},
	{"closereq", 5}, {"close", 6}, {"reset", 7}, {"sync", 8}, {"syncack", 9},
}

var mhTypeSymbols = []Symbol{
	{"binding-refresh-request", 0}, {"home-test-init", 1}, {"careof-test-init", 2}, {"home-test", 3},
	{"careof-test", 4}, {"binding-update", 5}, {"binding-acknowledgement", 6}, {"binding-error", 7},
	{"fast-binding-update", 8}, {"fast-binding-acknowledgement", 9}, {"fast-binding-advertisement", 10},
	{"experimental-mobility-header", 11}, {"home-agent-switch-message", 12},
}

var dscpSymbols = []Symbol{
	{"cs0", 0}, {"cs1", 8}, {"cs2", 16}, {"cs3", 24}, {"cs4", 32}, {"cs5", 40}, {"cs6", 48}, {"cs7", 56},
	{"df", 0}, {"be", 0}, {"lephb", 1},
	{"af11", 10}, {"af12", 12}, {"af13", 14}, {"af21", 18}, {"af22", 20}, {"af23", 22},
	{"af31", 26}, {"af32", 28}, {"af33", 30}, {"af41", 34}, {"af42", 36}, {"af43", 38},
	{"va", 44}, {"ef", 46},
}

var ecnSymbols = []Symbol{{"not-ect", 0}, {"ect1", 1}, {"ect0", 2}, {"ce", 3}}

var mptcpSubtypeSymbols = []Symbol{
	{"mp-capable", 0}, {"mp-join", 1}, {"dss", 2}, {"add-addr", 3}, {"remove-addr", 4},
	{"mp-prio", 5}, {"mp-fail", 6}, {"mp-fastclose", 7}, {"mp-tcprst", 8},
}
