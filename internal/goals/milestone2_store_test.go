package goals

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"verdict/internal/store"
	"verdict/nft/ruleset"
)

// generationText is a ruleset that names its number everywhere: a chain whose
// rules and a set whose elements would show a mixture.
func generationText(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "flush ruleset\ntable ip g%d {\n\tset s {\n\t\ttype ipv4_addr\n\t\telements = { ", n)
	for i := range 300 {
		fmt.Fprintf(&b, "10.%d.%d.%d, ", n&255, i>>8, i&255)
	}
	b.WriteString(" }\n\t}\n\tchain c {\n")
	for i := range 200 {
		fmt.Fprintf(&b, "\t\tip saddr 10.0.%d.%d tcp dport %d counter accept\n", i>>8, i&255, n+1)
	}
	b.WriteString("\t}\n}\n")
	return b.String()
}

// isGeneration tells whether a ruleset is wholly that of a number.
func isGeneration(rs *ruleset.Ruleset, n int) bool {
	if n < 0 {
		return len(rs.Tables) == 0
	}
	if len(rs.Tables) != 1 || rs.Tables[0].Name != fmt.Sprintf("g%d", n) {
		return false
	}
	t := rs.Tables[0]
	return len(t.Chains) == 1 && len(t.Chains[0].Rules) == 200 && len(t.Sets) == 1 && t.Sets[0].Elements.Len() == 300 &&
		t.Sets[0].Elements.Lookup([]byte{10, byte(n), 1, 5}, 0) != nil
}

// TestGoal2KillLoop kills `nft -f` at random moments. Afterwards the state is
// the one before or the new one, and the new one if success was reported.
func TestGoal2KillLoop(t *testing.T) {
	rounds := 20
	if os.Getenv("VERDICT_GOALS") != "" {
		rounds = 200
	}
	verdict := binary(t)
	state := filepath.Join(t.TempDir(), "nft.state")
	files := t.TempDir()
	call := func(n int) *exec.Cmd {
		name := filepath.Join(files, fmt.Sprint(n))
		if err := os.WriteFile(name, []byte(generationText(n)), 0o600); err != nil {
			t.Fatal(err)
		}
		return exec.Command(verdict, "nft", "--state", state, "-f", name)
	}
	var calls []time.Duration
	for range 5 {
		started := time.Now()
		if out, err := call(0).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		calls = append(calls, time.Since(started))
	}
	slices.Sort(calls)
	usual := calls[len(calls)/2]
	reader := store.Open(state, store.Options{})
	before, killed, kept, lost := 0, 0, 0, 0
	for n := 1; n <= rounds; n++ {
		cmd := call(n)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(2 * usual))))
		if err := cmd.Process.Kill(); err != nil {
			t.Logf("round %d: %v", n, err)
		}
		reported := cmd.Wait() == nil
		if !reported {
			killed++
		}
		now, err := reader.Read()
		switch {
		case err != nil:
			lost++
			t.Errorf("round %d: %v", n, err)
		case isGeneration(now.Rules, n):
			before = n
			kept++
			usual = usual * 9 / 10
		case reported || !isGeneration(now.Rules, before):
			lost++
			t.Errorf("round %d (reported %v): neither the state before (%d) nor the new one", n, reported, before)
		default:
			usual = usual * 11 / 10 // so that the moments spread around the write
		}
	}
	goal(t, lost == 0 && killed > rounds/10, "kill -9 during nft -f: states lost", fmt.Sprintf("%d in %d rounds (%d killed in time, %d new states kept)", lost, rounds, killed, kept), "0")
}

// TestGoal2CallTime times calls on a small ruleset, process start included.
func TestGoal2CallTime(t *testing.T) {
	timed(t)
	verdict := binary(t)
	state := filepath.Join(t.TempDir(), "nft.state")
	nft := func(args ...string) {
		t.Helper()
		if status, _, stderr := run(t, verdict, append([]string{"nft", "--state", state}, args...)...); status != 0 {
			t.Fatal(stderr)
		}
	}
	nft("add table inet t; add chain inet t c { type filter hook input priority 0; }; add set inet t s { type ipv4_addr; flags interval; }")
	var times []time.Duration
	for i := range 101 {
		started := time.Now()
		switch i % 3 {
		case 0:
			nft("add", "rule", "inet", "t", "c", "ip", "saddr", "@s", "tcp", "dport", "{ 22, 80 }", "accept")
		case 1:
			nft("add", "element", "inet", "t", "s", fmt.Sprintf("{ 10.0.%d.0/24 }", i))
		case 2:
			nft("list", "ruleset")
		}
		times = append(times, time.Since(started))
	}
	slices.Sort(times)
	median, slow := times[len(times)/2], times[len(times)*95/100]
	goal(t, slow < 30*time.Millisecond, "nft call on a small ruleset", fmt.Sprintf("median %.1f ms, 95 %% below %.1f ms", ms(median), ms(slow)), "under 30 ms")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// TestGoal2StateOfManyRules times reading a state of 100,000 rules, in
// processor time, since other load would weigh on the clock.
func TestGoal2StateOfManyRules(t *testing.T) {
	timed(t)
	verdict := binary(t)
	state := filepath.Join(t.TempDir(), "nft.state")
	var b strings.Builder
	b.WriteString("table inet t {\n\tchain c {\n")
	for i := range 100_000 {
		fmt.Fprintf(&b, "\t\tip saddr 10.%d.%d.%d tcp dport %d counter accept\n", i>>16, i>>8&255, i&255, i%60000+1)
	}
	b.WriteString("\t}\n}\n")
	name := filepath.Join(t.TempDir(), "many.nft")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := run(t, verdict, "nft", "--state", state, "-f", name); status != 0 {
		t.Fatal(stderr)
	}
	var times []time.Duration
	for range 7 {
		cmd := exec.Command(verdict, "nft", "--state", state, "list", "tables")
		if out, err := cmd.Output(); err != nil || string(out) != "table inet t\n" {
			t.Fatalf("%v: %s", err, out)
		}
		times = append(times, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	slices.Sort(times)
	goal(t, times[3] < 500*time.Millisecond, "nft call on 100,000 rules", fmt.Sprintf("median %.0f ms of processor time", ms(times[3])), "under 500 ms")
}
