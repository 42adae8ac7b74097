package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPlain: terminals get nothing to obey, wherever the writes are cut; pipes
// get everything.
func TestPlain(t *testing.T) {
	const in = "a\tä\n\x1b[2J\a\u009b1m \x9b\r\u202e€\U0001F600\n"
	for _, c := range []struct {
		terminal bool
		want     string
	}{
		{true, "a\tä\n\ufffd[2J\ufffd\ufffd1m \ufffd\ufffd\ufffd€\U0001F600\n"},
		{false, in},
	} {
		for cut := range len(in) + 1 {
			var out bytes.Buffer
			w := (&Streams{Out: &out, OutTerminal: c.terminal}).plain()
			for _, part := range []string{in[:cut], in[cut:]} {
				if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatalf("%d, %v", n, err)
				}
			}
			if out.String() != c.want {
				t.Errorf("terminal %v, cut at %d: %q, want %q", c.terminal, cut, out.String(), c.want)
			}
		}
	}
}

// TestDropInsOnTerminals: nor do the drop-ins send what they quote.
func TestDropInsOnTerminals(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	for _, args := range [][]string{
		{"verdict", "nft", "--state", state, "-f", "\x1b[31m"},
		{"verdict", "nft", "--\x1b[31m"},
		{"verdict", "tc", "--state", state + ".tc", "-\x1b[31m"},
		{"verdict", "tc", "--state", state + ".tc", "device", "add", "a", "hw", "\x1b[31m"},
	} {
		var out, errs bytes.Buffer
		s := Streams{
			In: strings.NewReader(""), Out: &out, Err: &errs, OutTerminal: true, ErrTerminal: true,
			Env: func(string) string { return "" }, Now: time.Now,
		}
		if Run(args, &s) == exitOK || errs.Len() == 0 {
			t.Errorf("%q is no mistake", args)
		}
		if strings.ContainsRune(out.String()+errs.String(), '\x1b') {
			t.Errorf("%q: %q", args, out.String()+errs.String())
		}
	}
}
