package cli

import (
	"strings"
	"testing"
)

// endless repeats its text for ever and counts what was taken.
type endless struct {
	text string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text)
	e.read += n
	return n, nil
}

// TestEndlessInput checks that input without an end is refused: binary data
// by its first bytes, text at the bound.
func TestEndlessInput(t *testing.T) {
	cases := []struct {
		text, want string
		atMost     int
	}{
		{"\x00", "stdin: this is binary data, no text", headSize},
		{"add table inet t\n", "stdin: more than 256 MB are not read", maxRules + 1},
	}
	for _, c := range cases {
		in := &endless{text: strings.Repeat(c.text, 4096)}
		_, err := readSource(&Streams{In: in}, "-")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q repeated: %v, want %q", c.text, err, c.want)
		}
		if in.read > c.atMost {
			t.Errorf("%q repeated: %d bytes were read, want at most %d", c.text, in.read, c.atMost)
		}
	}
}
