package catalog

var ifTypeSymbols = []Symbol{
	{"ether", 1}, {"ppp", 0x200}, {"ipip", 0x300}, {"ipip6", 0x301}, {"loopback", 0x304}, {"sit", 0x308}, {"ipgre", 0x30a},
}

var pktTypeSymbols = []Symbol{{"host", 0}, {"unicast", 0}, {"broadcast", 1}, {"multicast", 2}, {"other", 3}}

var fibTypeSymbols = []Symbol{
	{"unspec", 0}, {"unicast", 1}, {"local", 2}, {"broadcast", 3}, {"anycast", 4},
	{"multicast", 5}, {"blackhole", 6}, {"unreachable", 7}, {"prohibit", 8},
}

var booleanSymbols = []Symbol{{"exists", 1}, {"missing", 0}}

var daySymbols = []Symbol{
	{"Sunday", 0}, {"Monday", 1}, {"Tuesday", 2}, {"Wednesday", 3}, {"Thursday", 4}, {"Friday", 5}, {"Saturday", 6},
}

var classIDSymbols = []Symbol{{"none", 0}, {"root", 0xffffffff}}

// The entries that the name files of iproute2 have everywhere.
var (
	realmSymbols    = []Symbol{{"cosmos", 0}}
	devGroupSymbols = []Symbol{{"default", 0}}
)

// LogLevels are the levels of the log statement; the last hands the packet to
// the audit system.
var LogLevels = []Symbol{
	{"emerg", 0}, {"alert", 1}, {"crit", 2}, {"err", 3}, {"warn", 4}, {"notice", 5}, {"info", 6}, {"debug", 7}, {"audit", 8},
}

// LogLevelAliases are further names of levels.
var LogLevelAliases = []Symbol{{"warning", 4}, {"error", 3}, {"panic", 0}}
