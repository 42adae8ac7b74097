package simd

import (
	"fmt"
	"os"
)

// Level is a set of vector instructions.
type Level uint8

// Levels, each with all instructions of those before it.
const (
	// Generic uses no vector instructions.
	Generic Level = iota
	// AVX2 stands for AVX2 with BMI2 and POPCNT.
	AVX2
	// AVX512 stands for AVX-512 F, BW, DQ and VL.
	AVX512
	levels
)

var levelNames = [levels]string{"generic", "avx2", "avx512"}

func (l Level) String() string {
	if l < levels {
		return levelNames[l]
	}
	return fmt.Sprintf("level %d", uint8(l))
}

// Override is the environment variable that lowers the level: generic, avx2
// or avx512.
const Override = "VERDICT_SIMD"

// level is what the kernels use. It is read without synchronisation: set it
// only while nothing else runs.
var level = choose(supported, os.Getenv(Override))

// choose returns the level named by an override, but none that the processor
// lacks.
func choose(most Level, override string) Level {
	for l := range levels {
		if levelNames[l] == override {
			return min(l, most)
		}
	}
	return most
}

// Current is the level in use.
func Current() Level { return level }

// Supported is the highest level of this processor and build.
func Supported() Level { return supported }

// Set changes the level, at most to what is supported, and returns a function
// that changes it back. It is for tests and measurements: no other goroutine
// may run a kernel meanwhile.
func Set(l Level) (restore func()) {
	old := level
	level = min(l, supported)
	return func() { level = old }
}
