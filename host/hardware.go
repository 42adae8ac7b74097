package host

// ARPHRD_ numbers of the two common hardware types.
const (
	typeEther    = 1
	typeLoopback = 772
)

// hardwareTypes are the names that the ip command gives to ARPHRD_ numbers.
//
// Ref: include/uapi/linux/if_arp.h
var hardwareTypes = map[string]uint16{
	"netrom": 0, "ether": typeEther, "eether": 2, "ax25": 3, "pronet": 4, "chaos": 5,
	"ieee802": 6, "arcnet": 7, "atalk": 8, "dlci": 15, "atm": 19, "metricom": 23,
	"ieee1394": 24, "eui64": 27, "infiniband": 32, "slip": 256, "cslip": 257, "slip6": 258,
	"cslip6": 259, "rsrvd": 260, "adapt": 264, "rose": 270, "x25": 271, "hwx25": 272,
	"can": 280, "mctp": 290, "ppp": 512, "hdlc": 513, "lapb": 516, "ddcmp": 517,
	"rawhdlc": 518, "rawip": 519, "ipip": 768, "tunnel6": 769, "frad": 770, "skip": 771,
	"loopback": typeLoopback, "ltalk": 773, "fddi": 774, "bif": 775, "sit": 776,
	"ip/ddp": 777, "gre": 778, "pimreg": 779, "hippi": 780, "ash": 781, "econet": 782,
	"irda": 783, "fcpp": 784, "fcal": 785, "fcpl": 786, "ieee802.11": 801,
	"ieee802.11/prism": 802, "ieee802.11/radiotap": 803, "ieee802.15.4": 804,
	"ieee802.15.4/monitor": 805, "phonet": 820, "phonet_pipe": 821, "caif": 822,
	"ip6gre": 823, "gre6": 823, "netlink": 824, "6lowpan": 825, "vsockmon": 826,
	"none": 65534, "void": 65535,
}

// hardwareName returns the name for a number, "" when there is none.
func hardwareName(number uint16) string {
	best := ""
	for name, known := range hardwareTypes {
		if known == number && (best == "" || name < best) {
			best = name
		}
	}
	return best
}
