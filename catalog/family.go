package catalog

// Family is a netfilter protocol family, with the kernel's number.
// Ref: include/uapi/linux/netfilter.h, enum nf_inet/NFPROTO.
type Family uint8

// The families that nftables knows.
const (
	FamilyUnspec Family = 0
	FamilyInet   Family = 1
	FamilyIP     Family = 2
	FamilyARP    Family = 3
	FamilyNetdev Family = 5
	FamilyBridge Family = 7
	FamilyIP6    Family = 10
)

// Families lists them in the order of the documentation.
var Families = []Family{FamilyIP, FamilyIP6, FamilyInet, FamilyARP, FamilyBridge, FamilyNetdev}

func (f Family) String() string {
	switch f {
	case FamilyInet:
		return "inet"
	case FamilyIP:
		return "ip"
	case FamilyARP:
		return "arp"
	case FamilyNetdev:
		return "netdev"
	case FamilyBridge:
		return "bridge"
	case FamilyIP6:
		return "ip6"
	}
	return "unspec"
}

// FamilyByName finds a family; ok is false for unknown words.
func FamilyByName(name string) (f Family, ok bool) {
	for _, f := range Families {
		if f.String() == name {
			return f, true
		}
	}
	return FamilyUnspec, false
}

// VerdictKind is the code of a verdict, with the kernel's numbers.
// Ref: include/uapi/linux/netfilter/nf_tables.h, enum nft_verdicts.
type VerdictKind int32

// The verdicts.
const (
	VerdictContinue VerdictKind = -1
	VerdictBreak    VerdictKind = -2
	VerdictJump     VerdictKind = -3
	VerdictGoto     VerdictKind = -4
	VerdictReturn   VerdictKind = -5
	VerdictDrop     VerdictKind = 0
	VerdictAccept   VerdictKind = 1
	VerdictStolen   VerdictKind = 2
	VerdictQueue    VerdictKind = 3
)

func (v VerdictKind) String() string {
	switch v {
	case VerdictContinue:
		return "continue"
	case VerdictBreak:
		return "break"
	case VerdictJump:
		return "jump"
	case VerdictGoto:
		return "goto"
	case VerdictReturn:
		return "return"
	case VerdictDrop:
		return "drop"
	case VerdictAccept:
		return "accept"
	case VerdictStolen:
		return "stolen"
	case VerdictQueue:
		return "queue"
	}
	return "unknown"
}
