package kernel

import (
	"strings"
	"testing"

	"verdict/internal/testdata"
)

// TestTrafficAgrees compares random tc filters and packets with the running
// kernel.
func TestTrafficAgrees(t *testing.T) {
	if err := TrafficAvailable(); err != nil {
		testdata.Missing(t, "oracle", err.Error())
	}
	err := InNamespace(func() error {
		l, err := OpenTrafficLab()
		if err != nil {
			return err
		}
		defer l.Close()
		for seed := range uint64(60) {
			c := NewTrafficCase(seed, 40)
			differences, err := l.Compare(c)
			if err != nil {
				return err
			}
			if len(differences) > 0 {
				t.Errorf("seed %d:\n%s\n%s", seed, strings.Join(c.Commands, "\n"), strings.Join(differences[:min(len(differences), 3)], "\n"))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
