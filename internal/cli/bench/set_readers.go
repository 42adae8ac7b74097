package bench

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"verdict/set"
)

// readers is how many goroutines look up beside the writer.
const readers = 4

// readerBlock is the number of lookups between two looks at the set's state.
const readerBlock = 256

// window is how long the readers' rate is measured at a time.
const window = 60 * time.Millisecond

// The writer's pace in a window.
const (
	writerIdle int32 = iota
	writerPaced
	writerFull
)

// pause lies between two changes of the paced writer.
const pause = time.Millisecond

// field is the ground on which readers and a writer meet: every thread on a
// processor of its own, as far as there are enough. With two processors the
// readers share one and the writer has the other.
type field struct {
	set    *set.Set
	keys   []byte
	size   int
	stop   atomic.Bool
	pace   atomic.Int32
	done   atomic.Int64 // lookups
	spent  atomic.Int64 // processor time of the readers
	failed atomic.Pointer[error]
	// change makes one change; took gathers the times.
	change func(i int) error
	took   samples
}

// readers measures what four readers lose while a writer changes the set.
func (r *setRun) readers() error {
	r.tell("%s, %d elements: readers beside a writer", r.shape.Name, r.n)
	f := &field{set: r.built, keys: r.hits, size: r.shape.Desc.KeyLen}
	f.change = func(i int) error {
		es := r.shape.entry(r.n + i/2%spare)
		if i%2 == 0 {
			return insert(r.built, es)
		}
		return remove(r.built, es)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(readers+2, runtime.GOMAXPROCS(0))))
	var threads sync.WaitGroup
	for i := range readers {
		threads.Go(func() { f.read(i) })
	}
	threads.Go(f.write)
	before := blocked()
	lost := f.windows(r.Rounds)
	waited := blocked() - before
	f.stop.Store(true)
	threads.Wait()
	if err := f.failed.Load(); err != nil {
		return fmt.Errorf("beside readers: %w", *err)
	}
	r.add(ReadersPaced, Percent, lost.paced, nil)
	r.add(ReadersFull, Percent, lost.full, nil)
	r.add(ReadersWall, Percent, lost.wall, nil)
	r.add(ReadersBlocked, Time, samples{waited}, nil)
	r.add(ChangeBeside, Time, f.took, nil)
	return nil
}

// rates are the readers' lookups a second of time, and a second of their own
// processor time. The first also falls where anything else takes the
// processor, and is steady on a quiet machine only.
type rates struct{ wall, own float64 }

// loss is what is lost beside a quiet rate, in percent.
func loss(rate, quiet float64) float64 { return 100 * (1 - rate/quiet) }

// losses are the readers' losses by round.
type losses struct{ paced, full, wall samples }

// windows measures the readers' rate by turns: without changes, with some, with
// as many as the writer can make.
func (f *field) windows(rounds int) (l losses) {
	f.rate(writerIdle) // warms up
	for range rounds {
		before := f.rate(writerIdle)
		some := f.rate(writerPaced)
		many := f.rate(writerFull)
		after := f.rate(writerIdle)
		own, wall := (before.own+after.own)/2, (before.wall+after.wall)/2
		l.paced = append(l.paced, loss(some.own, own))
		l.full = append(l.full, loss(many.own, own))
		l.wall = append(l.wall, loss(some.wall, wall))
	}
	return l
}

// rate measures one window.
func (f *field) rate(pace int32) rates {
	f.pace.Store(pace)
	time.Sleep(2 * time.Millisecond)
	start, done, spent := time.Now(), f.done.Load(), f.spent.Load()
	time.Sleep(window)
	n := float64(f.done.Load() - done)
	return rates{wall: n / time.Since(start).Seconds(), own: n * 1e9 / float64(max(1, f.spent.Load()-spent))}
}

// blocked is the time that goroutines have waited for locks since the process
// began, in nanoseconds.
func blocked() float64 {
	sample := []metrics.Sample{{Name: "/sync/mutex/wait/total:seconds"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64 {
		return 0
	}
	return sample[0].Value.Float64() * 1e9
}

// read looks up until the end, in the set's newest state.
func (f *field) read(number int) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	pinTo(number % max(1, runtime.NumCPU()-1))
	last := threadTime()
	at := number * len(f.keys) / readers / f.size * f.size
	for !f.stop.Load() {
		view := f.set.View()
		for range readerBlock {
			view.Lookup(f.keys[at:at+f.size:at+f.size], 0)
			if at += f.size; at >= len(f.keys) {
				at = 0
			}
		}
		now := threadTime()
		f.spent.Add(now - last)
		f.done.Add(readerBlock)
		last = now
	}
}

// write changes the set at the pace of the window.
func (f *field) write() {
	runtime.LockOSThread()
	pinTo(runtime.NumCPU() - 1)
	for i := 0; !f.stop.Load() || i%2 == 1; {
		pace := f.pace.Load()
		if pace == writerIdle && !f.stop.Load() {
			time.Sleep(100 * time.Microsecond)
			continue
		}
		var err error
		took := timed(func() { err = f.change(i) })
		if err != nil {
			f.failed.Store(&err)
			return
		}
		i++
		if pace == writerPaced {
			f.took = append(f.took, took)
			time.Sleep(pause)
		}
	}
}
