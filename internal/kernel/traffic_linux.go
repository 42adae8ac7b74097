package kernel

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"verdict"
	"verdict/diag"
	"verdict/host"
	"verdict/nft/ruleset"
	"verdict/tc"
)

// TrafficAvailable tells why tc cannot be compared here, nil if it can.
func TrafficAvailable() error {
	if err := Available(); err != nil {
		return err
	}
	if _, err := exec.LookPath("tc"); err != nil {
		return errors.New("the oracle of tc needs the command tc")
	}
	return InNamespace(func() error {
		fd, err := openTAP("t0")
		if err != nil {
			return fmt.Errorf("no TAP devices: %w", err)
		}
		defer unix.Close(fd)
		out, err := tool("qdisc add dev t0 clsact\nfilter add dev t0 ingress protocol ip u32 match u32 0 0 action mirred egress redirect dev t0\n", "tc", "-batch", "-")
		if err != nil {
			return fmt.Errorf("this kernel lacks clsact, u32 or mirred: %s", strings.TrimSpace(string(out)))
		}
		return nil
	})
}

// TrafficLab is a namespace with TAP devices t0 to t2 that have tc filters.
// What passes their ingress is sent out by s0 to s2, so that it can be seen and
// the host answers nothing. It belongs to the goroutine of InNamespace that
// opened it.
type TrafficLab struct {
	taps  map[string]int
	raw   int // a packet socket to send by
	index map[string]int
	buf   []byte
	// nesting is how deep this kernel lets mirred nest.
	nesting int
}

// OpenTrafficLab sets the namespace of the calling goroutine up; it must be one
// of InNamespace.
func OpenTrafficLab() (*TrafficLab, error) {
	if !inside() {
		return nil, errOutside
	}
	l := &TrafficLab{taps: map[string]int{}, raw: -1, index: map[string]int{}, buf: make([]byte, 64<<10)}
	if err := l.open(); err != nil {
		l.Close()
		return nil, fmt.Errorf("open tc lab: %w", err)
	}
	return l, nil
}

func (l *TrafficLab) open() error {
	for _, s := range []string{"ipv6/conf/all/disable_ipv6", "ipv6/conf/default/disable_ipv6"} {
		if err := sysctl(s, "1"); err != nil {
			return err
		}
	}
	var up strings.Builder
	var rules strings.Builder
	rules.WriteString("table netdev take {\n")
	for _, t := range trafficDevices {
		s := "s" + t[1:]
		for _, name := range []string{t, s} {
			fd, err := openTAP(name)
			if err != nil {
				return fmt.Errorf("device %s: %w", name, err)
			}
			l.taps[name] = fd
			fmt.Fprintf(&up, "link set dev %s txqueuelen %d\nlink set dev %s up\n", name, trafficQueue, name)
		}
		fmt.Fprintf(&rules, "chain %s { type filter hook ingress device %s priority 0; fwd to %s; }\n", t, t, s)
	}
	rules.WriteString("}\n")
	if _, err := tool(up.String(), "ip", "-batch", "-"); err != nil {
		return err
	}
	text, err := tool("", "ip", "-N", "-d", "-j", "addr")
	if err != nil {
		return err
	}
	h, err := host.FromIPJSON(host.Input{Name: "ip addr", Text: text})
	if err != nil {
		return err
	}
	for _, i := range h.Interfaces() {
		l.index[i.Name] = i.Index
	}
	if err := l.take(h, rules.String()); err != nil {
		return err
	}
	if l.raw, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	return l.measureNesting()
}

// trafficQueue is how many frames a device holds that nobody has read yet;
// cases with a packet that makes more are left.
const trafficQueue = 20000

var sentPackets = regexp.MustCompile(`Sent \d+ bytes (\d+) pkt`)

// measureNesting finds out how deep this kernel lets redirections nest.
func (l *TrafficLab) measureNesting() error {
	const loop = "qdisc add dev t0 clsact\nfilter add dev t0 ingress protocol ip u32 match u32 0 0 action mirred ingress redirect dev t0\n"
	if _, err := tool(loop, "tc", "-batch", "-"); err != nil {
		return err
	}
	frame := append([]byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45}, make([]byte, 45)...)
	if _, err := l.send(&TrafficPacket{Device: "t0", Data: frame}); err != nil {
		return err
	}
	out, err := tool("filter show dev t0 ingress\nqdisc del dev t0 clsact\n", "tc", "-s", "-batch", "-")
	if err != nil {
		return err
	}
	m := sentPackets.FindSubmatch(out)
	if m == nil {
		return fmt.Errorf("no counter in %s", out)
	}
	l.nesting, err = strconv.Atoi(string(m[1]))
	return err
}

// take loads the rules that send on what passes.
func (l *TrafficLab) take(h *host.Host, rules string) error {
	s, err := openSocket(0)
	if err != nil {
		return err
	}
	defer s.close()
	lab := &Lab{control: s}
	var sent error
	_, findings := verdict.LoadSources(verdict.LoadOptions{Host: h, Batch: func(base *ruleset.Ruleset, batch []ruleset.Change) {
		refused, err := lab.Load(batch, base)
		if err == nil && len(refused) > 0 {
			err = fmt.Errorf("refused: %v", refused)
		}
		sent = err
	}}, diag.NewSource("take", []byte(rules)))
	return errors.Join(findings.Err(), sent)
}

