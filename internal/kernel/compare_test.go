//go:build linux

package kernel

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"verdict/internal/testdata"
)

// need ends a test where the oracle cannot run.
func need(t testing.TB) {
	t.Helper()
	if err := Available(); err != nil {
		testdata.Missing(t, "oracle", err.Error())
	}
}

// inLab runs a test's work in a lab of its own.
func inLab(t *testing.T, work func(l *Lab) error) {
	t.Helper()
	need(t)
	err := InNamespace(func() error {
		l, err := OpenLab()
		if err != nil {
			return err
		}
		defer l.Close()
		return work(l)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLabsStayInside: nothing outside of namespaces made for it is set up.
func TestLabsStayInside(t *testing.T) {
	if _, err := OpenLab(); !errors.Is(err, errOutside) {
		t.Errorf("lab: %v, want %v", err, errOutside)
	}
	if _, err := OpenTrafficLab(); !errors.Is(err, errOutside) {
		t.Errorf("tc lab: %v, want %v", err, errOutside)
	}
}

// TestCompareBriefly runs a few fixed cases. ORACLE_SEED and ORACLE_CASES
// choose others, to look at a finding again.
func TestCompareBriefly(t *testing.T) {
	need(t)
	c := Campaign{Seed: 1, Cases: 60, Packets: 40, Workers: runtime.NumCPU(), Time: time.Minute, Keep: 5}
	if v, err := strconv.ParseUint(os.Getenv("ORACLE_SEED"), 10, 64); err == nil {
		c.Seed = v
	}
	if v, err := strconv.Atoi(os.Getenv("ORACLE_CASES")); err == nil {
		c.Cases = v
	}
	r, err := c.Run()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Differing {
		t.Errorf("%s", f.Text)
	}
	t.Logf("%d cases, %d refused by both, %d pairs, %.0f a second", r.Cases, r.Refused, r.Pairs, r.Rate())
	if r.Refused*5 > r.Cases {
		t.Error("more than a fifth of the rulesets are refused")
	}
}

// TestDifferencesAreSeen hands the two different rulesets.
func TestDifferencesAreSeen(t *testing.T) {
	inLab(t, func(l *Lab) error {
		c := &Case{Ruleset: "table inet t {\n\tchain c {\n\t\ttype filter hook prerouting priority 0; policy accept;\n\t\tudp dport 53 counter\n\t}\n}\n"}
		for _, text := range []string{"udp dport 53", "udp dport 54"} {
			c.Packets = append(c.Packets, frameOf(t, text))
		}
		result := &Result{}
		loaded, err := l.load(c, result)
		if err != nil {
			return err
		}
		defer l.unload(loaded)
		runs, err := newRuns(loaded, l)
		if err != nil {
			return err
		}
		for n := range c.Packets {
			if err := l.packet(loaded, runs, c, n, result); err != nil {
				return err
			}
		}
		if len(result.Differences) != 0 {
			t.Errorf("they differ: %v", result.Differences)
		}
		// A packet that only the kernel sees shows in the next trace and
		// answers, and in the counters of both ways of the engine.
		if err := l.Inject(&Frame{c.Packets[0].Interface, c.Packets[0].Data}); err != nil {
			return err
		}
		if err := l.packet(loaded, runs, c, 1, result); err != nil {
			return err
		}
		if err := l.state(runs, result); err != nil {
			return err
		}
		counter := "counter of inet t c rule 2"
		var got []string
		for _, d := range result.Differences {
			got = append(got, d.What)
		}
		if want := []string{"trace", "frames that leave lan0", counter, counter}; !slices.Equal(got, want) {
			t.Errorf("a packet more gave the differences %q, want %q", got, want)
		}
		return nil
	})
}

// TestRefusalsAgree compares the errors of batches that are refused.
func TestRefusalsAgree(t *testing.T) {
	inLab(t, func(l *Lab) error {
		for _, text := range []string{
			"table ip t {\n\tchain c {\n\t\ttype nat hook prerouting priority -300; policy accept;\n\t}\n}\n",
			"table ip t {\n\tchain a {\n\t\tjump b\n\t}\n\tchain b {\n\t\tjump a\n\t}\n\tchain c {\n\t\ttype filter hook input priority 0; policy accept;\n\t\tjump a\n\t}\n}\n",
			"table ip t {\n\tset s {\n\t\ttype ipv4_addr\n\t\tsize 1\n\t\telements = { 1.2.3.4, 5.6.7.8 }\n\t}\n}\n",
		} {
			r, err := l.Compare(&Case{Ruleset: text})
			if err != nil {
				return err
			}
			if !r.Refused {
				t.Errorf("not refused by both:\n%s%v", text, r.Differences)
			}
		}
		return nil
	})
}

// TestNftReadsWhatWeWrite lists with nft what was loaded through netlink.
func TestNftReadsWhatWeWrite(t *testing.T) {
	need(t)
	if _, err := exec.LookPath("nft"); err != nil {
		testdata.Missing(t, "oracle", "the command nft is not installed")
	}
	inLab(t, func(l *Lab) error { return nftReads(t, l) })
}
