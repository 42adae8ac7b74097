//go:build unix

package goals

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verdict/internal/testdata"
)

const acceptEverything = `table inet everything {
	chain prerouting { type filter hook prerouting priority 0; policy accept; counter; }
	chain input { type filter hook input priority 0; policy accept; counter; }
	chain forward { type filter hook forward priority 0; policy accept; counter; }
	chain output { type filter hook output priority 0; policy accept; counter; }
	chain postrouting { type filter hook postrouting priority 0; policy accept; counter; }
}
`

func TestGoal1Captures(t *testing.T) {
	dir := testdata.Path(t, "corpus/pcap")
	text, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index []struct {
		File    string `json:"file"`
		Packets int    `json:"packets"`
	}
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(t.TempDir(), "all.nft")
	if err := os.WriteFile(rules, []byte(acceptEverything), 0o644); err != nil {
		t.Fatal(err)
	}
	command := binary(t)
	read, counted := 0, 0
	for _, e := range index {
		status, stdout, stderr := run(t, command, "run", "-o", "json", rules, filepath.Join(dir, e.File))
		var report struct {
			Packets int
			Error   string
		}
		if err := json.Unmarshal([]byte(stdout), &report); err != nil || strings.Contains(stderr, "panic") {
			t.Logf("%s: status %d: %v %s", e.File, status, err, stderr)
			continue
		}
		if status == 0 || (status == 2 && strings.Contains(report.Error, "offset")) {
			read++
		} else {
			t.Logf("%s: status %d, %s", e.File, status, stderr)
		}
		if report.Packets == e.Packets {
			counted++
		} else {
			t.Logf("%s: %d packets, recorded %d (%s)", e.File, report.Packets, e.Packets, report.Error)
		}
	}
	goal(t, read == len(index), "captures read to their end or to a named offset", share(read, len(index)), "all")
	goal(t, counted == len(index), "packet counts agree", share(counted, len(index)), "all")
}

const fiveMistakes = `table inet filter {
	chain input {
		type filter hook input priority filter; policy drop;
		tcp dprt 22 accept
		ip saddr 10.0.0.300 drop
		ct state establishd accept
		tcp dport 80 ip6 saddr 10.0.0.1 accept
		udp dport 53 jump nowhere
	}
}
`

func TestGoal1FiveMistakes(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "wrong.nft")
	if err := os.WriteFile(rules, []byte(fiveMistakes), 0o644); err != nil {
		t.Fatal(err)
	}
	status, _, stderr := run(t, binary(t), "check", rules)
	found := 0
	for _, want := range []struct {
		line int
		word string
	}{{4, "dprt"}, {5, "10.0.0.300"}, {6, "establishd"}, {7, "10.0.0.1"}, {8, "nowhere"}} {
		if caretUnder(stderr, want.line, want.word) {
			found++
		} else {
			t.Logf("line %d: no caret under %s", want.line, want.word)
		}
	}
	t.Log("\n" + stderr)
	goal(t, found == 5, "five mistakes reported with the caret under the word", share(found, 5), "all")
	goal(t, status == 1, "exit status", fmt.Sprint(status), "1")
}

// caretUnder looks for a report of a line whose carets lie under a word.
func caretUnder(stderr string, line int, word string) bool {
	lines := strings.Split(stderr, "\n")
	for i, head := range lines {
		if !strings.Contains(head, fmt.Sprintf(":%d:", line)) || i+2 >= len(lines) {
			continue
		}
		at := strings.Index(lines[i+1], word)
		marks := lines[i+2]
		if at >= 0 && at < len(marks) && marks[at] == '^' && strings.Count(marks, "^") <= len(word) {
			return true
		}
	}
	return false
}

func TestGoal1HostileInput(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	command := binary(t)
	capture := filepath.Join(root(), "examples", "server.pcap")
	for _, c := range []struct {
		name, path string
		status     []int
	}{
		{"missing file", filepath.Join(dir, "nosuch.nft"), []int{2}},
		{"directory", dir, []int{2}},
		{"binary file", write("binary.nft", []byte{0x7f, 'E', 'L', 'F', 0, 1, 2, 3, 0xff, 0xfe}), []int{1, 2}},
		{"capture as ruleset", capture, []int{2}},
		{"100 MB of garbage", garbage(t, dir), []int{1, 2}},
	} {
		status, peak, message := bounded(t, command, "check", c.path)
		ok := message != "" && !strings.Contains(message, "panic") && contains(c.status, status) && peak < 1<<30
		first, _, _ := strings.Cut(message, "\n")
		goal(t, ok, c.name, fmt.Sprintf("status %d, %d MB, %.80q", status, peak>>20, first), "a clear message, no panic, under 1 GB")
	}
	empty := write("empty.nft", nil)
	status, peak, _ := bounded(t, command, "check", empty)
	goal(t, status == 0 && peak < 1<<28, "empty file", fmt.Sprintf("status %d", status), "accepted, as nft does")
}

// garbage writes 100 MB of random letters and signs, piece by piece: what the
// test itself holds would count as the command's memory.
func garbage(t *testing.T, dir string) string {
	path := filepath.Join(dir, "garbage.nft")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const signs = "abcdefghij {}();:,.\"'@$#!&|<>=-+*/\\0123456789\n\t"
	piece := make([]byte, 1<<20)
	state := uint32(1)
	for range 100 {
		for i := range piece {
			state = state*1664525 + 1013904223
			piece[i] = signs[state>>16%uint32(len(signs))]
		}
		if _, err := file.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func contains(list []int, n int) bool {
	for _, x := range list {
		if x == n {
			return true
		}
	}
	return false
}
