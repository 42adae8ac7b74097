package bench

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// pinTo keeps the calling thread on one processor; where the system does not
// allow it, the thread stays free.
func pinTo(cpu int) {
	var set unix.CPUSet
	set.Set(cpu)
	_ = unix.SchedSetaffinity(0, &set)
}

// threadTime is the processor time of the calling thread in nanoseconds.
func threadTime() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return t.Nano()
}

// processTime is the processor time of the process in nanoseconds.
func processTime() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return t.Nano()
}

// prioritize gives the calling thread precedence over other processes, where
// the system allows it, until restore is called: a thread that loses the
// processor finds the caches full of others' data when it comes back.
func prioritize() (restore func()) {
	const most = -20
	before, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil || unix.Setpriority(unix.PRIO_PROCESS, 0, most) != nil {
		return func() {}
	}
	// The system call answers 20 minus the value.
	return func() { _ = unix.Setpriority(unix.PRIO_PROCESS, 0, 20-before) }
}

// waitingTime is how long the threads of the process have been ready to run
// without a processor, in nanoseconds.
func waitingTime() int64 {
	names, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil {
		return 0
	}
	total := int64(0)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		var ran, waited int64
		if _, err := fmt.Sscan(string(text), &ran, &waited); err == nil {
			total += waited
		}
	}
	return total
}
