package goals

import (
	le "encoding/binary"
	"os"
	"testing"

	"verdict"
	"verdict/diag"
)

// change loads a script of changes on a ruleset.
func change(t *testing.T, base *verdict.Ruleset, script string) *verdict.Ruleset {
	t.Helper()
	r, findings := verdict.LoadSources(verdict.LoadOptions{Base: base}, diag.NewSource("change", []byte(script)))
	if r == nil {
		t.Fatalf("%s: %v", script, findings.Err())
	}
	return r
}

// writeFrames writes an Ethernet capture in the oldest form of pcap.
func writeFrames(name string, frames ...[]byte) error {
	word := le.LittleEndian.AppendUint32
	b := word(nil, 0xa1b2c3d4)
	b = append(b, 2, 0, 4, 0)
	for _, w := range []uint32{0, 0, 65535, 1} {
		b = word(b, w)
	}
	for _, f := range frames {
		b = word(word(word(word(b, 0), 0), uint32(len(f))), uint32(len(f)))
		b = append(b, f...)
	}
	return os.WriteFile(name, b, 0o644)
}
