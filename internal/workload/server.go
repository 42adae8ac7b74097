package workload

import (
	"net/netip"
	"time"

	"verdict/capture"
)

// The hosts of the server's capture.
var (
	serverHost   = newStation(0x10, "192.0.2.10", "2001:db8:0:2::10")
	serverRouter = newStation(0x01, "192.0.2.1", "2001:db8:0:2::1")
	serverDNS    = newStation(0x53, "192.0.2.53", "2001:db8:0:2::53")
	serverNTP    = newStation(0x7b, "192.0.2.123", "")
	serverDB     = newStation(0x14, "192.0.2.20", "")
	monitor      = newStation(0x1e, "192.0.2.30", "")
)

// Server returns some 3,000 frames as seen on the only interface of the
// server 192.0.2.10 and 2001:db8:0:2::10, within ten minutes. It has no
// firewall yet: closed ports answer. The frames record no direction.
//
//	198.51.100.100-139, 203.0.113.100-139  clients of http and https
//	2001:db8:c::100-10f                    the same over IPv6
//	198.51.100.22                          the administrator, over ssh
//	192.0.2.30                             monitoring: ping and http
//	192.0.2.53, 192.0.2.123, 192.0.2.20    resolver, time server and database that the server uses
//	203.0.113.66, 2001:db8:bad::66         try ssh passwords, 203.0.113.66 at high rate
//	203.0.113.99                           scans ports of TCP and UDP
//	203.0.113.53                           sends DNS queries that want an answer elsewhere
//	203.0.113.13                           sends odd and damaged packets
func Server(seed uint64) []capture.Frame {
	s := serverScene{trace{random: random{seed}, names: []string{""}}}
	s.web()
	s.administration()
	s.ownTraffic()
	s.passwordGuessing()
	s.scan()
	s.overIPv6()
	s.neighbours()
	from := s.inbound("203.0.113.13", 40000, 443)
	s.oddFrames(100*time.Second, 30*time.Second, from.forward)
	s.amplification()
	return s.sorted()
}

type serverScene struct{ trace }

// inbound is a flow from a host beyond the router to the server.
func (s *serverScene) inbound(from string, srcPort, dstPort uint16) flow {
	src := netip.MustParseAddr(from)
	dst := serverHost.ipv4
	if src.Is6() {
		dst = serverHost.ipv6
	}
	return mirrored(leg{srcMAC: serverRouter.mac, dstMAC: serverHost.mac,
		src: netip.AddrPortFrom(src, srcPort), dst: netip.AddrPortFrom(dst, dstPort), ttl: uint8(s.between(44, 58))}, 64)
}

// onLink is a flow from the server to a station of its link.
func (s *serverScene) onLink(to *station, dstPort uint16) flow {
	return mirrored(leg{srcMAC: serverHost.mac, dstMAC: to.mac,
		src: netip.AddrPortFrom(serverHost.ipv4, s.port()), dst: netip.AddrPortFrom(to.ipv4, dstPort), ttl: 64}, 64)
}

// port returns a port that clients use.
func (t *trace) port() uint16 { return uint16(t.between(32768, 60999)) }

// moment returns a time within the first so many seconds.
func (t *trace) moment(seconds int) time.Duration {
	return t.delay(0, time.Duration(seconds)*time.Second)
}

// web adds the sessions of clients.
func (s *serverScene) web() {
	networks := []string{"198.51.100.", "203.0.113."}
	for range 46 {
		client := pick(&s.random, networks) + itoa(s.between(100, 139))
		rtt := s.delay(8*time.Millisecond, 120*time.Millisecond)
		at := s.moment(560)
		if s.below(4) == 0 {
			s.tcp(at, s.inbound(client, s.port(), 80), rtt, []exchange{s.http("www.example.com", s.between(200, 3000))}, closed)
			continue
		}
		end := closed
		if s.below(6) == 0 {
			end = reset
		}
		s.tcp(at, s.inbound(client, s.port(), 443), rtt, s.tls(s.between(1, 3), 1400), end)
	}
	for range 3 { // still open at the end
		client := "198.51.100." + itoa(s.between(100, 139))
		s.tcp(570*time.Second, s.inbound(client, s.port(), 443), 20*time.Millisecond, s.tls(1, 900), abandoned)
	}
}

func (s *serverScene) administration() {
	s.tcp(20*time.Second, s.inbound("198.51.100.22", 51022, 22), 18*time.Millisecond, s.ssh(40), closed)
	s.tcp(300*time.Second, s.inbound("198.51.100.22", 51077, 22), 18*time.Millisecond, s.ssh(25), abandoned)
	watch := mirrored(leg{srcMAC: monitor.mac, dstMAC: serverHost.mac,
		src: netip.AddrPortFrom(monitor.ipv4, 0), dst: netip.AddrPortFrom(serverHost.ipv4, 0), ttl: 64}, 64)
	for n := range 10 {
		at := time.Duration(n) * time.Minute
		s.ping(at, watch, 200*time.Microsecond, 3)
		check := watch
		check.forward.src = netip.AddrPortFrom(monitor.ipv4, s.port())
		check.forward.dst = netip.AddrPortFrom(serverHost.ipv4, 80)
		check = mirrored(check.forward, 64)
		s.tcp(at+5*time.Second, check, 300*time.Microsecond, []exchange{s.http("192.0.2.10", 60)}, closed)
	}
}

