package capture

import "testing"

func TestClock(t *testing.T) {
	var clock Clock
	for i, step := range []struct {
		frame     Frame
		now       int64
		backwards int
	}{
		{Frame{}, 0, 0},
		{Frame{HasTime: true, Time: -5}, -5, 0},
		{Frame{HasTime: true, Time: 10}, 10, 0},
		{Frame{HasTime: true, Time: 10}, 10, 0},
		{Frame{HasTime: true, Time: 9}, 10, 1},
		{Frame{Time: 50}, 10, 1},
		{Frame{HasTime: true, Time: 8}, 10, 2},
		{Frame{HasTime: true, Time: 11}, 11, 2},
	} {
		now := clock.Advance(&step.frame)
		if now != step.now || clock.Now() != step.now || clock.Backwards() != step.backwards {
			t.Errorf("step %d: %d, now %d, backwards %d; want %d, %d", i, now, clock.Now(), clock.Backwards(), step.now, step.backwards)
		}
	}
}
