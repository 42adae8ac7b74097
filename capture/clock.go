package capture

// Clock makes the timestamps of a capture run forwards: a frame that is older
// than the one before happens at the same time as that one. The zero Clock is
// ready for use.
type Clock struct {
	now       int64
	started   bool
	backwards int
}

// Advance moves the clock to a frame's time and returns the time that now
// holds, in nanoseconds since 1970. A frame without a time leaves it where it
// is.
func (c *Clock) Advance(frame *Frame) int64 {
	if !frame.HasTime {
		return c.now
	}
	return c.AdvanceTo(frame.Time)
}

// AdvanceTo moves the clock to a time unless that lies in its past.
func (c *Clock) AdvanceTo(time int64) int64 {
	if c.started && time < c.now {
		c.backwards++
		return c.now
	}
	c.now, c.started = time, true
	return time
}

// Now is the current time, 0 before the first frame that has one.
func (c *Clock) Now() int64 { return c.now }

// Backwards counts the frames whose timestamp lay before the clock.
func (c *Clock) Backwards() int { return c.backwards }
