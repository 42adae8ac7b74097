//go:build linux

package classify

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// cpuPerKey runs op over and over and reports the processor time of this
// thread per key: what other programs take does not count.
func cpuPerKey(b *testing.B, keys int, op func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	now := func() int64 {
		var t unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
		return t.Nano()
	}
	n, started := 0, now()
	for b.Loop() {
		op()
		n++
	}
	b.ReportMetric(float64(now()-started)/float64(n*keys), "cpu-ns/key")
}
