package offload

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// rule makes a rule that matches a destination address of IPv4.
func rule(cookie uint64, last byte, maskBits byte, actions ...Action) Rule {
	key, mask := new(Key), new(Key)
	copy(key.Get(FieldNProto), []byte{8, 0})
	copy(mask.Get(FieldNProto), []byte{255, 255})
	copy(key.Get(FieldDst), []byte{192, 0, 2, last})
	copy(mask.Get(FieldDst), []byte{255, 255, 255, maskBits})
	key.Get(FieldAddrType)[0], mask.Get(FieldAddrType)[0] = AddrIPv4, 255
	return Rule{
		Cookie: cookie, Kind: Flower, Protocol: 0x800, Priority: 10,
		Match: Match{Used: UsedKeys(mask, AddrIPv4, 0), Key: key, Mask: mask}, Actions: actions,
	}
}

func packetTo(last byte) *Key {
	k := new(Key)
	copy(k.Get(FieldNProto), []byte{8, 0})
	copy(k.Get(FieldDst), []byte{192, 0, 2, last})
	k.Get(FieldAddrType)[0] = AddrIPv4
	return k
}

func TestShippedModels(t *testing.T) {
	if n := len(Models()); n != 3 {
		t.Fatalf("%d shipped models, want 3", n)
	}
	for _, m := range Models() {
		if m.Description == "" || m.MaxRules == 0 {
			t.Errorf("%s: incomplete", m.Name)
		}
	}
}

func TestReadModel(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"good", `{"name":"x","driver":"x","kinds":["flower"],"keys":["ipv4"],"actions":["drop"],"max_rules":2}`, ""},
		{"key", `{"name":"x","keys":["ipv5"]}`, `unknown dissector key "ipv5"`},
		{"action", `{"name":"x","actions":["dorp"]}`, `unknown action "dorp"`},
		{"kind", `{"name":"x","kinds":["fw"]}`, `unknown kind "fw"`},
		{"mask", `{"name":"x","masks":{"ipv4":"some"}}`, `unknown rule "some"`},
		{"member", `{"name":"x","colour":1}`, `unknown field "colour"`},
		{"nameless", `{}`, "name is missing"},
	} {
		_, err := ReadModel(strings.NewReader(c.text))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	basic, err := ModelNamed("basic-nic")
	if err != nil {
		t.Fatal(err)
	}
	drop := Action{ID: ActDrop}
	chained := rule(1, 1, 255, drop)
	chained.Chain = 4
	tos := rule(1, 1, 255, drop)
	tos.Match.Mask.Get(FieldTOS)[0] = 255
	tos.Match.Used = UsedKeys(tos.Match.Mask, AddrIPv4, 0)
	other := rule(1, 1, 255, drop)
	other.Kind = Matchall
	for _, c := range []struct {
		name   string
		rule   Rule
		reason string
	}{
		{"fits", rule(1, 1, 255, drop), ""},
		{"prefix", rule(1, 0, 0xf0, drop), ""},
		{"mask", rule(1, 0, 0x0f, drop), "the mask of dst is not prefix"},
		{"action", rule(1, 1, 255, Action{ID: ActRedirect, Device: "x"}), "the device cannot do redirect x"},
		{"chain", chained, "the device has chain 0 only"},
		{"key", tos, "the device cannot match on ip"},
		{"kind", other, "the device takes no matchall filters"},
	} {
		err := NewDevice(basic).Replace(c.rule)
		var r *Refusal
		if c.reason == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if !errors.As(err, &r) || r.Reason != c.reason || r.Errno != syscall.EOPNOTSUPP {
			t.Errorf("%s: %+v, want %q", c.name, err, c.reason)
		}
	}
}

func TestTablesByShape(t *testing.T) {
	m, err := ModelNamed("tcam-switch")
	if err != nil {
		t.Fatal(err)
	}
	m.Tables[1].Rules, m.Tables[2].Rules = 2, 1
	d := NewDevice(m)
	for i := range 4 {
		err := d.Replace(rule(uint64(i), byte(i), 255, Action{ID: ActDrop}))
		if (err == nil) != (i < 3) {
			t.Fatalf("rule %d: %v", i, err)
		}
	}
	if err := d.Destroy(1); err != nil {
		t.Fatal(err)
	}
	if err := d.Replace(rule(9, 9, 255, Action{ID: ActDrop})); err != nil {
		t.Errorf("a freed place is not used again: %v", err)
	}
}

