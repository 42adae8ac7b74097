package goals

import (
	"fmt"
	"os/exec"
	"testing"

	benchmark "verdict/internal/cli/bench"
)

// kernelLoad is how long nft takes for the 800,000 elements on a machine such
// as the goals were set on, in nanoseconds; it stands in where the kernel
// cannot be measured.
const kernelLoad = 34e9

// kernelPeer starts the kernel's measuring program; nil, with the reason
// logged, where that cannot be: it needs root, nft and BPF.
func kernelPeer(t *testing.T) *benchmark.Peer {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir, "./kernel")
	build.Dir = root() + "/bench"
	if out, err := build.CombinedOutput(); err != nil {
		t.Logf("the kernel is not measured: %v\n%s", err, out)
		return nil
	}
	p, err := benchmark.StartPeer(dir)
	if err == nil {
		if err = p.Ping(); err == nil {
			t.Cleanup(func() { p.Close() })
			return p
		}
	}
	t.Logf("the kernel is not measured: %v", err)
	return nil
}

// measured is a set that a goal measures; kernel tells whether beside the
// kernel.
type measured struct {
	shape    string
	elements int
	parts    []string
	kernel   bool
}

// headline are the sets that have goals.
var headline = []measured{
	{"disjoint", 1000, []string{benchmark.PartLoad, benchmark.PartLookup}, true},
	{"disjoint", 30_000, []string{benchmark.PartLookup}, true},
	{"disjoint", 800_000, nil, true},
	{"shared", 1000, []string{benchmark.PartLookup}, true},
	{"shared", 30_000, []string{benchmark.PartLookup}, true},
	// The kernel expands the ranges of ports to prefixes, which takes it more
	// than ten minutes.
	{"shared", 800_000, nil, false},
	{"overlapping", 100_000, []string{benchmark.PartLookup}, false},
	{"addresses", 1_000_000, []string{benchmark.PartLoad, benchmark.PartLookup}, false},
	{"ranges", 500_000, []string{benchmark.PartLoad, benchmark.PartLookup, benchmark.PartChange}, false},
}

// TestGoal3Sets measures loads, lookups, changes and readers of large sets.
func TestGoal3Sets(t *testing.T) {
	timed(t)
	peer := kernelPeer(t)
	for _, m := range headline {
		figures := measure(t, m, peer)
		judge(t, figures)
		if len(m.parts) == 0 || m.shape == "overlapping" {
			missesAndStructure(t, figures)
		}
	}
}

// TestGoal3Shapes measures the layouts of the kernel's own script beside it.
func TestGoal3Shapes(t *testing.T) {
	timed(t)
	peer := kernelPeer(t)
	if peer == nil {
		t.Skip("skipped: these goals are ratios to the kernel, which cannot be measured here")
	}
	for _, s := range benchmark.Shapes() {
		if !s.OfKernel() {
			continue
		}
		for _, n := range []int{1000, 30_000} {
			judge(t, measure(t, measured{s.Name, n, []string{benchmark.PartLookup}, true}, peer))
		}
	}
}

func measure(t *testing.T, m measured, peer *benchmark.Peer) []benchmark.Figure {
	t.Helper()
	o := &benchmark.Options{Rounds: 21, Only: m.parts}
	if m.kernel {
		o.Peer = peer
	}
	figures, err := benchmark.Set(benchmark.ShapeByName(m.shape), m.elements, o)
	if err != nil {
		t.Fatal(err)
	}
	return figures
}

// judge prints the figures that have a bound.
func judge(t *testing.T, figures []benchmark.Figure) {
	t.Helper()
	for i := range figures {
		f := &figures[i]
		if f.Bound == nil {
			t.Logf("%s", f)
			continue
		}
		what := fmt.Sprintf("%s, %d elements: %s", f.Case, f.Elements, f.What)
		if f.Peer == 0 && f.What == benchmark.LoadText {
			f.Peer = kernelLoad
			what += ", beside the kernel on the reference machine"
		}
		goal(t, f.OK(), what, f.MeasuredBeside("the kernel"), f.Promise())
	}
}

// missesAndStructure judges that misses are not slower than hits, by more than
// a measurement's spread, and says what served.
func missesAndStructure(t *testing.T, figures []benchmark.Figure) {
	t.Helper()
	of := map[benchmark.What]benchmark.Figure{}
	for _, f := range figures {
		of[f.What] = f
	}
	for hit, miss := range map[benchmark.What]benchmark.What{benchmark.HitSingle: benchmark.MissSingle, benchmark.HitBurst: benchmark.MissBurst} {
		h, m := of[hit], of[miss]
		goal(t, m.Value <= 1.2*h.Value || m.Low <= h.High, fmt.Sprintf("%s, %d elements, in %s: %s", h.Case, h.Elements, h.Structure, miss),
			fmt.Sprintf("%.1f ns, hits %.1f ns", m.Value, h.Value), "not slower than hits")
	}
}
