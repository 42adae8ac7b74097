package bench

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"verdict/classify"
	"verdict/internal/workload"
)

// fakePeer puts a program into a folder that answers each request by a line of
// a shell script.
func fakePeer(t *testing.T, name, script string) (dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: there is no shell")
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A peer that does not start, ends or answers nonsense is an error that says so.
func TestPeerErrors(t *testing.T) {
	if _, err := StartPeer(t.TempDir()); err == nil || !strings.Contains(err.Error(), "make peers") {
		t.Error(err)
	}
	for script, want := range map[string]string{
		"echo no BPF here >&2; exit 1":            "the peer is gone: no BPF here",
		"exit 3":                                  "exit status 3",
		"read x; echo nonsense":                   "the peer's answer",
		`read x; echo '{"error":"no nf_tables"}'`: "the peer: no nf_tables",
		`read x; echo '{"ns":"many"}'`:            "the peer's answer",
	} {
		p, err := StartPeer(fakePeer(t, "kernel", script))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Ping(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
		_ = p.Close()
	}
}

// The kernel has both forms of the rules, and its answers become rows.
func TestKernelWays(t *testing.T) {
	ways, notes := StartKernelWays(fakePeer(t, "kernel", `
while read x; do
	case "$x" in
	*'"do":"load"'*) echo '{"ns":5}';;
	*'"do":"frames"'*) echo '{}';;
	*'"do":"lookup"'*) echo '{"ns":2000}';;
	esac
done
`))
	if len(ways) != 2 || len(notes) != 0 {
		t.Fatal(ways, notes)
	}
	report, err := Rules([]string{"same"}, []int{5}, ways, &Options{Rounds: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{LinuxNft, LinuxLegacy} {
		if r := report.Row("same", 5, way); r == nil || r.Time != 2000 || r.PPS != 500_000 {
			t.Errorf("%s: %+v", way, r)
		}
	}
	for _, w := range ways {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestKernelWaysMissing(t *testing.T) {
	if ways, notes := StartKernelWays("nowhere"); len(ways) != 0 || len(notes) != 1 || !strings.Contains(notes[0], "make peers PEERS=nowhere") {
		t.Error(ways, notes)
	}
	ways, notes := StartKernelWays(fakePeer(t, "kernel", `read x; echo '{"error":"refused\nwith a caret"}'`))
	if len(ways) != 0 || len(notes) != 2 {
		t.Fatal(ways, notes)
	}
}

// What is missing is said plainly.
func TestKernelReasons(t *testing.T) {
	refused := &os.PathError{Op: "load", Path: "x", Err: os.ErrInvalid}
	here := kernelFilter{tool: "sh", debian: "dash", needs: "nf_tables"}
	gone := kernelFilter{tool: "no-such-tool", debian: "nftables"}
	for _, c := range []struct {
		filter kernelFilter
		user   int
		want   string
	}{
		{here, 1000, "it needs root (sudo)"},
		{gone, 0, "there is no no-such-tool here (Debian: apt-get install nftables)"},
		{here, 0, "load x: invalid argument (it needs nf_tables, and BPF netfilter programs: Linux 6.4 or later)"},
	} {
		if got := c.filter.reason(refused, c.user); got.Error() != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

var threeRules = []workload.FiveTuple{
	{Src: 10 << 24, SrcLen: 8, Dst: 0xc0000201, DstLen: 32, SrcPort: [2]uint16{0, 65535}, DstPort: [2]uint16{80, 81}, Proto: 6},
	{SrcPort: [2]uint16{1, 2}, DstPort: [2]uint16{3, 4}, AnyProto: true},
}

func TestAclFiles(t *testing.T) {
	if b := aclRules(threeRules); len(b) != 20*len(threeRules) || string(b[16:20]) != "\x08\x20\x06\xff" || string(b[36:40]) != "\x00\x00\x00\x00" {
		t.Errorf("% x", b)
	}
	if b := aclHeaders([]workload.Header{{Src: 1, Dst: 2, SrcPort: 3, DstPort: 4, Proto: 5}}); string(b) != "\x00\x00\x00\x01\x00\x00\x00\x02\x00\x03\x00\x04\x05\x00\x00\x00" {
		t.Errorf("% x", b)
	}
	if got := aclSum([]uint32{classify.None, 0}); got == aclSum([]uint32{0, classify.None}) || got != aclSum([]uint32{classify.None, 0}) {
		t.Error(got)
	}
}

// aclScript answers as rte_acl with two algorithms.
func aclScript(sum string) string {
	return `
while read x; do
	case "$x" in
	build*) echo '{"ns":5000,"bytes":1000,"peak":2000,"huge":false,"version":"DPDK 0","algorithms":["slow","quick"]}';;
	headers*) echo '{}';;
	*slow*) echo '{"ns":90.5,"sum":"` + sum + `"}';;
	*quick*) echo '{"ns":30.5,"sum":"` + sum + `"}';;
	esac
done
`
}

func TestClassifyPeer(t *testing.T) {
	found := []uint32{3, classify.None}
	peers, note := FindClassifyPeers(fakePeer(t, "rte_acl", aclScript(aclSum(found))), time.Minute)
	if peers == nil {
		t.Fatal(note)
	}
	p, err := peers.start(threeRules, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if p.built.NS != 5000 || p.built.Bytes != 1000 || p.built.Peak != 2000 {
		t.Errorf("%+v", p.built)
	}
	for range 5 {
		if err := p.lookup(64, found); err != nil {
			t.Fatal(err)
		}
	}
	if algorithm, took := p.best(64); algorithm != "quick" || len(took) != 5 || took.median() != 30.5 {
		t.Error(algorithm, took)
	}
	if took := p.took[aclWay{"slow", 64}]; len(took) != 3 {
		t.Errorf("the slow algorithm was measured %d times", len(took))
	}
	if err := p.lookup(64, []uint32{1, 2}); err == nil || !strings.Contains(err.Error(), "finds other rules") {
		t.Error(err)
	}
	if got := peers.About(); !strings.Contains(got, "DPDK 0 on ordinary pages") || !strings.Contains(got, "slow, quick") {
		t.Error(got)
	}
}

// A build that fails or takes too long leaves a note, and the rest is measured.
func TestClassifyPeerNotes(t *testing.T) {
	for script, want := range map[string]string{
		`read x; echo '{"error":"it does not build: Cannot allocate memory after 21 s"}'`: "acl, 50 rules: rte_acl is not measured: the peer: it does not build: Cannot allocate memory after 21 s",
		`read x; exec sleep 60`: "acl, 50 rules: rte_acl is not measured: its build was ended after 200ms",
	} {
		peers, note := FindClassifyPeers(fakePeer(t, "rte_acl", script), 200*time.Millisecond)
		if peers == nil {
			t.Fatal(note)
		}
		figures, notes, err := Classify("acl", 50, peers, &Options{Rounds: 1})
		if err != nil || len(notes) != 1 || notes[0] != want || len(figures) != 5 {
			t.Errorf("%v %q %v", err, notes, figures)
		}
	}
	if peers, note := FindClassifyPeers("nowhere", time.Minute); peers != nil || !strings.Contains(note, "libdpdk-dev") {
		t.Error(peers, note)
	}
}
