//go:build linux

package engine_test

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// cpuTime is the processor time that this thread has used, in nanoseconds; call
// it between LockOSThread and UnlockOSThread. Other programs do not disturb it
// as they do the time of day.
func cpuTime() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return t.Nano()
}

// cpuPerOp reports processor time per operation.
func cpuPerOp(b *testing.B, op func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range 1000 {
		op()
	}
	n := 0
	started := cpuTime()
	for b.Loop() {
		op()
		n++
	}
	b.ReportMetric(float64(cpuTime()-started)/float64(n), "cpu-ns/op")
}
