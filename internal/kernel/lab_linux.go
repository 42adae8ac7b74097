package kernel

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"verdict"
	"verdict/catalog"
	"verdict/engine"
	"verdict/host"
	"verdict/nft/netlink"
	"verdict/nft/ruleset"
)

// settings of the namespace: forwarding, and nothing that depends on time.
var settings = []string{
	"ipv4/ip_forward=1", "ipv6/conf/all/forwarding=1",
	"ipv4/conf/all/rp_filter=0", "ipv4/conf/default/rp_filter=0",
	"ipv4/conf/all/send_redirects=0", "ipv4/conf/default/send_redirects=0",
	"ipv4/icmp_ratelimit=0", "ipv4/icmp_msgs_per_sec=1000000", "ipv4/icmp_msgs_burst=1000000",
	"ipv6/icmp/ratelimit=0", "ipv4/conf/all/accept_source_route=1", "ipv4/conf/default/accept_source_route=1",
	"ipv6/conf/all/accept_dad=0", "ipv6/conf/default/accept_dad=0",
	"ipv6/conf/all/accept_ra=0", "ipv6/conf/default/accept_ra=0",
	"netfilter/nf_conntrack_acct=1",
	"ipv6/conf/default/mldv2_unsolicited_report_interval=3600000", "ipv6/auto_flowlabels=0",
}

// Lab is a namespace at work: a router between lan0 and wan0. It belongs to
// the goroutine of InNamespace that opened it.
type Lab struct {
	Host *host.Host
	base *verdict.Ruleset // the tracer's tables, beside which cases are loaded

	taps    map[string]int
	control *socket
	tracer  *tracer
	buf     []byte
	tracks  map[catalog.Family]bool // families that the case before had tracked
	left    Frame                   // the last frame that left during the case at hand
}

// OpenLab sets the namespace of the calling goroutine up. The goroutine must
// be one of InNamespace, and the namespace is refused otherwise.
func OpenLab() (*Lab, error) {
	if !inside() {
		return nil, errOutside
	}
	l := &Lab{taps: map[string]int{}, buf: make([]byte, 64<<10)}
	if err := l.open(); err != nil {
		l.Close()
		return nil, fmt.Errorf("open lab: %w", err)
	}
	return l, nil
}

func (l *Lab) open() error {
	// Where connection tracking is a module, its settings are not there before
	// it is; where it is built in, there may be no modprobe.
	_, _ = tool("", "modprobe", "nf_conntrack")
	if err := l.configure(settings); err != nil {
		return err
	}
	for _, name := range interfaceNames {
		fd, err := openTAP(name)
		if err != nil {
			return fmt.Errorf("device %s: %w", name, err)
		}
		l.taps[name] = fd
	}
	if _, err := tool(commands(), "ip", "-batch", "-"); err != nil {
		return err
	}
	var err error
	if l.control, err = openSocket(0); err != nil {
		return err
	}
	if l.tracer, err = newTracer(); err != nil {
		return err
	}
	if l.Host, err = describe(); err != nil {
		return err
	}
	return l.loadTracer()
}

func (l *Lab) configure(list []string) error {
	for _, s := range list {
		name, value, _ := strings.Cut(s, "=")
		if err := sysctl(name, value); err != nil {
			return err
		}
	}
	return nil
}

// Close gives the devices and sockets back.
func (l *Lab) Close() {
	for _, fd := range l.taps {
		unix.Close(fd)
	}
	if l.control != nil {
		l.control.close()
	}
	if l.tracer != nil {
		l.tracer.close()
	}
}

// commands set the interfaces, addresses, neighbours and routes up.
func commands() string {
	lines := []string{
		"link set lo up", "link set dev lan0 address " + lanMAC, "link set dev wan0 address " + wanMAC,
		"addr add 10.0.0.1/24 dev lan0", "addr add fd00:1::1/64 dev lan0 nodad",
		"addr add 203.0.113.1/24 dev wan0", "addr add 2001:db8::1/64 dev wan0 nodad",
		"link set lan0 up group 10", "link set wan0 up group 20",
	}
	for n := 2; n < 16; n++ {
		for _, s := range []struct{ v4, v6, device, mac string }{
			{"10.0.0.", "fd00:1::", "lan0", "02:00:00:00:01:"}, {"203.0.113.", "2001:db8::", "wan0", "02:00:00:00:02:"},
		} {
			lines = append(lines, fmt.Sprintf("neigh add %s%d lladdr %s%02x dev %s nud permanent", s.v4, n, s.mac, n, s.device),
				fmt.Sprintf("neigh add %s%x lladdr %s%02x dev %s nud permanent", s.v6, n, s.mac, n, s.device))
		}
	}
	for _, r := range []string{
		"192.168.0.0/16 via 10.0.0.2 dev lan0", "172.16.0.0/12 via 10.0.0.3 dev lan0",
		"198.51.100.0/24 via 203.0.113.3 dev wan0", "192.0.2.0/24 via 203.0.113.4 dev wan0", "default via 203.0.113.2 dev wan0",
		"fd00:2::/48 via fd00:1::2 dev lan0", "fd00:3::/48 via fd00:1::3 dev lan0",
		"2001:db8:1::/48 via 2001:db8::3 dev wan0", "2001:db8:2::/48 via 2001:db8::4 dev wan0", "default via 2001:db8::2 dev wan0",
		"unreachable 10.99.0.0/16", "blackhole 10.98.0.0/16", "unreachable fd00:99::/48",
	} {
		lines = append(lines, "route add "+r)
	}
	return strings.Join(lines, "\n") + "\n"
}

