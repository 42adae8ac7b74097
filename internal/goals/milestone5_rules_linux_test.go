package goals

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"verdict"
	"verdict/engine"
	"verdict/engine/chain"
	"verdict/engine/vm"
	"verdict/internal/testdata"
	"verdict/internal/workload"
)

// threadTime is the processor time of this thread: what other programs take
// does not count.
func threadTime() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return t.Nano()
}

// costs measures several operations by turns and returns the median processor
// time of each in nanoseconds. One call of an operation does as many things as
// size says.
func costs(size int, ops ...func()) []float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const rounds = 21
	times := make([][]float64, len(ops))
	repeat := make([]int, len(ops))
	for i, op := range ops { // as often as fills some milliseconds
		op()
		started := threadTime()
		op()
		repeat[i] = int(max(5_000_000/max(threadTime()-started, 1), 1))
	}
	for range rounds {
		for i, op := range ops {
			started := threadTime()
			for range repeat[i] {
				op()
			}
			times[i] = append(times[i], float64(threadTime()-started)/float64(repeat[i]*size))
		}
	}
	medians := make([]float64, len(ops))
	for i := range times {
		slices.Sort(times[i])
		medians[i] = times[i][rounds/2]
	}
	return medians
}

// invertedKinds are the three forms of the case: the same rule again and
// again, rules with distinct destinations, and rules of 64 prefixes.
var invertedKinds = []string{"same", "distinct", "lengths"}

// inverted is a chain of rules with inverted prefixes, none of which matches a
// packet from 10.1.2.3 to 192.0.2.1.
func inverted(kind string, n int) string {
	var s strings.Builder
	s.WriteString("table ip filter {\n\tchain c {\n\t\ttype filter hook prerouting priority raw; policy accept;\n")
	for i := range n {
		switch kind {
		case "same":
			s.WriteString("\t\tip saddr != 10.0.0.0/10 counter drop\n")
		case "distinct":
			fmt.Fprintf(&s, "\t\tip saddr != 10.0.0.0/10 ip daddr 10.1.%d.%d counter drop\n", i>>8&255, i&255)
		case "lengths":
			fmt.Fprintf(&s, "\t\tip %s/%d counter drop\n", []string{"saddr != 10.1.2.3", "daddr != 192.0.2.1"}[i&1], 1+i/2%32)
		}
	}
	return s.String() + "\t}\n}\n"
}

// invertedBatch makes an operation that runs 256 packets through such a chain.
func invertedBatch(t *testing.T, kind string, n int, o engine.Options) func() {
	loaded, err := verdict.Parse(inverted(kind, n))
	if err != nil {
		t.Fatal(err)
	}
	o.Hook, o.Local = "prerouting", []netip.Addr{netip.MustParseAddr("192.0.2.1")}
	e, err := engine.New(loaded.Rules(), loaded.Host(), o)
	if err != nil {
		t.Fatal(err)
	}
	w, ins, outs := e.Worker(), make([]engine.Input, batch), make([]engine.Outcome, batch)
	for i := range ins {
		data := workload.Frame(&workload.Header{Src: 10<<24 | 1<<16 | 2<<8 | 3, Dst: 192<<24 | 2<<8 | 1, SrcPort: 1024, DstPort: 9, Proto: 17})
		ins[i] = engine.Input{Data: data, OrigLen: len(data), LinkType: 1, In: "eth0"}
	}
	return func() { w.EvaluateBatch(ins, outs) }
}

const batch = 256

func perSecond(ns float64) string { return fmt.Sprintf("%.3g M packets/s", 1e3/ns) }

func TestGoal5Inverted(t *testing.T) {
	timed(t)
	for _, kind := range invertedKinds {
		c := costs(batch, invertedBatch(t, kind, 10, engine.Options{}), invertedBatch(t, kind, 10000, engine.Options{}))
		goal(t, c[1] <= 1.5*c[0], "inverted prefixes ("+kind+"), compiled: cost of 10,000 rules to that of 10, decoding included",
			fmt.Sprintf("%.1f / %.1f ns = %.2f (%s)", c[1], c[0], c[1]/c[0], perSecond(c[1])), "at most 1.5")
	}
	c := costs(batch, invertedBatch(t, "same", 10000, engine.Options{Executor: chain.VM, Forms: vm.BaseForms}),
		invertedBatch(t, "same", 10000, engine.Options{Executor: chain.VM}))
	goal(t, c[0] >= 2*c[1], "the interpreter with all steps to its own base, 10,000 rules", fmt.Sprintf("%.2f times (%s)", c[0]/c[1], perSecond(c[1])), "at least 2")
}

