package tc

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the scripts' outputs")

// TestScripts runs the command lines of testdata/script, which begin with
// "$ tc" (or "$ packet DEVICE in|out HEX", "$ wait SECONDS"), and compares what
// they print, an exit status other than 0 as "[N]".
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got := playScript(t, string(text))
		if got == string(text) {
			continue
		}
		if *update {
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%s: %s", name, firstDifference(got, string(text)))
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("line %d:\n got %q\nwant %q", i+1, a[i], b[min(i, len(b)-1)])
		}
	}
	return "output is missing"
}

func playScript(t *testing.T, text string) string {
	s := newWorld(t, Config{Now: 1e18})
	var out strings.Builder
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
			out.WriteString(line + "\n")
		case strings.HasPrefix(line, "$ tc "):
			out.WriteString(line + "\n")
			words, _ := splitLine(strings.TrimPrefix(line, "$ tc "))
			o := s.Run(words, nil)
			out.WriteString(o.Stdout + o.Stderr)
			if o.Status != 0 {
				fmt.Fprintf(&out, "[%d]\n", o.Status)
			}
		case strings.HasPrefix(line, "$ wait "):
			out.WriteString(line + "\n")
			var n int64
			fmt.Sscan(strings.TrimPrefix(line, "$ wait "), &n)
			s.Now += n * 1e9
		case strings.HasPrefix(line, "$ packet "):
			out.WriteString(line + "\n" + playPacket(t, s, strings.Fields(line)[2:]) + "\n")
		}
	}
	return out.String()
}

func playPacket(t *testing.T, s *System, words []string) string {
	var p Packet
	if !p.Load(frame(t, strings.Join(words[2:], "")), words[1] == "in") {
		return "not received"
	}
	var r Result
	if words[1] == "in" {
		r = s.Receive(s.Device(words[0]), &p)
	} else {
		r = s.Transmit(s.Device(words[0]), &p)
	}
	l := []string{r.Fate.String() + " (" + r.Code.String() + ")"}
	for i := range r.Outputs {
		o := &r.Outputs[i]
		dir := "up from"
		if o.Egress {
			dir = "out of"
		}
		l = append(l, fmt.Sprintf("  %s %s mark %d: %x", dir, o.Device.Name, o.Packet.Mark, o.Packet.Frame()))
	}
	return strings.Join(l, "\n")
}
