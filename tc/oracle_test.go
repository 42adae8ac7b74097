package tc

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"verdict/internal/testdata"
	"verdict/offload"
)

// oracleCase is a case with what a real kernel did.
type oracleCase struct {
	ID      string   `json:"id"`
	Hooks   []string `json:"hooks"`
	Cmds    []string `json:"cmds"`
	Packets []struct {
		Dev  string `json:"d"`
		Hook string `json:"h"`
		Hex  string `json:"x"`
	} `json:"packets"`
	Show []string `json:"show"`

	CmdResults  []oracleResult  `json:"cmd_results"`
	Verdicts    []oracleVerdict `json:"verdicts"`
	ShowResults []oracleResult  `json:"show_results"`
}

type oracleResult struct {
	RC  int    `json:"rc"`
	Out string `json:"out"`
	Err string `json:"err"`
}

type oracleHit struct {
	Hook   string   `json:"at"`
	Filter string   `json:"f"`
	Kind   string   `json:"k"`
	Seen   uint64   `json:"seen,omitempty"`
	Hit    uint64   `json:"hit,omitempty"`
	Acts   []uint64 `json:"a,omitempty"`
	Drops  []uint64 `json:"dr,omitempty"`
	Over   []uint64 `json:"ov,omitempty"`
}

type oracleOutput struct {
	To   string `json:"to"`
	Hex  string `json:"x,omitempty"`
	Mark uint32 `json:"mark,omitempty"`
}

type oracleVerdict struct {
	V    string         `json:"v"`
	Skip bool           `json:"skip,omitempty"`
	Hits []oracleHit    `json:"hits,omitempty"`
	Out  []oracleOutput `json:"out,omitempty"`
}

// oracleWorld is the machine of the oracle: three devices without offload, two
// with a device that takes what its settings say.
type oracleWorld struct {
	s     *System
	rules int
}

func newOracleWorld(linear bool) *oracleWorld {
	// Behind every ingress hook stands an nft fwd rule, and the kernel counts a
	// packet that such a rule takes as not received.
	refused := func(*Device, *Packet) bool { return false }
	w := &oracleWorld{s: New(Config{Now: 1e18, Stack: refused, Linear: linear})}
	for _, n := range []string{"d0", "d1", "d2"} {
		w.s.AddDevice(Device{Name: n})
	}
	for _, n := range []string{"hw0", "hw1"} {
		m := offload.Model{
			Name: "tchw", Driver: "tchw", Kinds: []string{"flower", "matchall", "u32"}, Keys: offload.AllKeys, Actions: offload.AllActions,
			MaxRules: 1024, MaxChain: maxChain, Counts: true, Loopback: true, AnyGoto: true,
		}
		hw := offload.NewDevice(m)
		hw.Share = &w.rules
		w.s.AddDevice(Device{Name: n, Hardware: hw})
	}
	return w
}

// set is the oracle's command that sets what the devices accept.
func (w *oracleWorld) set(words string) {
	for _, kv := range strings.Fields(words) {
		k, v, _ := strings.Cut(kv, "=")
		n, _ := strconv.ParseUint(v, 0, 64)
		for _, name := range []string{"hw0", "hw1"} {
			hw := w.s.Device(name).Hardware
			switch k {
			case "kinds":
				hw.Model.Kinds = nil
				for i, kind := range []string{"flower", "matchall", "u32"} {
					if n>>i&1 != 0 {
						hw.Model.Kinds = append(hw.Model.Kinds, kind)
					}
				}
			case "max_rules":
				hw.Model.MaxRules = int(n)
			case "keys":
				hw.Model.Keys = offload.KeySet(n)
			case "acts":
				hw.Model.Actions = offload.ActionSet(n)
			case "chains":
				hw.Model.MaxChain = uint32(n) * maxChain
			case "hw_packets":
				hw.HWPackets = uint32(n)
			}
		}
	}
}

// command runs one line and returns the oracle's classes of status.
func (w *oracleWorld) command(line string) (oracleResult, bool) {
	if words, ok := strings.CutPrefix(line, "hw "); ok {
		w.set(words)
		return oracleResult{}, true
	}
	words, ok := strings.CutPrefix(line, "tc ")
	if !ok {
		if strings.Contains(line, "tchw/parameters/rules") {
			return oracleResult{Out: fmt.Sprintf("%d\n", w.rules)}, true
		}
		return oracleResult{}, false
	}
	o := w.s.Line(words, Options{Force: true, Old: true})
	r := oracleResult{RC: o.Status, Out: o.Stdout, Err: strings.TrimSpace(o.Stderr)}
	if r.RC != 0 && r.RC != exitKernel {
		r.RC = 1
	}
	return r, true
}

