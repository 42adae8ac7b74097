package kernel

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"verdict"
	"verdict/capture"
	"verdict/catalog"
	"verdict/conntrack"
	"verdict/diag"
	"verdict/engine"
	"verdict/internal/testdata"
	"verdict/iptables"
	"verdict/packet"
	"verdict/packet/build"
)

// random matches cannot be compared, every second packet can.
var randomMatch = regexp.MustCompile(`--mode random --probability [0-9.]+`)

var interfaceOption = regexp.MustCompile(`(?m)( -[io] )(\S+)`)

// labRules makes a save file fit the lab: its interfaces are the lab's two in
// turn, and what is random is not.
func labRules(text string) string {
	names := map[string]string{"lo": "lo"}
	text = interfaceOption.ReplaceAllStringFunc(text, func(m string) string {
		part := interfaceOption.FindStringSubmatch(m)
		if names[part[2]] == "" {
			names[part[2]] = interfaceNames[len(names)%2]
		}
		return part[1] + names[part[2]]
	})
	return randomMatch.ReplaceAllString(text, "--mode nth --every 2 --packet 0")
}

// tablePackets draws packets around what a file's rules ask for: addresses,
// ports and protocols that occur in it.
func tablePackets(r *rand.Rand, file *iptables.File, n int) []Injection {
	six := file.Family == catalog.FamilyIP6
	lan, wan := []string{"10.0.0.5", "192.168.0.9", "10.0.0.1"}, []string{"203.0.113.5", "198.51.100.7", "192.0.2.33", "203.0.113.1"}
	if six {
		lan, wan = []string{"fd00:1::5", "fd00:2::9", "fd00:1::1"}, []string{"2001:db8::5", "2001:db8:1::7", "2001:db8::1"}
	}
	addresses := append(append([]string{}, lan...), wan...)
	ports := []int{22, 53, 80, 443, 1024, 50000}
	for _, t := range file.Tables {
		for _, c := range t.Chains {
			for _, rule := range c.Rules {
				for _, network := range []iptables.Network{rule.Header.Source, rule.Header.Destination} {
					if network.Addr.IsValid() && !network.Addr.IsUnspecified() && !network.Addr.IsLoopback() {
						addresses = append(addresses, network.Addr.String())
					}
				}
				words := strings.Fields(rule.Text())
				for i, w := range words[:max(len(words)-1, 0)] {
					if w == "--dport" || w == "--dports" || w == "--sport" {
						var port int
						if _, err := fmt.Sscanf(words[i+1], "%d", &port); err == nil {
							ports = append(ports, port)
						}
					}
				}
			}
		}
	}
	var list []Injection
	for len(list) < n {
		if p, ok := tablePacket(r, six, addresses, ports); ok {
			list = append(list, p)
		}
	}
	return list
}

// tablePacket draws one packet.
func tablePacket(r *rand.Rand, six bool, addresses []string, ports []int) (Injection, bool) {
	source, destination := addresses[r.IntN(len(addresses))], addresses[r.IntN(len(addresses))]
	from := netip.MustParseAddr(source)
	if from.IsMulticast() || from.IsLoopback() || from.As16()[15] == 0 || netip.MustParseAddr(destination).IsMulticast() {
		return Injection{}, false
	}
	for _, list := range own {
		for _, a := range list {
			if a == source {
				return Injection{}, false
			}
		}
	}
	in, mac, station := side(from), lanMAC, "02:00:00:00:01:05"
	if in == "wan0" {
		mac, station = wanMAC, "02:00:00:00:02:05"
	}
	header := "ip"
	if six {
		header = "ip6"
	}
	text := fmt.Sprintf("ether saddr %s ether daddr %s %s saddr %s %s daddr %s ", station, mac, header, source, header, destination)
	port, other := ports[r.IntN(len(ports))], 1024+r.IntN(60000)
	switch r.IntN(8) {
	case 0, 1, 2:
		text += fmt.Sprintf("tcp sport %d tcp dport %d tcp flags syn", other, port)
	case 3:
		text += fmt.Sprintf("tcp sport %d tcp dport %d tcp flags %s", port, other, []string{"ack", "rst,ack", "fin,ack", "rst"}[r.IntN(4)])
	case 4, 5:
		text += fmt.Sprintf("udp sport %d udp dport %d", other, port)
	case 6:
		text += fmt.Sprintf("udp sport %d udp dport %d", port, other)
	default:
		kind := "icmp"
		if six {
			kind = "icmpv6"
		}
		text += fmt.Sprintf("%s type echo-request %s id %d", kind, kind, r.IntN(65536))
	}
	p, err := build.Parse(text)
	if err != nil {
		return Injection{}, false
	}
	return Injection{Interface: in, Data: p.Data}, true
}