// ownTraffic adds what the server itself starts.
func (s *serverScene) ownTraffic() {
	for n := range 12 {
		name := pick(&s.random, []string{"updates.example.net", "api.example.org", "mail.example.com", "db.example.com"})
		s.resolve(s.moment(590), s.onLink(&serverDNS, 53), 400*time.Microsecond, name, netip.AddrFrom4([4]byte{198, 51, 100, byte(n)}))
	}
	for n := range 9 {
		s.ntp(time.Duration(n)*64*time.Second, s.onLink(&serverNTP, 123), 500*time.Microsecond)
	}
	s.tcp(2*time.Second, s.onLink(&serverDB, 5432), 250*time.Microsecond, s.queries(30), abandoned)
	update := s.inbound("198.51.100.7", 443, s.port())
	s.tcp(200*time.Second, flow{forward: update.reverse, reverse: update.forward}, 30*time.Millisecond, s.tls(2, 1500), closed)
}

// queries returns turns of a database connection.
func (t *trace) queries(n int) []exchange {
	list := make([]exchange, n)
	for i := range list {
		list[i] = exchange{t.bytes(t.between(40, 120)), t.bytes(t.between(60, 700))}
	}
	return list
}

func (s *serverScene) passwordGuessing() {
	at := 60 * time.Second
	for range 45 {
		s.tcp(at, s.inbound("203.0.113.66", s.port(), 22), 90*time.Millisecond, s.ssh(0)[:1+s.below(2)], closed)
		at += s.delay(200*time.Millisecond, 900*time.Millisecond)
	}
	for n := range 6 {
		s.tcp(time.Duration(n)*80*time.Second, s.inbound("2001:db8:bad::66", s.port(), 22), 140*time.Millisecond, s.ssh(0)[:1], closed)
	}
}

// scan adds a scan of ports; closed ones answer.
func (s *serverScene) scan() {
	at, open := 150*time.Second, map[int]bool{22: true, 80: true, 443: true}
	source := s.port()
	for n := range 260 {
		port := 1 + n*7%1024
		f := s.inbound("203.0.113.99", source, uint16(port))
		if open[port] {
			s.probe(at, f, flagSYN, flagSYN|flagACK)
			s.probe(at+90*time.Millisecond, f, flagRST, 0)
		} else {
			s.probe(at, f, flagSYN, flagRST|flagACK)
		}
		at += s.delay(5*time.Millisecond, 60*time.Millisecond)
	}
	for _, port := range []uint16{53, 69, 123, 137, 161, 389, 500, 1900, 5060, 11211} {
		s.unreachable(at, s.inbound("203.0.113.99", source, port), s.bytes(20))
		at += s.delay(100*time.Millisecond, 400*time.Millisecond)
	}
}

func (s *serverScene) overIPv6() {
	for range 10 {
		client := "2001:db8:c::10" + pick(&s.random, []string{"0", "1", "2", "3", "4", "5", "a", "b", "f"})
		s.tcp(s.moment(560), s.inbound(client, s.port(), 443), 40*time.Millisecond, s.tls(s.between(1, 2), 1100), closed)
	}
	s.ping(250*time.Second, s.inbound("2001:db8:c::100", 0, 0), 35*time.Millisecond, 5)
	for n := range 4 {
		s.probe(time.Duration(n)*20*time.Second, s.inbound("2001:db8:bad::99", s.port(), []uint16{23, 25, 8080, 3389}[n]), flagSYN, flagRST|flagACK)
	}
}

// neighbours adds address resolution and the router's advertisements.
func (s *serverScene) neighbours() {
	for n, peer := range []*station{&serverRouter, &serverDNS, &serverNTP, &serverDB, &monitor} {
		at := time.Duration(n)*17*time.Second + time.Second
		s.arp(at, 0, &serverHost, peer, capture.DirectionUnknown, true)
		s.arp(at+200*time.Second, 0, peer, &serverHost, capture.DirectionUnknown, true)
		s.arp(at+300*time.Second, 0, peer, &station{ipv4: netip.AddrFrom4([4]byte{192, 0, 2, byte(200 + n)})}, capture.DirectionUnknown, false)
	}
	for n := range 4 {
		at := time.Duration(n)*140*time.Second + 3*time.Second
		s.advertise(at, 0, &serverRouter, netip.MustParseAddr("2001:db8:0:2::"), capture.DirectionUnknown)
		s.solicit(at+time.Second, 0, &serverHost, &serverRouter, capture.DirectionUnknown)
		s.solicit(at+2*time.Second, 0, &serverRouter, &serverHost, capture.DirectionUnknown)
	}
}

// amplification adds queries with spoofed sources to a server of names that
// is not there.
func (s *serverScene) amplification() {
	at := 420 * time.Second
	for range 40 {
		query, _ := dns(uint16(s.next()), "example.com", 255, nil)
		f := s.inbound("203.0.113.53", uint16(s.between(1024, 65000)), 53)
		s.unreachable(at, f, query)
		at += s.delay(2*time.Millisecond, 50*time.Millisecond)
	}
}