var actionIndex = regexp.MustCompile(`(\bindex )\d+|("index":)\d+|(police 0x)[0-9a-f]+`)

// steady replaces what differs between runs.
func steady(s string) string {
	return actionIndex.ReplaceAllStringFunc(s, func(m string) string {
		switch {
		case strings.HasPrefix(m, "index "):
			return "index N"
		case strings.HasPrefix(m, `"`):
			return `"index":0`
		}
		return "police 0x1"
	})
}

// usageStart cuts tc's usage texts, which are not ours to print.
func usageStart(s string) string {
	if i := strings.Index(s, "Usage:"); i >= 0 {
		return strings.TrimSpace(s[:i])
	}
	return strings.TrimSpace(s)
}

// counts reads the counters of the case's hooks.
func (w *oracleWorld) counts(hooks []string) map[string]FilterCounters {
	m := map[string]FilterCounters{}
	for _, h := range hooks {
		var l []FilterCounters
		if b, ok := strings.CutPrefix(h, "block/"); ok {
			n, _ := strconv.Atoi(b)
			l = w.s.BlockFilters(uint32(n))
		} else {
			dev, dir, _ := strings.Cut(h, "/")
			l = w.s.Filters(dev, dir == "out")
		}
		for _, f := range l {
			m[h+" "+filterKey(f)] = f
		}
	}
	return m
}

func filterKey(f FilterCounters) string {
	return fmt.Sprintf("%d/%d/%04x/%x", f.Chain, f.Priority, f.Protocol, f.Handle)
}

// hits tells which filters' counters moved.
func hits(hooks []string, before, after map[string]FilterCounters) []oracleHit {
	var out []oracleHit
	for k, c := range after {
		o := before[k]
		hook, key, _ := strings.Cut(k, " ")
		h := oracleHit{Hook: hook, Filter: key, Kind: c.Kind, Seen: c.Seen - o.Seen, Hit: c.Hit - o.Hit}
		moved := h.Seen != 0 || h.Hit != 0
		drops, over := false, false
		for i, a := range c.Actions {
			var old Counters
			if i < len(o.Actions) {
				old = o.Actions[i]
			}
			h.Acts = append(h.Acts, a.Packets-old.Packets)
			h.Drops = append(h.Drops, a.Drops-old.Drops)
			h.Over = append(h.Over, a.Overlimits-old.Overlimits)
			moved = moved || a.Packets != old.Packets
			drops = drops || a.Drops != old.Drops
			over = over || a.Overlimits != old.Overlimits
		}
		if !drops {
			h.Drops = nil
		}
		if !over {
			h.Over = nil
		}
		if moved || drops || over {
			out = append(out, h)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Hook+out[i].Filter < out[j].Hook+out[j].Filter })
	return out
}

// packet sends one packet and tells what happened in the oracle's terms.
func (w *oracleWorld) packet(dev, hook string, frame []byte, p *Packet) oracleVerdict {
	d := w.s.Device(dev)
	q := d.at(handleIngress)
	var packets, drops uint64
	if q != nil {
		packets, drops = q.Packets, q.Drops
	}
	v := oracleVerdict{V: "gone"}
	ingress := hook != "out"
	if p.Load(frame, ingress) {
		p.Now = w.s.Now
		var r Result
		if ingress {
			r = w.s.Receive(d, p)
		} else {
			r = w.s.Transmit(d, p)
		}
		v.Out = outputs(r.Outputs, frame)
	}
	passTo := "stack:" + dev
	if !ingress {
		passTo = "wire:" + dev
	}
	for _, o := range v.Out {
		if o.To == passTo {
			v.V = "pass"
		}
	}
	if q != nil {
		if q.Drops != drops && v.V == "gone" {
			v.V = "drop"
		}
		v.Skip = q.Packets == packets
	} else {
		v.Skip = true
	}
	return v
}

// outputs lists frames in the order in which the oracle reads its devices.
func outputs(list []Output, sent []byte) []oracleOutput {
	var out []oracleOutput
	for _, dev := range []string{"d0", "d1", "d2", "hw0", "hw1"} {
		for _, egress := range []bool{false, true} {
			for i := range list {
				o := &list[i]
				if o.Device.Name != dev || o.Egress != egress {
					continue
				}
				r := oracleOutput{To: "stack:" + dev}
				if egress {
					r.To = "wire:" + dev
				} else {
					r.Mark = o.Packet.Mark
				}
				if f := o.Packet.Frame(); string(f) != string(sent) {
					r.Hex = hex.EncodeToString(f)
				}
				out = append(out, r)
			}
		}
	}
	return out
}

