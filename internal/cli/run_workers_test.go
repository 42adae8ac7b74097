package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Any number of workers gives the same report and writes the same packets.
func TestJobs(t *testing.T) {
	seconds := regexp.MustCompile(`"seconds": [0-9.e-]+`)
	dir := t.TempDir()
	tracked := filepath.Join(dir, "tracked.nft")
	text := "table inet t { chain f { type filter hook forward priority 0; policy drop\nct state established,related counter accept\ntcp dport { 80, 443 } ct mark set 3 counter accept\nudp dport 53 counter accept\n}\nchain i { type filter hook input priority 0\nct state new counter\n}\n}"
	if err := os.WriteFile(tracked, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	examples := "../../examples/"
	for _, c := range []struct{ rules, capture string }{
		{examples + "server.nft", examples + "server.pcap"},
		{examples + "gateway.nft", examples + "gateway.pcapng"},
		{tracked, examples + "gateway.pcapng"},
		{tracked, examples + "server.pcap"},
	} {
		var want [3][]byte
		for _, jobs := range []string{"1", "2", "5", "0"} {
			passed, dropped := filepath.Join(dir, "passed.pcapng"), filepath.Join(dir, "dropped.pcapng")
			var out, errs bytes.Buffer
			s := &Streams{Out: &out, Err: &errs}
			args := []string{"verdict", "run", "-j", jobs, "-o", "json", "-w", passed, "--write-dropped", dropped, c.rules, c.capture}
			if status := Run(args, s); status != 0 {
				t.Fatalf("%v: %d %s", args, status, errs.String())
			}
			got := [3][]byte{seconds.ReplaceAll(out.Bytes(), nil)}
			for i, name := range []string{passed, dropped} {
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				got[i+1] = data
			}
			if jobs == "1" {
				want = got
				continue
			}
			for i, what := range []string{"report", "accepted packets", "other packets"} {
				if !bytes.Equal(got[i], want[i]) {
					t.Errorf("%s with %s: -j %s gives another %s", c.rules, c.capture, jobs, what)
				}
			}
			if note := errs.Len() > 0; note != (c.rules != tracked && jobs != "0") {
				t.Errorf("%s with %s, -j %s: %q", c.rules, c.capture, jobs, errs.String())
			}
		}
	}
}