// invertedSaved is inverted as a save file of iptables.
func invertedSaved(kind string, n int) string {
	var s strings.Builder
	s.WriteString("*raw\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n")
	for i := range n {
		match := "! -s 10.0.0.0/10"
		switch kind {
		case "distinct":
			match = fmt.Sprintf("! -s 10.0.0.0/10 -d 10.1.%d.%d/32", i>>8&255, i&255)
		case "lengths":
			match = fmt.Sprintf("! %s/%d", []string{"-s 10.1.2.3", "-d 192.0.2.1"}[i&1], 1+i/2%32)
		}
		fmt.Fprintf(&s, "-A PREROUTING %s -j DROP\n", match)
	}
	return s.String() + "COMMIT\n"
}

// kernelProgram builds the program that measures the kernel.
func kernelProgram(t *testing.T) string {
	program := filepath.Join(t.TempDir(), "kb")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = testdata.Path(t, "bench/kernel")
	if out, err := build.CombinedOutput(); err != nil {
		testdata.Missing(t, "oracle", fmt.Sprintf("the program that measures the kernel does not build: %v %s", err, out))
	}
	return program
}

// kernelRate is the packets per second of the kernel with a ruleset that a
// loader takes: nft or iptables-legacy.
func kernelRate(t *testing.T, program, loader, rules string) float64 {
	dir := t.TempDir()
	file, frames := filepath.Join(dir, "rules.nft"), filepath.Join(dir, "frames.pcap")
	if err := os.WriteFile(file, []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	data := workload.Frame(&workload.Header{Src: 10<<24 | 1<<16 | 2<<8 | 3, Dst: 192<<24 | 2<<8 | 1, SrcPort: 1024, DstPort: 9, Proto: 17})
	copy(data, []byte{2, 0, 0, 0, 0, 0x0a})
	if err := writeFrames(frames, data); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-loader", loader, "-rules", file, "-pcap", "hit="+frames, "-bracket", "rules=prerouting:-300", "-inject", "xdp", "-runs", "5", "-secs", "0.2")
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		testdata.Missing(t, "oracle", fmt.Sprintf("the kernel's packet filter cannot be measured here: %v %s", err, complaint.String()))
	}
	var report struct {
		Packets []struct{ PPS float64 }
	}
	if err := json.Unmarshal(out, &report); err != nil || len(report.Packets) == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	return report.Packets[0].PPS
}

// TestGoal5Kernel measures the kernel's nft in the same run.
func TestGoal5Kernel(t *testing.T) {
	timed(t)
	program := kernelProgram(t)
	for _, kind := range invertedKinds {
		kernel := kernelRate(t, program, "nft", inverted(kind, 10000))
		c := costs(batch, invertedBatch(t, kind, 10000, engine.Options{}), invertedBatch(t, kind, 10000, engine.Options{Executor: chain.VM}))
		ratio := 1e9 / c[0] / kernel
		goal(t, ratio >= 1000, "inverted prefixes ("+kind+"), 10,000 rules, compiled to the kernel's nft in the same run",
			fmt.Sprintf("%.0f times (%s to %.0f packets/s)", ratio, perSecond(c[0]), kernel), "at least 1,000 times")
		if kind == "same" {
			goal(t, 1e9/c[1]/kernel >= 3, "the interpreter with all steps to the kernel's nft", fmt.Sprintf("%.2f times (%.0f packets/s)", 1e9/c[1]/kernel, 1e9/c[1]), "at least 3 times")
		}
	}
}

