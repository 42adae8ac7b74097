package goals

import (
	"strings"
	"testing"

	"verdict/host"
	"verdict/internal/kernel"
	"verdict/spec"
)

// TestSavedCaseRuns writes a random case as the oracle saves one that differs,
// and runs it as one of spec/.
func TestSavedCaseRuns(t *testing.T) {
	h, err := host.New(host.Config{Interfaces: []host.Interface{{Name: "lan0"}, {Name: "wan0"}}})
	if err != nil {
		t.Fatal(err)
	}
	c := kernel.Generate(3, 5)
	text, err := c.Spec(&kernel.Difference{Packet: 1, What: "trace", Kernel: "one", Engine: "other"}, c.Packets, h)
	if err != nil {
		t.Fatal(err)
	}
	f, err := spec.Parse("saved", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(f.Cases) != 1 || len(f.Cases[0].Packets()) != len(c.Packets) {
		t.Fatalf("%d cases, want one of %d packets", len(f.Cases), len(c.Packets))
	}
	got, err := f.Cases[0].Run(spec.Executors[0])
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !strings.Contains(got.Text, "\np4: ") {
		t.Errorf("the last packet's line is missing:\n%s", got.Text)
	}
}