// settleTracking waits until the kernel has stopped tracking a family that the
// case before had tracked: it does so some time after the rules are deleted, and
// nat chains run where packets are tracked.
func (l *Lab) settleTracking(c *Case, e *engine.Engine) {
	now := map[catalog.Family]bool{}
	for _, f := range []catalog.Family{catalog.FamilyIP, catalog.FamilyIP6} {
		now[f] = e.Tracks(f)
		if l.tracks[f] && !now[f] && strings.Contains(c.Ruleset, "type nat") {
			time.Sleep(50 * time.Millisecond)
		}
	}
	l.tracks = now
}

// ownIPv6 are the router's addresses for which the kernel makes routes in its
// own time.
var ownIPv6 = []string{"fd00:1::1", "2001:db8::1", "fe80::ff:fe00:101", "fe80::ff:fe00:201"}

// settle waits until the kernel has made its routes.
func settle() error {
	var missing string
	for range 500 {
		text, err := tool("", "ip", "-6", "route", "show", "table", "local")
		if err != nil {
			return err
		}
		missing = ""
		for _, a := range ownIPv6 {
			if !strings.Contains(string(text), "local "+a+" ") {
				missing = a
			}
		}
		if missing == "" {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("no local route for %s", missing)
}

// describe reads what the engine must know of the host.
func describe() (*host.Host, error) {
	if err := settle(); err != nil {
		return nil, err
	}
	var inputs []host.Input
	for _, args := range []string{"-N -d -j addr", "-N -j route show table all", "-N -6 -j route show table all", "-j neigh"} {
		text, err := tool("", "ip", strings.Fields(args)...)
		if err != nil {
			return nil, err
		}
		if len(strings.TrimSpace(string(text))) == 0 {
			continue
		}
		inputs = append(inputs, host.Input{Name: "ip " + args, Text: text})
	}
	return host.FromIPJSON(inputs...)
}

// openTAP makes a TAP device; frames written to it are received by the host at
// once, in the writer's context.
// Ref: drivers/net/tun.c, tun_get_user.
func openTAP(name string) (int, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		unix.Close(fd)
		return 0, err
	}
	return fd, nil
}

// Inject hands a frame to the host. Errors of the device, for frames it does
// not take, are no errors here: the host has seen nothing.
func (l *Lab) Inject(f *Frame) error {
	_, err := unix.Write(l.taps[f.Interface], f.Data)
	if errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}

// Drain returns the frames that left since the last call.
func (l *Lab) Drain() ([]Frame, error) {
	var list []Frame
	for _, name := range interfaceNames {
		for {
			n, err := unix.Read(l.taps[name], l.buf)
			if errors.Is(err, unix.EAGAIN) {
				break
			}
			if err != nil {
				return list, err
			}
			list = append(list, Frame{name, append([]byte(nil), l.buf[:n]...)})
		}
	}
	return list, nil
}

// Load sends a batch, and returns what the kernel refused.
func (l *Lab) Load(changes []ruleset.Change, base *ruleset.Ruleset) ([]Refusal, error) {
	messages, err := netlink.Batch(changes, netlink.BatchOptions{Base: base})
	if err != nil {
		return nil, err
	}
	return l.control.batch(messages)
}

// getTables asks for all tables.
func getTables() netlink.Message { return netlink.Message{Type: netlink.GetTable} }

// ReadBack reads the kernel's ruleset. The tracer's own tables are left out.
func (l *Lab) ReadBack(now int64) (*netlink.Dump, error) {
	var all []netlink.Message
	for _, t := range []netlink.Type{netlink.GetTable, netlink.GetChain, netlink.GetObj, netlink.GetSet} {
		list, err := l.control.dump(netlink.Message{Type: t})
		if err != nil {
			return nil, fmt.Errorf("dump %d: %w", t, err)
		}
		all = append(all, list...)
		if t != netlink.GetSet {
			continue
		}
		for i := range list {
			elements, err := l.control.dump(netlink.ElementsOf(&list[i]))
			if err != nil {
				return nil, fmt.Errorf("dump elements: %w", err)
			}
			all = append(all, elements...)
		}
	}
	for _, t := range []netlink.Type{netlink.GetFlowtable, netlink.GetRule} {
		list, err := l.control.dump(netlink.Message{Type: t})
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL) {
			continue // a kernel without flowtables
		}
		if err != nil {
			return nil, fmt.Errorf("dump %d: %w", t, err)
		}
		all = append(all, list...)
	}
	d, err := netlink.Decode(all, now)
	if err != nil {
		return nil, err
	}
	d.Rules.Tables = withoutTracer(d.Rules.Tables)
	return d, nil
}

func withoutTracer(tables []*ruleset.Table) (kept []*ruleset.Table) {
	for _, t := range tables {
		if t.Name != tracerTable {
			kept = append(kept, t)
		}
	}
	return kept
}
