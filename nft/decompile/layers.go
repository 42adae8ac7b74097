package decompile

import "verdict/catalog"

// unknownProtocol stands for a protocol that was tested for but is none of
// ours.
var unknownProtocol = &catalog.Protocol{Selector: -1}

// etherBits and vlanBits are the sizes of the stacked link-layer headers.
const (
	etherBits = 112
	vlanBits  = 32
)

// layers is what a rule has said about the protocols of the packet so far,
// and which of its statements said so.
type layers struct {
	family    catalog.Family
	link      []*catalog.Protocol // Ethernet, then VLAN headers
	network   *catalog.Protocol   // nil: not known
	transport *catalog.Protocol
	icmpType  int // -1: not known
	// routingType is the type of routing header that was tested, -1 if none.
	routingType int
	deps        dependencies
}

var (
	linkOfBridge = []*catalog.Protocol{catalog.Ether}
	linkOfTag    = []*catalog.Protocol{catalog.Ether, catalog.VLAN}
)

func (l *layers) init(family catalog.Family) {
	*l = layers{family: family, icmpType: -1, routingType: -1}
	switch family {
	case catalog.FamilyIP:
		l.network = catalog.IP
	case catalog.FamilyIP6:
		l.network = catalog.IP6
	case catalog.FamilyARP:
		l.network = catalog.ARP
	case catalog.FamilyBridge:
		l.link = linkOfBridge
	}
	l.deps.reset()
}

// headerAt finds the header that holds a bit offset of a base, and where that
// header starts. It is nil if the protocol there is not known.
func (l *layers) headerAt(base catalog.Base, offset int) (p *catalog.Protocol, start int) {
	switch base {
	case catalog.BaseLink:
		if len(l.link) == 0 || offset < etherBits {
			if len(l.link) == 0 {
				return nil, 0
			}
			return l.link[0], 0
		}
		i := 1 + (offset-etherBits)/vlanBits
		if i >= len(l.link) {
			return nil, 0
		}
		return l.link[i], etherBits + (i-1)*vlanBits
	case catalog.BaseNetwork:
		return known(l.network), 0
	case catalog.BaseTransport:
		return known(l.transport), 0
	}
	return nil, 0
}

func known(p *catalog.Protocol) *catalog.Protocol {
	if p == unknownProtocol {
		return nil
	}
	return p
}

func orUnknown(p *catalog.Protocol) *catalog.Protocol {
	if p == nil {
		return unknownProtocol
	}
	return p
}

// learnMeta takes note of `KEY value`.
// Ref: nft's meta keys nfproto, protocol, l4proto and iiftype.
func (l *layers) learnMeta(key string, value uint64) {
	switch key {
	case "iiftype":
		if value == 1 {
			l.link = linkOfBridge
		}
	case "nfproto":
		switch value {
		case uint64(catalog.FamilyIP):
			l.network = catalog.IP
		case uint64(catalog.FamilyIP6):
			l.network = catalog.IP6
		case uint64(catalog.FamilyARP):
			l.network = catalog.ARP
		default:
			l.network = unknownProtocol
		}
	case "protocol":
		if l.family == catalog.FamilyBridge || l.family == catalog.FamilyNetdev {
			l.learnEtherType(value)
		}
	case "l4proto":
		l.transport = orUnknown(catalog.TransportByNumber(value))
	}
}

func (l *layers) learnEtherType(value uint64) {
	p := catalog.NetworkByEtherType(value)
	if p != nil && p.Base == catalog.BaseLink {
		if len(l.link) < 2 {
			l.link = linkOfTag
		}
		return
	}
	l.network = orUnknown(p)
}

// learnField takes note of a header field that has a value.
func (l *layers) learnField(p *catalog.Protocol, f *catalog.Field, value uint64) {
	if (p == catalog.ICMP || p == catalog.ICMPv6) && f.Offset == 0 {
		l.icmpType = int(value)
		return
	}
	if p.Selector < 0 || &p.Fields[p.Selector] != f {
		return
	}
	next := p.NextByValue(value)
	switch p.Base {
	case catalog.BaseLink:
		if next != nil && next.Base == catalog.BaseLink {
			if p == catalog.Ether {
				l.link = linkOfTag
			} else {
				l.link = append(l.link[:len(l.link):len(l.link)], next)
			}
			return
		}
		l.network = orUnknown(next)
	case catalog.BaseNetwork:
		l.transport = orUnknown(next)
	case catalog.BaseTransport:
		if p == catalog.AH || p == catalog.Comp {
			l.transport = orUnknown(next)
		}
	}
}
