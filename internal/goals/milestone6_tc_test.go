package goals

import (
	"encoding/hex"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"verdict/internal/testdata"
	"verdict/offload"
	"verdict/tc"
)

// TestGoal6RecordedVerdicts counts the recorded cases of a real kernel that
// agree; the comparison is that of the package's own test.
func TestGoal6RecordedVerdicts(t *testing.T) {
	testdata.Path(t, "tcoracle/cases")
	cmd := exec.Command("go", "test", "-count=1", "-run", "TestRecordedVerdicts", "-v", "./tc")
	cmd.Dir = root()
	out, err := cmd.CombinedOutput()
	m := regexp.MustCompile(`(\d+) of (\d+) recorded cases agree`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n, _ := strconv.Atoi(string(m[1]))
	all, _ := strconv.Atoi(string(m[2]))
	for _, why := range regexp.MustCompile(`\S+: explained: .*`).FindAll(out, -1) {
		t.Logf("%s", why)
	}
	goal(t, err == nil && n == all, "recorded kernel verdicts of tc", share(n, all), "all, listings included")
}

const goal6Frame = "02000000000102aa00000001080045000020000000004011000a0a0000010a00000200350035000c00000102030405"

// tcSystem makes a system with n filters of a mask each that the frame does not
// match.
func tcSystem(t *testing.T, c tc.Config, n int, flag string) *tc.System {
	s := tc.New(c)
	m, err := offload.ModelNamed("eswitch-nic")
	if err != nil {
		t.Fatal(err)
	}
	s.AddDevice(tc.Device{Name: "eth0", Hardware: offload.NewDevice(m)})
	lines := []string{"qdisc add dev eth0 clsact"}
	for i := range n {
		lines = append(lines, fmt.Sprintf("filter add dev eth0 ingress protocol ip pref %d flower %s dst_ip 192.%d.0.0/%d src_mac 02:00:00:00:00:%02x/%d action drop",
			i+1, flag, i, 10+i%20, i, 20+i/20))
	}
	for _, l := range lines {
		if o := s.Line(l, tc.Options{}); o.Status != 0 {
			t.Fatalf("%s: %s", l, o.Stderr)
		}
	}
	return s
}

// perPacket measures systems in turns and returns the median of each in
// nanoseconds a packet.
func perPacket(t *testing.T, systems ...*tc.System) []float64 {
	frame, err := hex.DecodeString(goal6Frame)
	if err != nil {
		t.Fatal(err)
	}
	const rounds, packets = 21, 20000
	times := make([][]float64, len(systems))
	var p tc.Packet
	for range rounds {
		for i, s := range systems {
			d := s.Device("eth0")
			started := time.Now()
			for range packets {
				p.Load(frame, true)
				s.Receive(d, &p)
			}
			times[i] = append(times[i], float64(time.Since(started).Nanoseconds())/packets)
		}
	}
	out := make([]float64, len(systems))
	for i := range times {
		slices.Sort(times[i])
		out[i] = times[i][rounds/2]
	}
	return out
}

func TestGoal6Bypass(t *testing.T) {
	timed(t)
	for _, b := range []tc.Bypass{tc.BypassFirst, tc.BypassRefined} {
		c := tc.Config{Bypass: b}
		r := perPacket(t, tcSystem(t, c, 0, ""), tcSystem(t, c, 1, "skip_sw"), tcSystem(t, c, 10, "skip_sw"), tcSystem(t, c, 50, "skip_sw"))
		worst := max(slices.Max(r)/slices.Min(r)-1, 0)
		goal(t, worst <= 0.05, "only skip_sw filters, "+b.String()+" bypass: empty, 1, 10, 50", fmt.Sprintf("%.1f %.1f %.1f %.1f ns, apart by %.1f %%", r[0], r[1], r[2], r[3], 100*worst), "within 5 %")
	}
	c := tc.Config{Bypass: tc.BypassOff}
	r := perPacket(t, tcSystem(t, c, 1, "skip_sw"), tcSystem(t, c, 50, "skip_sw"))
	goal(t, r[1] <= 1.5*r[0], "50 masks without bypass", fmt.Sprintf("%.1f ns, %.2f times one mask", r[1], r[1]/r[0]), "at most 1.5 times")
	c.PerMask = true
	r = perPacket(t, tcSystem(t, c, 0, ""), tcSystem(t, c, 1, "skip_sw"), tcSystem(t, c, 50, "skip_sw"))
	goal(t, r[2] > 5*r[1], "50 masks without bypass, a dissection for each as in the kernel", fmt.Sprintf("%.1f ns, %.2f times one mask", r[2], r[2]/r[1]), "published: 5.5 times")
}

func TestGoal6ManyFilters(t *testing.T) {
	timed(t)
	const n = 100000
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("filter add dev eth0 ingress protocol ip pref 1 flower skip_hw dst_ip 10.%d.%d.%d action drop", i>>16, i>>8&255, i&255)
	}
	insert := func(workers int) (*tc.System, float64) {
		s := tcSystem(t, tc.Config{}, 0, "")
		started := time.Now()
		if o := s.Load("lines", lines, tc.Options{}, workers); o.Status != 0 {
			t.Fatal(o.Stderr)
		}
		return s, time.Since(started).Seconds()
	}
	var one, many []float64
	var s *tc.System
	for range 5 {
		var took float64
		s, took = insert(1)
		one = append(one, took)
		_, took = insert(16)
		many = append(many, took)
	}
	serial, parallel := slices.Min(one), slices.Min(many)
	goal(t, serial < 1, "100,000 flower filters inserted", fmt.Sprintf("%.2f s", serial), "under 1 s")
	t.Logf("read by 16 goroutines: %.2f s, %.2f times faster", parallel, serial/parallel)
	r := perPacket(t, s)
	goal(t, r[0] <= 200, "classification among 100,000 flower filters", fmt.Sprintf("%.0f ns", r[0]), "at most 200 ns")
}