// run executes a case and lists the differences.
func (c *oracleCase) run(linear bool) []string {
	var diffs []string
	differ := func(what string, got, want any) {
		a, b := asJSON(got), asJSON(want)
		if a != b {
			diffs = append(diffs, fmt.Sprintf("%s\n  got  %s\n  want %s", what, a, b))
		}
	}
	w := newOracleWorld(linear)
	for i, line := range c.Cmds {
		got, known := w.command(line)
		want := c.CmdResults[i]
		if !known {
			continue
		}
		got.Out, want.Out = "", ""
		got.Err, want.Err = usageStart(got.Err), usageStart(want.Err)
		differ(line, got, want)
	}
	before := w.counts(c.Hooks)
	var p Packet
	for i, k := range c.Packets {
		frame, err := hex.DecodeString(k.Hex)
		if err != nil {
			return []string{err.Error()}
		}
		got := w.packet(k.Dev, k.Hook, frame, &p)
		after := w.counts(c.Hooks)
		got.Hits = hits(c.Hooks, before, after)
		before = after
		differ(fmt.Sprintf("packet %d %s %s %s", i, k.Dev, k.Hook, k.Hex), got, c.Verdicts[i])
	}
	for i, line := range c.Show {
		got, known := w.command(line)
		if !known || i >= len(c.ShowResults) {
			continue
		}
		want := c.ShowResults[i]
		got.Out, want.Out = steady(got.Out), steady(want.Out)
		differ(line, got, want)
	}
	return diffs
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// oracleCases reads all recorded cases.
func oracleCases(t testing.TB) []oracleCase {
	files, err := filepath.Glob(filepath.Join(testdata.Path(t, "tcoracle/cases"), "truth-*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var out []oracleCase
	for _, name := range files {
		out = append(out, readCases(t, name)...)
	}
	return out
}

// readCases reads a file of results. Lines without a case tell of the machine.
func readCases(t testing.TB, name string) []oracleCase {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []oracleCase
	sc := bufio.NewScanner(f)
	sc.Buffer(make([]byte, 1<<20), 1<<26)
	for sc.Scan() {
		var c oracleCase
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.ID != "" {
			out = append(out, c)
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// oddities are recorded listings that depend on the moment: the kernel's dump
// of chains lists one twice while another chain is being freed.
var oddities = map[string]string{
	"template-2-44":  "chain show lists chain 5 twice",
	"template-2-380": "chain show lists chain 5 twice",
}

// TestRecordedVerdicts compares with what a real kernel did: refusals,
// verdicts, counters, frames and listings.
func TestRecordedVerdicts(t *testing.T) {
	good, all := compareCases(t, oracleCases(t))
	t.Logf("%d of %d recorded cases agree", good, all)
}

// TestFreshVerdicts is the same for results that a kernel gave just now, in the
// file that TC_TRUTH names; make tcoracle makes one.
func TestFreshVerdicts(t *testing.T) {
	name := os.Getenv("TC_TRUTH")
	if name == "" {
		t.Skip("skipped: TC_TRUTH names no file of fresh results (make tcoracle)")
	}
	good, all := compareCases(t, readCases(t, name))
	if all == 0 {
		t.Fatalf("%s holds no results", name)
	}
	t.Logf("%d of %d fresh cases agree", good, all)
}

// compareCases runs cases and reports those that differ without explanation.
func compareCases(t *testing.T, cases []oracleCase) (good, all int) {
	only := os.Getenv("TC_CASE")
	for i := range cases {
		c := &cases[i]
		if only != "" && !strings.Contains(c.ID, only) {
			continue
		}
		all++
		diffs := c.run(false)
		if len(diffs) == 0 {
			diffs = c.run(true) // the plain model: no hash tables, no prefilters
		}
		if why, odd := oddities[c.ID]; odd && len(diffs) == 1 && strings.HasPrefix(diffs[0], "tc chain show") {
			t.Logf("%s: explained: %s", c.ID, why)
			diffs = nil
		}
		if len(diffs) == 0 {
			good++
			continue
		}
		t.Errorf("%s:\n%s", c.ID, strings.Join(diffs[:min(len(diffs), 3)], "\n"))
	}
	return good, all
}
