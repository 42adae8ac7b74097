package bench

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"runtime/pprof"
	"strings"
)

// profile runs f and gives the share of processor time by function.
func profile(f func()) (map[string]float64, error) {
	var out bytes.Buffer
	if err := pprof.StartCPUProfile(&out); err != nil {
		f()
		return nil, nil // the process is being profiled already
	}
	f()
	pprof.StopCPUProfile()
	return leaves(&out)
}

// shares adds up the time of copying, of intersections and of refills.
func shares(leaves map[string]float64) (copied, and, refill float64) {
	for name, share := range leaves {
		switch {
		case strings.HasPrefix(name, "runtime.memmove"), strings.HasPrefix(name, "runtime.memclr"):
			copied += share
		case strings.Contains(name, "internal/simd."), strings.HasSuffix(name, ".intersect"):
			and += share
		case strings.HasSuffix(name, ".refill"), strings.HasSuffix(name, ".setRun"):
			refill += share
		}
	}
	return copied, and, refill
}

// Fields of the messages of a profile.
//
// Ref: github.com/google/pprof, proto/profile.proto
const (
	profileSample   = 2
	profileLocation = 4
	profileFunction = 5
	profileString   = 6

	sampleLocation, sampleValue = 1, 2
	locationID, locationLine    = 1, 4
	lineFunction                = 1
	functionID, functionName    = 1, 2
)

// leaves reads a profile: how large a share of the samples each function has
// in which they were taken.
func leaves(compressed io.Reader) (map[string]float64, error) {
	z, err := gzip.NewReader(compressed)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	var names []string
	counts := map[[2]uint64]uint64{} // samples by location, and that of the caller
	functions := map[uint64]uint64{} // function by location
	named := map[uint64]uint64{}     // place of the name by function
	total := uint64(0)
	for m := range fields(data) {
		switch m.number {
		case profileSample:
			if at, value := m.firstTwo(sampleLocation), m.first(sampleValue); at[0] != 0 {
				counts[at] += value
				total += value
			}
		case profileLocation:
			for f := range fields(m.data) {
				if f.number == locationLine {
					functions[m.first(locationID)] = f.first(lineFunction)
					break // the innermost of inlined functions
				}
			}
		case profileFunction:
			named[m.first(functionID)] = m.first(functionName)
		case profileString:
			names = append(names, string(m.data))
		}
	}
	nameOf := func(location uint64) string {
		if name := named[functions[location]]; name < uint64(len(names)) {
			return names[name]
		}
		return ""
	}
	list := map[string]float64{}
	for at, n := range counts {
		name := nameOf(at[0])
		if name == "runtime.asyncPreempt" { // put between by the scheduler
			name = nameOf(at[1])
		}
		list[name] += float64(n) / float64(total)
	}
	return list, nil
}

// message is a field of an encoded message.
type message struct {
	number uint64
	value  uint64 // of a number
	data   []byte // of a message, a string or packed numbers
}

// fields yields the fields of a message; it ends at the first that is damaged.
func fields(b []byte) func(func(message) bool) {
	return func(yield func(message) bool) {
		for len(b) > 0 {
			key, n := binary.Uvarint(b)
			if n <= 0 {
				return
			}
			value, k := binary.Uvarint(b[n:])
			if k <= 0 {
				return
			}
			b = b[n+k:]
			m := message{number: key >> 3, value: value}
			const bytesType = 2
			if key&7 == bytesType {
				if value > uint64(len(b)) {
					return
				}
				m.data, b = b[:value], b[value:]
			}
			if !yield(m) {
				return
			}
		}
	}
}

// first is the first number of a field, also of packed ones.
func (m message) first(number uint64) uint64 { return m.firstTwo(number)[0] }

// firstTwo is the first two numbers of a field, which may be packed; 0 where
// there are fewer.
func (m message) firstTwo(number uint64) (v [2]uint64) {
	n := 0
	for f := range fields(m.data) {
		if f.number != number || n == len(v) {
			continue
		}
		if f.data == nil {
			v[n] = f.value
			n++
			continue
		}
		for b := f.data; len(b) > 0 && n < len(v); n++ {
			size := 0
			if v[n], size = binary.Uvarint(b); size <= 0 {
				return v
			}
			b = b[size:]
		}
	}
	return v
}