func TestProcess(t *testing.T) {
	m, err := ModelNamed("eswitch-nic")
	if err != nil {
		t.Fatal(err)
	}
	d := NewDevice(m)
	add := func(r Rule) {
		if err := d.Replace(r); err != nil {
			t.Fatal(err)
		}
	}
	wide := rule(1, 0, 0, Action{ID: ActMark, Mark: 7}, Action{ID: ActGoto, Chain: 2})
	wide.Priority = 20
	add(wide)
	add(rule(2, 5, 255, Action{ID: ActDrop}))
	add(rule(3, 6, 255, Action{ID: ActTrap}))
	next := rule(4, 7, 255, Action{ID: ActMirror, Device: "a"}, Action{ID: ActRedirect, Device: "b"})
	next.Chain = 2
	add(next)
	for _, c := range []struct {
		last byte
		want string
	}{
		{5, "drop chain 0 mark 0 to []"},
		{6, "trap chain 0 mark 0 to []"},
		{7, "forward chain 2 mark 7 to [mirror a redirect b]"},
		{8, "miss chain 2 mark 7 to []"},
	} {
		v := d.Process(packetTo(c.last), 0x800, 100, 1)
		if got := fmt.Sprintf("%s chain %d mark %d to %v", v.Fate, v.Chain, v.Mark, v.To); got != c.want {
			t.Errorf("to %d: %s, want %s", c.last, got, c.want)
		}
	}
	if s, ok := d.Stats(1); !ok || s.Packets != 2 || s.Bytes != 200 {
		t.Errorf("counters %+v", s)
	}
	if s, _ := d.Stats(1); s.Packets != 0 {
		t.Errorf("counters were not taken: %+v", s)
	}
}

// TestCommitRollsBack fails at every point of a batch (of 1,000 rules in the
// goals) and compares the devices with what they held before: rules, order,
// counters.
func TestCommitRollsBack(t *testing.T) {
	m, err := ModelNamed("eswitch-nic")
	if err != nil {
		t.Fatal(err)
	}
	size := 200
	if os.Getenv("VERDICT_GOALS") != "" {
		size = 1000
	}
	var batch []Change
	for i := range size {
		c := Change{Rule: rule(uint64(100+i), byte(i), 255, Action{ID: ActTrap})}
		switch {
		case i%100 == 7:
			c = Change{Rule: rule(uint64(i/100), 0, 255), Remove: true}
		case i%100 == 3:
			c.Rule.Cookie = uint64(i / 100)
		}
		batch = append(batch, c)
	}
	// every call may fail that adds a rule
	for n := 1; ; n++ {
		devices := []*Device{NewDevice(m), NewDevice(m)}
		for _, d := range devices {
			for i := range 20 {
				if err := d.Replace(rule(uint64(i), byte(i), 255, Action{ID: ActDrop})); err != nil {
					t.Fatal(err)
				}
				d.rules[uint64(i)].stats.Packets = uint64(i)
			}
		}
		before := [2]string{held(devices[0]), held(devices[1])}
		devices[n%2].FailAt((n+1)/2, syscall.EIO, "broken")
		for i := range batch {
			batch[i].Devices = devices
		}
		_, err := Commit(batch)
		if err == nil {
			if want := 2 * (size - size/100); n <= want {
				t.Fatalf("a failure at call %d of %d was not met", n, want)
			}
			return
		}
		for i, d := range devices {
			if got := held(d); got != before[i] {
				t.Fatalf("failure at %d: device %d holds\n%s\nbefore\n%s", n, i, got, before[i])
			}
		}
	}
}

// held writes all that a device holds.
func held(d *Device) string {
	var b strings.Builder
	for e := d.order.first; e != nil; e = e.next {
		fmt.Fprintf(&b, "%d %d %v %d %d\n", e.rule.Cookie, e.rule.Priority, e.rule.Actions, e.table, e.stats.Packets)
	}
	for e := d.order.last; e != nil; e = e.prev {
		fmt.Fprintf(&b, "%d ", e.rule.Cookie)
	}
	fmt.Fprint(&b, len(d.rules), d.chains, d.tables)
	return b.String()
}

func TestDisappearing(t *testing.T) {
	m, err := ModelNamed("eswitch-nic")
	if err != nil {
		t.Fatal(err)
	}
	d := NewDevice(m)
	d.Disappear()
	if err := d.Replace(rule(1, 1, 255)); ErrnoOf(err) != syscall.ENODEV {
		t.Errorf("%v, want ENODEV", err)
	}
}

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		bytes      []int
		first, end int
	}{
		{nil, 0, 0}, {[]int{0}, 0, 8}, {[]int{7}, 0, 8}, {[]int{8}, 8, 16}, {[]int{5, 17}, 0, 24},
		{[]int{KeySize - 1}, KeySize - 8, KeySize}, {[]int{0, KeySize - 8}, 0, KeySize},
	} {
		var k Key
		for _, b := range c.bytes {
			k[b] = 1
		}
		if first, end := k.Span(); first != c.first || end != c.end {
			t.Errorf("%v: %d to %d, want %d to %d", c.bytes, first, end, c.first, c.end)
		}
	}
}
