package workload

import (
	"net/netip"
	"strconv"
	"time"

	"verdict/capture"
)

// The gateway's interfaces, as indexes of GatewayInterfaces.
const (
	lan = iota
	wan
)

// The hosts of the gateway's capture.
var (
	gatewayLAN = newStation(0x81, "192.168.1.1", "2001:db8:1::1")
	gatewayWAN = newStation(0x82, "203.0.113.7", "2001:db8:0:7::7")
	provider   = newStation(0xf1, "203.0.113.1", "2001:db8:0:7::1")
	homeServer = newStation(0x20, "192.168.1.20", "2001:db8:1::20")
)

func itoa(n int) string { return strconv.Itoa(n) }

// GatewayInterfaces describes the interfaces of the frames of Gateway.
func GatewayInterfaces() []capture.Interface {
	describe := func(name, what string, s *station, lengths ...int) capture.Interface {
		return capture.Interface{Name: name, Description: what, LinkType: linkEthernet, MAC: s.mac, HasMAC: true,
			Addresses: []netip.Prefix{netip.PrefixFrom(s.ipv4, lengths[0]), netip.PrefixFrom(s.ipv6, lengths[1])}}
	}
	return []capture.Interface{
		describe("lan0", "home network", &gatewayLAN, 24, 64),
		describe("wan0", "internet", &gatewayWAN, 24, 64),
	}
}

// Gateway returns some 3,000 frames of a home gateway within ten minutes: all
// that it received on lan0 (192.168.1.1/24, 2001:db8:1::1/64) and wan0
// (203.0.113.7/24, 2001:db8:0:7::7/64), and those it sent itself. What it
// forwarded is there once, as it came in; answers to IPv4 connections from
// inside come in to 203.0.113.7 and the port that the client had.
//
//	192.168.1.101-106, 2001:db8:1::101-106  hosts of the household
//	192.168.1.201-203                       guests
//	192.168.1.20                            serves port 8080, which 203.0.113.7:8080 leads to
//	203.0.113.53                            the provider's resolver, which the gateway asks
//	203.0.113.123                           its time server
//	198.51.100.66, 198.51.100.67            block-listed: a host of the household calls them
//	198.51.100.192-255                      block-listed: probes from outside come from there
//	198.51.100.10-49, 2001:db8:cafe::10-49  servers in the internet
//	203.0.113.200-220                       visitors of port 8080
//	198.51.100.13                           sends odd and damaged packets
func Gateway(seed uint64) []capture.Frame {
	g := gatewayScene{trace{random: random{seed}, names: []string{lan: "lan0", wan: "wan0"}}}
	g.household()
	g.guests()
	g.portForward()
	g.blocked()
	g.ownTraffic()
	g.links()
	g.knocking()
	from := g.fromOutside("198.51.100.13", 40000, 443)
	g.oddFrames(90*time.Second, 40*time.Second, from.forward)
	return g.sorted()
}

type gatewayScene struct{ trace }

// client is host n of the household or a guest.
func client(n int) station {
	return newStation(byte(n), "192.168.1."+itoa(n), "2001:db8:1::"+itoa(n))
}

// outward is a forwarded flow from a host inside to one in the internet,
// whose IPv4 source address the gateway translates.
func (g *gatewayScene) outward(from *station, to string, dstPort uint16) flow {
	dst, port := netip.MustParseAddr(to), g.port()
	src, outside := from.ipv4, gatewayWAN.ipv4
	if dst.Is6() {
		src, outside = from.ipv6, from.ipv6
	}
	return flow{
		forward: leg{iface: lan, direction: capture.Inbound, srcMAC: from.mac, dstMAC: gatewayLAN.mac,
			src: netip.AddrPortFrom(src, port), dst: netip.AddrPortFrom(dst, dstPort), ttl: 64},
		reverse: leg{iface: wan, direction: capture.Inbound, srcMAC: provider.mac, dstMAC: gatewayWAN.mac,
			src: netip.AddrPortFrom(dst, dstPort), dst: netip.AddrPortFrom(outside, port), ttl: uint8(g.between(48, 60))},
	}
}

// fromOutside is a flow from the internet to the gateway itself.
func (g *gatewayScene) fromOutside(from string, srcPort, dstPort uint16) flow {
	src, dst := netip.MustParseAddr(from), gatewayWAN.ipv4
	if src.Is6() {
		dst = gatewayWAN.ipv6
	}
	return mirrored(leg{iface: wan, direction: capture.Inbound, srcMAC: provider.mac, dstMAC: gatewayWAN.mac,
		src: netip.AddrPortFrom(src, srcPort), dst: netip.AddrPortFrom(dst, dstPort), ttl: uint8(g.between(44, 58))}, 64)
}

