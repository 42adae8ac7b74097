package recorded

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Part names what a difference is about.
type Part string

// The parts, in order of worth.
const (
	PartBuffers   Part = "buffers" // how many socket buffers there were
	PartPath      Part = "path"    // hooks passed, verdicts, rules visited
	PartFrames    Part = "frames"  // frames that left
	PartMark      Part = "mark"    // packet marks
	PartCT        Part = "ct"      // ct state, status and direction at each chain
	PartRules     Part = "rules"   // counters and quotas of rules
	PartObjects   Part = "objects"
	PartSets      Part = "sets"
	PartConntrack Part = "conntrack"
)

// Difference is one place where an answer is not the truth.
type Difference struct {
	Part      Part
	Where     string
	Got, Want string
}

func (d *Difference) String() string {
	return fmt.Sprintf("%s %s:\n  got  %s\n  want %s", d.Part, d.Where, d.Got, d.Want)
}

// Compare lists where a packet's answer differs from the truth.
func (t *PacketTruth) Compare(a *PacketTruth) []Difference {
	var list []Difference
	where := fmt.Sprintf("packet %d", t.N)
	differ := func(part Part, where, got, want string) {
		if got != want {
			list = append(list, Difference{part, where, got, want})
		}
	}
	differ(PartBuffers, where, allPaths(a.Buffers, hookNames), allPaths(t.Buffers, hookNames))
	for i := range min(len(t.Buffers), len(a.Buffers)) {
		w := fmt.Sprintf("%s buffer %d", where, i)
		got, want := a.Buffers[i].Path, t.Buffers[i].Path
		differ(PartPath, w, Full(got), Full(want))
		differ(PartMark, w, marks(got), marks(want))
		differ(PartCT, w, connections(got), connections(want))
	}
	got, want := maskFrames(a.Out, t.Out)
	differ(PartFrames, where, got, want)
	return list
}

func allPaths(buffers []Buffer, text func([]Visit) string) string {
	var parts []string
	for _, b := range buffers {
		parts = append(parts, text(b.Path))
	}
	return strings.Join(parts, " + ")
}

func hookNames(path []Visit) string {
	var b strings.Builder
	for i, v := range path {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(v.Family + "." + v.Hook)
		if v.Verdict != "accept" {
			b.WriteString(":" + v.Verdict)
		}
	}
	return b.String()
}

func marks(path []Visit) string {
	var b strings.Builder
	for _, v := range path {
		fmt.Fprintf(&b, "%s %#x", v.Hook, v.Mark)
		for _, c := range v.Chains {
			fmt.Fprintf(&b, " %s:%#x", c.Chain, c.Mark)
		}
		fmt.Fprintf(&b, " →%#x | ", v.MarkAfter)
	}
	return b.String()
}

func connections(path []Visit) string {
	var b strings.Builder
	for _, v := range path {
		for _, c := range v.Chains {
			fmt.Fprintf(&b, "%s %s:%s/%s ", v.Hook, c.Chain, optional(c.CTState), optional(c.CTStatus))
		}
	}
	return b.String()
}

func optional(v *uint32) string {
	if v == nil || *v == 0 {
		return "-"
	}
	return fmt.Sprintf("%#x", *v)
}

// maskFrames prints both lists of frames, free bytes as zero. The truth was read
// device by device.
func maskFrames(got, want []Frame) (string, string) {
	byDevice := func(a, b Frame) int { return cmp.Compare(a.If, b.If) }
	got, want = slices.Clone(got), slices.Clone(want)
	slices.SortStableFunc(got, byDevice)
	slices.SortStableFunc(want, byDevice)
	for i := range min(len(got), len(want)) {
		got[i].Hex, want[i].Hex = masked(got[i].Hex, want[i].Any), masked(want[i].Hex, want[i].Any)
	}
	return frameText(got), frameText(want)
}

func masked(text string, free [][2]int) string {
	b := []byte(text)
	for _, f := range free {
		for i := 2 * f[0]; i < 2*(f[0]+f[1]) && i < len(b); i++ {
			b[i] = '0'
		}
	}
	return string(b)
}

func frameText(frames []Frame) string {
	var parts []string
	for _, f := range frames {
		parts = append(parts, f.If+" "+f.Hex)
	}
	return strings.Join(parts, "; ")
}

// Compare lists where the state at the end differs from the truth.
func (t *After) Compare(a *After) []Difference {
	var list []Difference
	rows := func(part Part, got, want map[string]string) {
		for _, key := range keys(got, want) {
			if got[key] != want[key] {
				list = append(list, Difference{part, key, got[key], want[key]})
			}
		}
	}
	rows(PartRules, ruleRows(a.Rules), ruleRows(t.Rules))
	rows(PartObjects, objectRows(a.Objects), objectRows(t.Objects))
	rows(PartSets, objectRows(a.Sets), objectRows(t.Sets))
	got, want := slices.Sorted(slices.Values(a.Conntrack)), slices.Sorted(slices.Values(t.Conntrack))
	if g, w := onlyIn(got, want), onlyIn(want, got); g != w {
		list = append(list, Difference{PartConntrack, "lines", g, w})
	}
	return list
}

func onlyIn(a, b []string) string {
	var parts []string
	for _, line := range a {
		if !slices.Contains(b, line) {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, "; ")
}

func keys(a, b map[string]string) []string {
	var list []string
	for k := range a {
		list = append(list, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			list = append(list, k)
		}
	}
	slices.Sort(list)
	return list
}

func ruleRows(rules []RuleState) map[string]string {
	rows := map[string]string{}
	for _, r := range rules {
		if len(r.Counter) > 0 || len(r.Quota) > 0 {
			rows[fmt.Sprintf("%s %s %s rule %d", r.Family, r.Table, r.Chain, r.Index)] = fmt.Sprintf("counter %v quota %v", r.Counter, r.Quota)
		}
	}
	return rows
}

func objectRows(objects []Object) map[string]string {
	rows := map[string]string{}
	for _, o := range objects {
		text, _ := json.Marshal(o)
		rows[fmt.Sprintf("%v %v %v %v", o["kind"], o["family"], o["table"], o["name"])] = string(text)
	}
	return rows
}

// HexFrame is a frame in the form of the truth.
func HexFrame(device string, data []byte) Frame {
	return Frame{If: device, Hex: hex.EncodeToString(data)}
}
