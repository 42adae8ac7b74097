package netns

import (
	"errors"
	"testing"
	"time"
)

func TestTry(t *testing.T) {
	if err := try("true"); err != nil {
		t.Errorf("true: %v", err)
	}
	if err := try("false"); err == nil {
		t.Error("false: no error")
	}
	if err := try("no-such-command"); err == nil {
		t.Error("no such command: no error")
	}
}

// TestTryGivesUp: a command that does not end is left alone.
func TestTryGivesUp(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: takes ten seconds")
	}
	started := time.Now()
	if err := try("sleep", "12"); !errors.Is(err, errStuck) {
		t.Errorf("%v, want %v", err, errStuck)
	}
	if d := time.Since(started); d > patience+5*time.Second {
		t.Errorf("took %v", d)
	}
}
