//go:build !linux

package bench

import "time"

// pinTo keeps the calling thread on one processor; not here.
func pinTo(int) {}

var began = time.Now()

// threadTime is the time since the start in nanoseconds: no clock tells the
// calling thread's processor time here.
func threadTime() int64 { return int64(time.Since(began)) }

// processTime is the time since the start in nanoseconds, likewise.
func processTime() int64 { return threadTime() }

// prioritize gives the calling thread precedence; not here.
func prioritize() (restore func()) { return func() {} }

// waitingTime is not known here.
func waitingTime() int64 { return 0 }