// toGateway is a flow from a host inside to the gateway itself.
func (g *gatewayScene) toGateway(from *station, dstPort uint16) flow {
	return mirrored(leg{iface: lan, direction: capture.Inbound, srcMAC: from.mac, dstMAC: gatewayLAN.mac,
		src: netip.AddrPortFrom(from.ipv4, g.port()), dst: netip.AddrPortFrom(gatewayLAN.ipv4, dstPort), ttl: 64}, 64)
}

// own is a flow that the gateway starts towards the provider's side.
func (g *gatewayScene) own(to string, dstPort uint16) flow {
	f := g.fromOutside(to, dstPort, g.port())
	return flow{forward: f.reverse, reverse: f.forward}
}

// internet returns a server's address.
func (g *gatewayScene) internet() string { return "198.51.100." + itoa(g.between(10, 49)) }

var names = []string{"www.example.com", "cdn.example.net", "mail.example.org", "video.example.com", "api.example.net"}

// browse adds what a host does to open a page: it asks the gateway for the
// name, which may ask the provider, then connects.
func (g *gatewayScene) browse(from *station, at time.Duration) {
	name, server := pick(&g.random, names), g.internet()
	rtt := g.delay(300*time.Microsecond, time.Millisecond)
	if g.below(2) == 0 {
		rtt = g.delay(9*time.Millisecond, 14*time.Millisecond)
		g.resolve(at+300*time.Microsecond, g.own("203.0.113.53", 53), 8*time.Millisecond, name, netip.MustParseAddr(server))
	}
	g.resolve(at, g.toGateway(from, 53), rtt, name, netip.MustParseAddr(server))
	at += 20 * time.Millisecond
	delay := g.delay(10*time.Millisecond, 60*time.Millisecond)
	if g.below(5) == 0 {
		g.tcp(at, g.outward(from, server, 80), delay, []exchange{g.http(name, g.between(300, 2500))}, closed)
		return
	}
	g.tcp(at, g.outward(from, server, 443), delay, g.tls(g.between(1, 3), 1200), closed)
}

func (g *gatewayScene) household() {
	for range 36 {
		host := client(g.between(101, 106))
		g.browse(&host, g.moment(550))
	}
	for range 8 {
		host := client(g.between(101, 106))
		g.tcp(g.moment(550), g.outward(&host, "2001:db8:cafe::"+itoa(g.between(10, 49)), 443), 25*time.Millisecond, g.tls(2, 1000), closed)
	}
	for n := range 4 {
		host := client(101 + n)
		g.ping(time.Duration(n)*100*time.Second, pinging(g.outward(&host, g.internet(), 0)), 12*time.Millisecond, 4)
		g.ping(time.Duration(n)*100*time.Second, pinging(g.toGateway(&host, 0)), 300*time.Microsecond, 2)
		g.ntp(time.Duration(n)*64*time.Second, g.outward(&host, "198.51.100.40", 123), 15*time.Millisecond)
	}
	admin := client(101)
	g.tcp(30*time.Second, g.toGateway(&admin, 22), 400*time.Microsecond, g.ssh(20), closed)
	video := client(102) // a call over UDP, both ways
	call := g.outward(&video, "198.51.100.44", 3478)
	for n := range 120 {
		g.ask(310*time.Second+time.Duration(n)*20*time.Millisecond, call, 18*time.Millisecond, g.bytes(g.between(60, 180)), g.bytes(g.between(60, 180)))
	}
}

// pinging takes the ports off a flow.
func pinging(f flow) flow {
	for _, l := range []*leg{&f.forward, &f.reverse} {
		l.src, l.dst = netip.AddrPortFrom(l.src.Addr(), 0), netip.AddrPortFrom(l.dst.Addr(), 0)
	}
	return f
}

// guests browse, and try what they should not.
func (g *gatewayScene) guests() {
	for n := range 3 {
		guest := client(201 + n)
		g.dhcp(time.Duration(n)*40*time.Second+5*time.Second, lan, &guest, &gatewayLAN, capture.Inbound)
		for range 4 {
			g.browse(&guest, time.Duration(n)*40*time.Second+10*time.Second+g.moment(400))
		}
		for _, port := range []uint16{22, 80, 443} { // the gateway's own services
			g.probe(200*time.Second+g.moment(100), g.toGateway(&guest, port), flagSYN, 0)
		}
		g.probe(300*time.Second+g.moment(100), g.outward(&guest, g.internet(), 25), flagSYN, 0) // mail from a guest
	}
}

