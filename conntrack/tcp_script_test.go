package conntrack

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// The files in testdata/tcp*.txtar hold conversations, one a section:
//
//	set noloose              a switch of Config
//	+5                       five seconds pass
//	> S seq 100 win 29200 ws 7 sack | new SYN_SENT 120
//
// A packet goes > from client to server or < back; its flags are letters of
// FSRPAUEC, a dot for none; len is the payload's length; "sacks L R" adds a
// selective acknowledgement, "bad" breaks the checksum, "out" sends it through
// the output hook. Behind the bar are the ct state, and for connections the TCP
// state, remaining seconds, and status words that must be there (or, behind
// an exclamation mark, must not).

func TestTCPConversations(t *testing.T) {
	for _, name := range []string{"testdata/tcp.txtar", "testdata/tcp_reset.txtar", "testdata/tcp_bugs.txtar"} {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			t.Run(f.Name, func(t *testing.T) { runTCP(t, string(f.Data)) })
		}
	}
}

func runTCP(t *testing.T, script string) {
	var config Config
	lines := strings.Split(script, "\n")
	for _, line := range lines {
		if word, ok := strings.CutPrefix(line, "set "); ok {
			setSwitch(t, &config, word)
		}
	}
	w := newWorld(t, config)
	for i, line := range lines {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "set "):
		case line[0] == '+':
			n, err := strconv.ParseFloat(line[1:], 64)
			if err != nil {
				t.Fatal(err)
			}
			w.now += int64(n * float64(second))
		default:
			text, want, _ := strings.Cut(line, "|")
			tcpStep(t, w, i+1, strings.Fields(text), strings.Fields(want))
		}
	}
}

func setSwitch(t *testing.T, c *Config, word string) {
	switch word {
	case "noloose":
		c.NoLoose = true
	case "liberal":
		c.Liberal = true
	case "ignore-rst":
		c.IgnoreRST = true
	case "accounting":
		c.Accounting = true
	case "nochecksum":
		c.NoChecksum = true
	default:
		t.Fatalf("unknown switch %q", word)
	}
}

func tcpStep(t *testing.T, w *world, line int, words, want []string) {
	frame, bad, out := tcpFrame(t, words)
	if bad {
		frame[36] ^= 1
	}
	p := w.take(frame, len(frame))
	p.Prerouting = !out
	if w.table.Track(p) != Accept || w.table.Confirm(p) != Accept {
		t.Fatalf("line %d: dropped", line)
	}
	c := w.at.Conn
	for i, word := range want {
		ok := false
		switch seconds, err := strconv.Atoi(word); {
		case i == 0:
			ok = w.state() == word
		case c == nil:
		case i == 1:
			ok = c.StateName() == word
		case err == nil:
			ok = w.seconds() == int64(seconds)
		case word[0] == '!':
			ok = !strings.Contains(w.flags(), word[1:])
		case strings.HasPrefix(word, "packets="):
			ok = word == fmt.Sprintf("packets=%d/%d", c.Packets[0], c.Packets[1])
		default:
			ok = strings.Contains(w.flags(), word)
		}
		if !ok {
			name := "no connection"
			if c != nil {
				name = fmt.Sprintf("%s %d %s packets=%d/%d", c.StateName(), w.seconds(), w.flags(), c.Packets[0], c.Packets[1])
			}
			t.Fatalf("line %d: %s: got %s, %s; want %s", line, strings.Join(words, " "), w.state(), name, strings.Join(want, " "))
		}
	}
}

// tcpFrame makes a packet between client 10.0.0.1:40000 and server 10.0.0.2:80.
func tcpFrame(t testing.TB, words []string) (frame []byte, bad, out bool) {
	h := make([]byte, 20)
	binary.BigEndian.PutUint16(h[14:], 29200)
	reply := words[0] == "<"
	for _, c := range words[1] {
		if c != '.' {
			h[13] |= 1 << strings.IndexRune("FSRPAUEC", c)
		}
	}
	payload := 0
	var options []byte
	for i := 2; i < len(words); i++ {
		number := func() uint64 {
			i++
			n, err := strconv.ParseUint(words[i], 0, 32)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		switch words[i] {
		case "seq":
			binary.BigEndian.PutUint32(h[4:], uint32(number()))
		case "ack":
			binary.BigEndian.PutUint32(h[8:], uint32(number()))
		case "win":
			binary.BigEndian.PutUint16(h[14:], uint16(number()))
		case "len":
			payload = int(number())
		case "ws":
			options = append(options, 1, 3, 3, byte(number()))
		case "sack":
			options = append(options, 1, 1, 4, 2)
		case "sacks":
			options = append(options, 1, 1, 5, 10)
			options = binary.BigEndian.AppendUint32(options, uint32(number()))
			options = binary.BigEndian.AppendUint32(options, uint32(number()))
		case "bad":
			bad = true
		case "out":
			out = true
		default:
			t.Fatalf("unknown word %q", words[i])
		}
	}
	h[12] = byte(20+len(options)) / 4 << 4
	if reply {
		binary.BigEndian.PutUint16(h, 80)
		binary.BigEndian.PutUint16(h[2:], 40000)
	} else {
		binary.BigEndian.PutUint16(h, 40000)
		binary.BigEndian.PutUint16(h[2:], 80)
	}
	segment := append(append(h, options...), make([]byte, payload)...)
	src, dst := [4]byte{10, 0, 0, 1}, [4]byte{10, 0, 0, 2}
	if reply {
		src, dst = dst, src
	}
	return ipv4(src, dst, 6, segment), bad, out
}
