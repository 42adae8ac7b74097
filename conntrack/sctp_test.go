package conntrack

import (
	"encoding/binary"
	"strconv"
	"strings"
	"testing"

	"verdict/packet"

	"golang.org/x/tools/txtar"
)

// The file testdata/sctp.txtar holds conversations, one a section:
//
//	> tag 0 init 7 | new CLOSED 10
//
// A packet has a verification tag and chunks: init and init-ack with their
// initiate tag, others by name; "T" behind abort or shutdown-complete sets that
// flag. Behind the bar are the ct state, the association's state and the
// remaining seconds.

func TestSCTPConversations(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/sctp.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		t.Run(f.Name, func(t *testing.T) {
			w := newWorld(t, Config{})
			for i, line := range strings.Split(string(f.Data), "\n") {
				line, _, _ = strings.Cut(line, "#")
				if line = strings.TrimSpace(line); line == "" {
					continue
				}
				if line[0] == '+' {
					n, _ := strconv.Atoi(line[1:])
					w.now += int64(n) * second
					continue
				}
				text, want, _ := strings.Cut(line, "|")
				if w.send(sctpFrame(t, strings.Fields(text))) != Accept {
					t.Fatalf("line %d: dropped", i+1)
				}
				got := w.state()
				if c := w.at.Conn; c != nil {
					got += " " + c.StateName() + " " + strconv.FormatInt(w.seconds(), 10)
					if c.Status&StatusAssured != 0 {
						got += " assured"
					}
				}
				if want = strings.TrimSpace(want); got != want {
					t.Fatalf("line %d: %s: got %s, want %s", i+1, text, got, want)
				}
			}
		})
	}
}

var chunkNames = map[string]byte{
	"data": chunkData, "init": chunkInit, "init-ack": chunkInitAck, "heartbeat": chunkHeartbeat,
	"heartbeat-ack": chunkHeartbeatAck, "abort": chunkAbort, "shutdown": chunkShutdown,
	"shutdown-ack": chunkShutdownAck, "error": chunkError, "cookie-echo": chunkCookieEcho,
	"cookie-ack": chunkCookieAck, "shutdown-complete": chunkShutdownComplete, "sack": 3, "asconf": 193,
}

// sctpFrame makes a packet between 10.0.0.1:4000 and 10.0.0.2:5000.
func sctpFrame(t *testing.T, words []string) []byte {
	h := make([]byte, 12)
	src, dst := [4]byte{10, 0, 0, 1}, [4]byte{10, 0, 0, 2}
	binary.BigEndian.PutUint16(h, 4000)
	binary.BigEndian.PutUint16(h[2:], 5000)
	if words[0] == "<" {
		src, dst = dst, src
		binary.BigEndian.PutUint16(h, 5000)
		binary.BigEndian.PutUint16(h[2:], 4000)
	}
	for i := 1; i < len(words); i++ {
		number := func() uint32 {
			i++
			n, err := strconv.ParseUint(words[i], 0, 32)
			if err != nil {
				t.Fatal(err)
			}
			return uint32(n)
		}
		switch word := words[i]; word {
		case "tag":
			binary.BigEndian.PutUint32(h[4:], number())
		case "T":
			h[len(h)-3] = 1
		case "zero-length":
			h = append(h, chunkData, 0, 0, 0)
		case "init", "init-ack":
			h = append(h, chunkNames[word], 0, 0, 20)
			h = binary.BigEndian.AppendUint32(h, number())
			h = append(h, make([]byte, 12)...)
		default:
			kind, ok := chunkNames[word]
			if !ok {
				t.Fatalf("unknown chunk %q", word)
			}
			h = append(h, kind, 0, 0, 4)
		}
	}
	return ipv4(src, dst, packet.ProtoSCTP, h)
}
