package bench

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"verdict/tc"
)

// TrafficShare is a part of the time that filters take.
type TrafficShare struct {
	What  string  `json:"what"`
	Share float64 `json:"share"`
	// Published is the kernel's share in percent, 25 filters, before the bypass.
	Published float64 `json:"published_percent"`
}

// trafficParts says which functions belong to which part.
var trafficParts = []struct {
	what      string
	published float64
	functions []string // parts of their names
}{
	{"flow dissection", 20.39, []string{"tc.(*dissector)", "tc.(*Packet).dissect", "tc.(*Packet).has", "tc.(*Packet).void", "offload.(*Key).Get", "tc.etherType", "tc.isVLAN", "encoding/binary", "tc.(*Tunnel)", "tc.encapsulated"}},
	{"hash of the masked key", 16.43, []string{"tc.mix"}},
	{"flower classification", 10.58, []string{"tc.(*flower).classify", "tc.(*flower).try"}},
	{"mask lookup", 10.23, []string{"tc.(*flowerMask)"}},
	{"clearing memory", 4.79, []string{"runtime.memclr"}},
	{"tc's loop over priorities", 2.58, []string{"tc.(*System).classify"}},
}

// trafficShares profiles 25 filters without bypass.
func trafficShares() ([]TrafficShare, error) {
	row := TrafficRow{Rules: 25, Follow: FallThrough}
	w, err := newTrafficWorld(&row, OffByMask)
	if err != nil {
		return nil, err
	}
	const long = 600 * time.Millisecond
	found, err := profile(func() {
		for started := time.Now(); time.Since(started) < long; {
			for range 1000 {
				w.run()
			}
		}
	})
	if err != nil {
		return nil, err
	}
	var list []TrafficShare
	for _, p := range trafficParts {
		s := TrafficShare{What: p.what, Published: p.published}
		for name, share := range found {
			if slices.ContainsFunc(p.functions, func(part string) bool { return strings.Contains(name, part) }) {
				s.Share += share
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// TrafficInsertion is how long many filters take to be inserted.
type TrafficInsertion struct {
	Filters int `json:"filters"`
	Workers int `json:"workers"`
	// Serial and Parallel are the shortest of the rounds, by the wall, in
	// nanoseconds.
	Serial   float64 `json:"serial_ns"`
	Parallel float64 `json:"parallel_ns"`
	// SerialTime is the processor time of the thread that inserts alone; of
	// parallel insertion Executor is that of the thread that executes, and
	// ParallelTime that of the whole process. The least of the rounds.
	SerialTime   float64 `json:"serial_thread_ns"`
	Executor     float64 `json:"executor_thread_ns"`
	ParallelTime float64 `json:"parallel_process_ns"`
	// Delay is how long threads waited for a processor in the shortest
	// parallel insertion, because other processes had it.
	Delay float64 `json:"parallel_delay_ns"`
	// Lookup is a packet's processor time among all filters.
	Lookup float64 `json:"lookup_ns"`
}

// Busy reports whether other processes took so many turns that the wall says
// little: even in the shortest parallel insertion threads waited for a
// processor for more than a fifth of the time.
func (n *TrafficInsertion) Busy() bool { return n.Delay > n.Parallel/5 }

// Scaling is how many times faster insertion is on two cores: by the wall, or,
// where the machine was busy, by the processor time of what cannot be shared
// out and of what can.
func (n *TrafficInsertion) Scaling() float64 {
	if n.Busy() {
		return n.SerialTime / max(n.Executor, n.ParallelTime/2)
	}
	return n.Serial / n.Parallel
}

// insertRounds bounds the rounds of insertions, which take long.
const insertRounds = 11

// InsertTraffic measures 100,000 flower filters: one goroutine and 16 take
// turns. Garbage is collected as seldom as while rulesets load.
func InsertTraffic(o *Options) (TrafficInsertion, error) {
	n := TrafficInsertion{Filters: 100000, Workers: 16}
	lines := make([]string, n.Filters)
	for i := range lines {
		lines[i] = fmt.Sprintf("filter add dev eth0 ingress protocol ip pref 1 flower skip_hw dst_ip 10.%d.%d.%d action drop", i>>16, i>>8&255, i&255)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(LoadPercent))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var last *trafficWorld
	type taken struct{ wall, thread, process, delay float64 }
	insert := func(workers int) (taken, error) {
		w, err := newTrafficWorld(&TrafficRow{Name: "add ingress qdisc"}, Refined)
		if err != nil {
			return taken{}, err
		}
		last = nil
		runtime.GC()
		started, thread, process, delay := time.Now(), threadTime(), processTime(), waitingTime()
		out := w.system.Load("lines", lines, tc.Options{}, workers)
		t := taken{float64(time.Since(started).Nanoseconds()), float64(threadTime() - thread), float64(processTime() - process), 0}
		t.delay = float64(waitingTime() - delay)
		if out.Status != 0 {
			return t, fmt.Errorf("inserting filters: %s", out.Stderr)
		}
		last = w
		return t, nil
	}
	least := func(to *float64, v float64) {
		if *to == 0 || v < *to {
			*to = v
		}
	}
	for round := range min(o.Rounds, insertRounds) {
		o.tell("tc: 100,000 filters, round %d", round+1)
		one, err := insert(1)
		if err != nil {
			return n, err
		}
		many, err := insert(n.Workers)
		if err != nil {
			return n, err
		}
		least(&n.Serial, one.wall)
		least(&n.SerialTime, one.thread)
		if n.Parallel == 0 || many.wall < n.Parallel {
			n.Parallel, n.Delay = many.wall, many.delay
		}
		least(&n.Executor, many.thread)
		least(&n.ParallelTime, many.process)
	}
	n.Lookup = last.lookup()
	return n, nil
}

// lookup is a packet's processor time in the filters alone, the tenth
// percentile of rounds.
func (w *trafficWorld) lookup() float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const packets = 5000
	var took samples
	for range 41 {
		took = append(took, timed(func() {
			for range packets {
				w.packet.Load(w.input.Data, true)
				w.system.Receive(w.device, &w.packet)
			}
		})/packets)
	}
	return slices.Sorted(slices.Values(took))[len(took)/10]
}