// TestGoal5Legacy measures the kernel's legacy iptables in the same run.
func TestGoal5Legacy(t *testing.T) {
	timed(t)
	if _, err := exec.LookPath("iptables-legacy-restore"); err != nil {
		testdata.Missing(t, "oracle", "goal: compiled to legacy iptables (at least 500 times): not measured without iptables-legacy-restore")
	}
	program := kernelProgram(t)
	for _, kind := range invertedKinds {
		kernel := kernelRate(t, program, "iptables-legacy", invertedSaved(kind, 10000))
		c := costs(batch, invertedBatch(t, kind, 10000, engine.Options{}))
		ratio := 1e9 / c[0] / kernel
		goal(t, ratio >= 500, "inverted prefixes ("+kind+"), 10,000 rules, compiled to the kernel's legacy iptables in the same run",
			fmt.Sprintf("%.0f times (%s to %.0f packets/s)", ratio, perSecond(c[0]), kernel), "at least 500 times")
	}
}

func TestGoal5Update(t *testing.T) {
	timed(t)
	list := workload.FiveTuples("acl", 10000, 1)
	base, err := verdict.Parse(familyRules(list))
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(base.Rules(), base.Host(), engine.Options{Hook: "forward"})
	if err != nil {
		t.Fatal(err)
	}
	w := e.Worker()
	var times []time.Duration
	for i := range 101 {
		h := workload.Header{Src: 203<<24 | 113<<8 | uint32(i), Dst: 1 << 24, Proto: 17}
		in := headerFrames([]workload.Header{h})[0]
		base = change(t, base, fmt.Sprintf("insert rule ip t c ip saddr 203.0.113.%d counter drop", i))
		started := time.Now()
		if err := e.Update(base.Rules()); err != nil {
			t.Fatal(err)
		}
		var out engine.Outcome
		w.Evaluate(&in, &out)
		times = append(times, time.Since(started))
		if out.Fate != engine.Dropped || out.Verdict.Policy {
			t.Fatalf("the added rule is not seen: %+v", out)
		}
	}
	slices.Sort(times)
	median, most := times[len(times)/2], times[len(times)*9/10]
	goal(t, median < time.Millisecond, "a rule added to 10,000 is met by the next packet", fmt.Sprintf("median %v, 90 %% within %v", median, most), "under 1 ms")
}

func TestGoal5Bulk(t *testing.T) {
	timed(t)
	text := inverted("distinct", 100_000)
	started := time.Now()
	loaded, err := verdict.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	parsed := time.Since(started)
	if _, err := engine.New(loaded.Rules(), loaded.Host(), engine.Options{}); err != nil {
		t.Fatal(err)
	}
	took := time.Since(started)
	goal(t, took < time.Second, "100,000 rules from text to compiled chain", fmt.Sprintf("%v, of which parsing and applying %v", took.Round(time.Millisecond), parsed.Round(time.Millisecond)), "under 1 s")
}

func TestGoal5Allocations(t *testing.T) {
	list := workload.FiveTuples("fw", 5000, 1)
	loaded, err := verdict.Parse(familyRules(list))
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(loaded.Rules(), loaded.Host(), engine.Options{Hook: "forward"})
	if err != nil {
		t.Fatal(err)
	}
	w, ins, outs := e.Worker(), headerFrames(workload.Headers(list, batch, 2)), make([]engine.Outcome, batch)
	w.EvaluateBatch(ins, outs)
	w.EvaluateBatch(ins, outs)
	many := testing.AllocsPerRun(20, func() { w.EvaluateBatch(ins, outs) })
	one := testing.AllocsPerRun(200, func() { w.Evaluate(&ins[0], &outs[0]) })
	goal(t, one == 0 && many == 0, "allocations per packet and per batch, 5,000 rules compiled", fmt.Sprintf("%v, %v", one, many), "none")
}

// TestGoal5AllocationsConnections: packets of established connections allocate
// nothing, one by one and in batches.
func TestGoal5AllocationsConnections(t *testing.T) {
	local := engine.Options{Local: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}
	w := newEngine(t, realistic(), local).Worker()
	there, back, established := connections(2048)
	outs := make([]engine.Outcome, 2048)
	for _, list := range [][]engine.Input{there, back, established, established} {
		w.EvaluateBatch(list, outs)
	}
	many := testing.AllocsPerRun(20, func() { w.EvaluateBatch(established, outs) })
	one := testing.AllocsPerRun(200, func() { w.Evaluate(&established[7], &outs[7]) })
	if outs[7].Fate != engine.Accepted {
		t.Fatalf("%+v", outs[7])
	}
	goal(t, one == 0 && many == 0, "allocations per established packet and per batch, realistic ruleset", fmt.Sprintf("%v, %v", one, many), "none")
}