// portForward adds visitors of the server inside.
func (g *gatewayScene) portForward() {
	for range 14 {
		visitor := netip.MustParseAddr("203.0.113." + itoa(g.between(200, 220)))
		port := g.port()
		f := flow{
			forward: leg{iface: wan, direction: capture.Inbound, srcMAC: provider.mac, dstMAC: gatewayWAN.mac,
				src: netip.AddrPortFrom(visitor, port), dst: netip.AddrPortFrom(gatewayWAN.ipv4, 8080), ttl: uint8(g.between(44, 58))},
			reverse: leg{iface: lan, direction: capture.Inbound, srcMAC: homeServer.mac, dstMAC: gatewayLAN.mac,
				src: netip.AddrPortFrom(homeServer.ipv4, 8080), dst: netip.AddrPortFrom(visitor, port), ttl: 64},
		}
		g.tcp(g.moment(560), f, 35*time.Millisecond, []exchange{g.http("home.example.com:8080", g.between(200, 1800))}, closed)
	}
}

// blocked adds connections to and from block-listed addresses.
func (g *gatewayScene) blocked() {
	infected := client(105)
	for n := range 30 {
		to := []string{"198.51.100.66", "198.51.100.67"}[n%2]
		g.probe(time.Duration(n)*19*time.Second+g.moment(3), g.outward(&infected, to, pick(&g.random, []uint16{443, 6667, 8443})), flagSYN, 0)
	}
	for range 90 {
		from := "198.51.100." + itoa(g.between(192, 255))
		f := g.fromOutside(from, g.port(), pick(&g.random, []uint16{22, 23, 80, 445, 3389, 5555, 8080}))
		g.probe(g.moment(590), f, flagSYN, 0)
	}
}

func (g *gatewayScene) ownTraffic() {
	for n := range 9 {
		g.ntp(time.Duration(n)*64*time.Second+7*time.Second, g.own("203.0.113.123", 123), 9*time.Millisecond)
	}
	g.tcp(400*time.Second, g.own("198.51.100.30", 443), 22*time.Millisecond, g.tls(2, 1200), closed)
	g.ping(450*time.Second, pinging(g.own("203.0.113.1", 0)), 2*time.Millisecond, 5)
}

// links adds address resolution, advertisements and leases on both links.
func (g *gatewayScene) links() {
	for n := range 6 {
		host := client(101 + n)
		at := time.Duration(n) * 50 * time.Second
		g.dhcp(at+2*time.Second, lan, &host, &gatewayLAN, capture.Inbound)
		g.arp(at+3*time.Second, lan, &host, &gatewayLAN, capture.Inbound, true)
		g.arp(at+30*time.Second, lan, &gatewayLAN, &host, capture.Outbound, true)
		g.solicit(at+4*time.Second, lan, &host, &gatewayLAN, capture.Inbound)
		g.solicit(at+31*time.Second, lan, &gatewayLAN, &host, capture.Outbound)
		g.advertise(at+40*time.Second, lan, &gatewayLAN, netip.MustParseAddr("2001:db8:1::"), capture.Outbound)
		g.advertise(at+45*time.Second, wan, &provider, netip.MustParseAddr("2001:db8:0:7::"), capture.Inbound)
		g.arp(at+46*time.Second, wan, &gatewayWAN, &provider, capture.Outbound, true)
		g.arp(at+47*time.Second, wan, &provider, &gatewayWAN, capture.Inbound, true)
	}
}

// knocking adds what comes from the internet to an address that offers
// nothing.
func (g *gatewayScene) knocking() {
	for range 120 {
		from := "203.0.113." + itoa(g.between(130, 199))
		f := g.fromOutside(from, g.port(), uint16(g.between(1, 10000)))
		g.probe(g.moment(590), f, flagSYN, 0)
	}
	for n := range 20 {
		from := "2001:db8:bad::" + itoa(10+n)
		g.probe(g.moment(590), g.fromOutside(from, g.port(), []uint16{22, 23, 443, 8080}[n%4]), flagSYN, 0)
	}
	g.ping(120*time.Second, pinging(g.fromOutside("203.0.113.140", 0, 0)), 100*time.Microsecond, 8)
}