// Close gives the devices back.
func (l *TrafficLab) Close() {
	for _, fd := range l.taps {
		unix.Close(fd)
	}
	if l.raw >= 0 {
		unix.Close(l.raw)
	}
}

// send hands a frame to the kernel and lists what came out, as "DEVICE HEX".
func (l *TrafficLab) send(p *TrafficPacket) ([]string, error) {
	var err error
	if p.Egress {
		err = unix.Sendto(l.raw, p.Data, 0, &unix.SockaddrLinklayer{Ifindex: l.index[p.Device], Halen: 6})
	} else {
		_, err = unix.Write(l.taps[p.Device], p.Data)
	}
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOBUFS) {
		return nil, err
	}
	var out []string
	for _, t := range trafficDevices {
		for _, name := range []string{"s" + t[1:], t} {
			for {
				n, err := unix.Read(l.taps[name], l.buf)
				if errors.Is(err, unix.EAGAIN) {
					break
				}
				if err != nil {
					return nil, err
				}
				out = append(out, fmt.Sprintf("%s %x", name, l.buf[:n]))
			}
		}
	}
	return out, nil
}

// failures are the numbers of the commands that were refused.
var failedCommand = regexp.MustCompile(`Command failed -:(\d+)`)

// listings of the hooks, in one batch.
func listings() string {
	var b strings.Builder
	for _, t := range trafficDevices {
		fmt.Fprintf(&b, "filter show dev %s ingress\nfilter show dev %s egress\n", t, t)
	}
	return b.String()
}

// Compare runs a case through the kernel and through package tc, and lists the
// differences: commands refused, frames that came out, listings with all
// counters.
func (l *TrafficLab) Compare(c *TrafficCase) ([]string, error) {
	commands := strings.Join(c.Commands, "\n") + "\n"
	var differences []string
	own := tc.New(tc.Config{Nesting: l.nesting, Stack: func(*tc.Device, *tc.Packet) bool { return false }})
	for _, name := range trafficDevices {
		own.AddDevice(tc.Device{Name: name, Index: uint32(l.index[name])})
	}
	defer tool("qdisc del dev t0 clsact\nqdisc del dev t1 clsact\nqdisc del dev t2 clsact\n", "tc", "-force", "-batch", "-")
	text, _ := tool(commands, "tc", "-force", "-batch", "-") // failures are compared
	o := own.Batch("-", strings.NewReader(commands), tc.Options{Force: true, Old: true})
	kernel, ours := failedCommand.FindAllString(string(text), -1), failedCommand.FindAllString(o.Stderr, -1)
	if !slices.Equal(kernel, ours) {
		differences = append(differences, fmt.Sprintf("commands:\n%s\nkernel: %s\nours: %s", commands, text, o.Stderr))
		return differences, nil
	}
	var p tc.Packet
	for i := range c.Packets {
		k := &c.Packets[i]
		got := ownOutputs(own, &p, k)
		if len(got) > trafficQueue/2 {
			return differences, nil
		}
		want, err := l.send(k)
		if err != nil {
			return differences, err
		}
		c.Compared++
		if !slices.Equal(got, want) {
			differences = append(differences, fmt.Sprintf("packet %d, %s egress %t %x:\n  kernel %.400q\n  ours   %.400q", i, k.Device, k.Egress, k.Data, want, got))
		}
	}
	shown, err := tool(listings(), "tc", "-s", "-batch", "-")
	if err != nil {
		return differences, err
	}
	o = own.Batch("-", strings.NewReader(listings()), tc.Options{Stats: true, Old: true})
	if a, b := steadyListing(string(shown)), steadyListing(o.Stdout); a != b {
		differences = append(differences, "listing:\n"+firstDifference(a, b))
	}
	return differences, nil
}

// ownOutputs runs a packet through package tc.
func ownOutputs(s *tc.System, p *tc.Packet, k *TrafficPacket) []string {
	if !p.Load(k.Data, !k.Egress) {
		return nil
	}
	d := s.Device(k.Device)
	var r tc.Result
	if k.Egress {
		r = s.Transmit(d, p)
	} else {
		r = s.Receive(d, p)
	}
	var out []string
	for _, t := range trafficDevices {
		for _, egress := range []bool{false, true} {
			for i := range r.Outputs {
				o := &r.Outputs[i]
				if o.Device.Name != t || o.Egress != egress {
					continue
				}
				name := t
				if !egress {
					name = "s" + t[1:]
				}
				out = append(out, fmt.Sprintf("%s %x", name, o.Packet.Frame()))
			}
		}
	}
	return out
}

var unsteady = regexp.MustCompile(`\bindex \d+|installed \d+ sec( used \d+ sec)?( firstused \d+ sec)?|\(rule hit \d+ success \d+\)|\(success \d+ \)|order \d+ key`)

// steadyListing leaves out what depends on the moment or on how the kernel was
// built: indexes, times, and the hits that u32 counts with CONFIG_CLS_U32_PERF.
func steadyListing(s string) string {
	var lines []string
	for _, l := range strings.Split(s, "\n") {
		if l = strings.Join(strings.Fields(unsteady.ReplaceAllString(l, "")), " "); l != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

// firstDifference shows where two texts part.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) || x[i] != y[i] {
			from := max(0, i-4)
			return fmt.Sprintf("  kernel\n    %s\n  ours\n    %s", strings.Join(x[from:min(len(x), i+4)], "\n    "), strings.Join(y[from:min(len(y), i+4)], "\n    "))
		}
	}
	return ""
}