// compareTables runs packets through the kernel's tables and through ours, and
// lists the rules whose counters differ.
func (l *Lab) compareTables(name string, f catalog.Family, text string, seed uint64) (differences []string, hit int, err error) {
	rules, found := verdict.LoadSources(verdict.LoadOptions{Host: l.Host, TablesFamily: f}, diag.NewSource(name, []byte(text)))
	if found.HasErrors() {
		return nil, 0, found.Err()
	}
	if err := l.LoadTables(f, []byte(text)); err != nil {
		return nil, 0, err
	}
	e, err := engine.New(rules.Rules(), l.Host, engine.Options{
		Replies: true, Tables: rules.Tables(), Conntrack: conntrack.Config{Before71: true},
	})
	if err != nil {
		return nil, 0, err
	}
	w := e.Worker()
	file := &iptables.File{Family: f, Tables: rules.Tables().Tables}
	var out engine.Outcome
	for n, p := range tablePackets(rand.New(rand.NewPCG(seed, 1)), file, 400) {
		if err := l.Inject(&Frame{p.Interface, p.Data}); err != nil {
			return nil, 0, err
		}
		if _, err := l.Drain(); err != nil {
			return nil, 0, err
		}
		in := engine.Input{Data: p.Data, OrigLen: len(p.Data), LinkType: packet.LinkEthernet, In: p.Interface, Direction: capture.Inbound, Time: start + int64(n)*1000}
		w.Evaluate(&in, &out)
	}
	saved, err := l.SavedTables(f)
	if err != nil {
		return nil, 0, err
	}
	differences, hit = tableDifferences(rules.Tables(), w.Tables(), saved)
	return differences, hit, nil
}

// sending lists the chains that packets of the host itself meet. Of IPv6 they
// are not compared: the kernel sends reports and solicitations in its own time.
func sending(t *iptables.Table) map[string]bool {
	met := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		c := t.Chain(name)
		if c == nil || met[name] {
			return
		}
		met[name] = true
		for _, r := range c.Rules {
			if r.Target != nil {
				visit(r.Target.Name())
			}
		}
	}
	visit("OUTPUT")
	visit("POSTROUTING")
	return met
}

// tableDifferences compares counters rule by rule. Rules with a rate are left
// out, since the kernel's clock is its own.
func tableDifferences(program *iptables.Program, m *iptables.Machine, saved *iptables.File) (list []string, hit int) {
	for _, t := range saved.Tables {
		for _, ours := range program.Tables {
			if ours.Name != t.Name {
				continue
			}
			for _, c := range ours.Chains {
				theirs := t.Chain(c.Name)
				if theirs == nil || len(theirs.Rules) != len(c.Rules) {
					list = append(list, fmt.Sprintf("%s %s: the chain is another", t.Name, c.Name))
					continue
				}
				if saved.Family == catalog.FamilyIP6 && sending(ours)[c.Name] {
					continue
				}
				first := program.FirstRule(c)
				for i, rule := range c.Rules {
					if strings.Contains(rule.Text(), "limit") {
						continue
					}
					got, want := m.Counter(first+uint32(i)), theirs.Rules[i].Saved
					if want.Packets > 0 {
						hit++
					}
					if got != want {
						list = append(list, fmt.Sprintf("%s %s %d %s: kernel %d:%d, here %d:%d", t.Name, c.Name, i+1, rule.Text(), want.Packets, want.Bytes, got.Packets, got.Bytes))
					}
				}
			}
		}
	}
	return list, hit
}

// TestLegacyTablesAgree compares counters with the kernel's legacy tables on
// the files of the corpus that need no objects from outside.
func TestLegacyTablesAgree(t *testing.T) {
	if err := TablesAvailable(); err != nil {
		testdata.Missing(t, "legacy", err.Error())
	}
	files, err := filepath.Glob(filepath.Join(testdata.Path(t, "corpus/iptables"), "*.rules"))
	if err != nil {
		t.Fatal(err)
	}
	agree, compared, hits := 0, 0, 0
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		family := catalog.FamilyIP
		if name := filepath.Base(path); strings.Contains(string(raw), "::") || name == "firehol-06.rules" {
			family = catalog.FamilyIP6
		}
		text := labRules(string(raw))
		file, found := iptables.Parse(diag.NewSource(path, []byte(text)), iptables.Options{Family: family})
		if found.HasErrors() || iptables.Check(file).HasErrors() || strings.Contains(text, "nfacct") {
			continue
		}
		inLab(t, func(l *Lab) error {
			differences, hit, err := l.compareTables(filepath.Base(path), family, text, 7)
			if err != nil {
				return fmt.Errorf("%s: %w", filepath.Base(path), err)
			}
			compared++
			hits += hit
			if len(differences) == 0 {
				agree++
				return nil
			}
			t.Errorf("%s: %d rules differ:\n  %s", filepath.Base(path), len(differences), strings.Join(differences[:min(len(differences), 5)], "\n  "))
			return nil
		})
	}
	result := "pass"
	if agree < 20 || agree < compared {
		result = "fail"
		t.Fail()
	}
	t.Logf("goal: files whose counters agree with the kernel's legacy tables: %d of %d, %d rules hit (all, at least 20): %s", agree, compared, hits, result)
}
