package bench

import (
	"runtime"
	"runtime/metrics"
	"slices"
	"time"

	"verdict/internal/simd"
)

// Report is the result of a run.
type Report struct {
	Machine Machine  `json:"machine"`
	Figures []Figure `json:"figures"`
	Notes   []string `json:"notes,omitempty"`
	// Peer is what the figures' Peer is of, "" for the kernel; Of is what
	// Elements counts, "" for elements.
	Peer string `json:"peer,omitempty"`
	Of   string `json:"of,omitempty"`
}

// Machine is where a run took place.
type Machine struct {
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	CPUs    int    `json:"cpus"`
	Go      string `json:"go"`
	Vectors string `json:"vectors"`
}

// ThisMachine describes the machine and the process.
func ThisMachine() Machine {
	return Machine{runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), runtime.Version(), simd.Current().String()}
}

// Unit is what a figure counts.
type Unit string

// The units. Times are in nanoseconds.
const (
	Time    Unit = "ns"
	Bytes   Unit = "bytes"
	Percent Unit = "percent"
	Rate    Unit = "per second"
)

// Figure is one measured value.
type Figure struct {
	// Case is the shape of the set, or the file; Elements its size.
	Case     string `json:"case"`
	Elements int    `json:"elements,omitempty"`
	// Structure is what served, as set.Stats names it.
	Structure string `json:"structure,omitempty"`
	// What was measured: one of the constants below.
	What What `json:"what"`
	Unit Unit `json:"unit"`
	// Value is the median of the rounds, Low and High their quartiles.
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Rounds int     `json:"rounds"`
	// Peer is the median of the peer in the same rounds, 0 without one.
	Peer float64 `json:"peer,omitempty"`
	// PeerBy is the peer's algorithm, where it has several: its best one.
	PeerBy string `json:"peer_by,omitempty"`
	// Bound of the figure, nil where none is promised.
	Bound *Bound `json:"bound,omitempty"`
}

// Ratio is how many times faster than the peer the figure is, 0 without one.
func (f *Figure) Ratio() float64 {
	if f.Value == 0 {
		return 0
	}
	return f.Peer / f.Value
}

// OK reports whether the figure keeps its bound; true without one, and where
// the bound needs a peer that was not there.
func (f *Figure) OK() bool { return f.Bound == nil || f.Bound.holds(f) }

// What is what was measured.
type What string

// What is measured of a set.
const (
	LoadMemory     What = "load from memory"
	LoadText       What = "load from text"
	HeapElement    What = "heap per element"
	HitSingle      What = "lookup, hit, single"
	HitDependent   What = "lookup, hit, dependent"
	HitBurst       What = "lookup, hit, bursts of 64"
	MissSingle     What = "lookup, miss, single"
	MissDependent  What = "lookup, miss, dependent"
	MissBurst      What = "lookup, miss, bursts of 64"
	AddOne         What = "add one element"
	DeleteOne      What = "delete one element"
	ReadersPaced   What = "loss of 4 readers, 1,000 changes a second"
	ReadersFull    What = "loss of 4 readers, changes without pause"
	ReadersWall    What = "loss of 4 readers by the wall, 1,000 changes a second"
	ReadersBlocked What = "time that the readers waited for locks"
	ChangeBeside   What = "change of one element, beside 4 readers"
	ExpireMany     What = "100,000 elements expire at once"
)

// samples are the measured values of the rounds.
type samples []float64

func (s samples) figure(f Figure) Figure {
	sorted := slices.Sorted(slices.Values(s))
	n := len(sorted)
	f.Value, f.Low, f.High, f.Rounds = sorted[n/2], sorted[n/4], sorted[n*3/4], n
	return f
}

func (s samples) median() float64 {
	if len(s) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(s))[len(s)/2]
}

// timed is the processor time that f takes on its thread, in which the turns
// of other processes do not count. The caller must stay on one thread, see
// runtime.LockOSThread.
func timed(f func()) float64 {
	start := threadTime()
	f()
	return float64(threadTime() - start)
}

// timedLoad is the processor time that f takes on all threads, collections of
// garbage included: at least the time by the wall on a quiet machine.
func timedLoad(f func()) float64 {
	start := processTime()
	f()
	return float64(processTime() - start)
}

// peakHeap is by how much the memory in use grows while f runs, garbage that was
// not collected yet included. It looks every millisecond.
func peakHeap(f func()) int64 {
	before, most := heap(), int64(0)
	look := func() {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		most = max(most, int64(s[0].Value.Uint64())-before)
	}
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				look()
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	look()
	return most
}

// heap is the memory that is in use, after a collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
