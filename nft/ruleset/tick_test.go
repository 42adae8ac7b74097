package ruleset

import "testing"

func TestWholeTicks(t *testing.T) {
	for ms, want := range map[uint64]uint64{0: 0, 1: 4, 4: 4, 10: 8, 100: 100, 93784010: 93784008} {
		if got := wholeTicks(ms); got != want {
			t.Errorf("%d ms: %d, want %d", ms, got, want)
		}
	}
}
