package tc

import (
	"fmt"
	"strings"
)

// protocolNames are the names of link protocols, the first of a number is the
// one that listings use.
var protocolNames = []struct {
	name   string
	number uint16
}{
	{"loop", 0x0060}, {"pup", 0x0200}, {"pupat", 0x0201}, {"ip", 0x0800}, {"x25", 0x0805}, {"arp", 0x0806},
	{"bpq", 0x08ff}, {"ieeepup", 0x0a00}, {"ieeepupat", 0x0a01}, {"dec", 0x6000}, {"dna_dl", 0x6001},
	{"dna_rc", 0x6002}, {"dna_rt", 0x6003}, {"lat", 0x6004}, {"diag", 0x6005}, {"cust", 0x6006}, {"sca", 0x6007},
	{"rarp", 0x8035}, {"atalk", 0x809b}, {"aarp", 0x80f3}, {"ipx", 0x8137}, {"ipv6", 0x86dd}, {"ppp_disc", 0x8863},
	{"ppp_ses", 0x8864}, {"atmmpoa", 0x884c}, {"atmfate", 0x8884}, {"802_3", 0x0001}, {"ax25", 0x0002}, {"all", 0x0003},
	{"802_2", 0x0004}, {"snap", 0x0005}, {"LLDP", 0x88cc}, {"ddcmp", 0x0006}, {"wan_ppp", 0x0007}, {"ppp_mp", 0x0008},
	{"localtalk", 0x0009}, {"can", 0x000c}, {"ppptalk", 0x0010}, {"tr_802_2", 0x0011}, {"mobitex", 0x0015},
	{"control", 0x0016}, {"irda", 0x0017}, {"econet", 0x0018}, {"tipc", 0x88ca}, {"profinet", 0x8892}, {"aoe", 0x88a2},
	{"ethercat", 0x88a4}, {"802.1Q", 0x8100}, {"802.1ad", 0x88a8}, {"mpls_uc", 0x8847}, {"mpls_mc", 0x8848},
	{"teb", 0x6558}, {"ll_1588", 0x88f7}, {"cfm", 0x8902}, {"ipv4", 0x0800},
}

// protocol reads a link protocol: a name without regard to case, or a number.
//
// Ref: iproute2, link protocol names of tc(8)
func protocol(s string) (uint16, bool) {
	for _, p := range protocolNames {
		if strings.EqualFold(p.name, s) {
			return p.number, true
		}
	}
	return number16(s, 0)
}

// protocolName writes a link protocol; unknown ones in brackets, in decimal.
func protocolName(p uint16) string {
	if p == 0x88f7 {
		return "[35063]"
	}
	for _, known := range protocolNames {
		if known.number == p {
			return known.name
		}
	}
	return fmt.Sprintf("[%d]", p)
}
