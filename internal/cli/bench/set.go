package bench

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"verdict"
	"verdict/diag"
	"verdict/set"
)

// Options say what to measure and how.
type Options struct {
	// Rounds of each measurement, at least 1.
	Rounds int
	// Peer is measured in the same rounds; nil for none.
	Peer *Peer
	// Progress is told what is being measured; it may be nil.
	Progress func(what string)
	// Only restricts the parts of a measurement: load, lookup, change, readers,
	// expire, memory. Empty means all.
	Only []string
}

// The parts of a measurement of a set.
const (
	PartLoad    = "load"
	PartLookup  = "lookup"
	PartChange  = "change"
	PartReaders = "readers"
	PartExpire  = "expire"
)

// Parts are all parts.
var Parts = []string{PartLoad, PartLookup, PartChange, PartReaders, PartExpire}

func (o *Options) wants(part string) bool {
	for _, p := range o.Only {
		if p == part {
			return true
		}
	}
	return len(o.Only) == 0
}

func (o *Options) tell(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

// affordable is the number of rounds of something that takes long: all up to
// a tenth of a second a round, fewer beyond, but at least three.
func (o *Options) affordable(elements int) int {
	if elements < 100_000 {
		return o.Rounds
	}
	return max(min(3, o.Rounds), o.Rounds*100_000/elements)
}

// setRun measures one set.
type setRun struct {
	*Options
	shape *Shape
	n     int
	built *set.Set
	out   []Figure
	// text is the ruleset with the set, nil for a shape that has none.
	text                []byte
	hits, misses        []byte // keys, one after the other
	peerLoaded          bool
	peerAdd, peerDelete samples
}

// Set measures a shape with n elements.
func Set(s *Shape, n int, o *Options) ([]Figure, error) {
	r := &setRun{Options: o, shape: s, n: n}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if n > s.Most() {
		return nil, fmt.Errorf("shape %s has at most %d elements", s.Name, s.Most())
	}
	if s.series != nil {
		r.text = s.series.Text(n, 1)
	}
	r.tell("%s, %d elements: loading", s.Name, n)
	for _, step := range []struct {
		part string
		run  func() error
	}{
		{PartLoad, r.loadMemory}, {"", r.build}, {PartLoad, r.loadText},
		{PartLookup, r.lookup}, {PartChange, r.change}, {PartReaders, r.readers}, {PartExpire, r.expire},
	} {
		if step.part != "" && !r.wants(step.part) {
			continue
		}
		if err := step.run(); err != nil {
			return r.out, err
		}
	}
	return r.out, nil
}

// add notes a figure.
func (r *setRun) add(what What, unit Unit, values samples, peer samples) {
	f := values.figure(Figure{Case: r.shape.Name, Elements: r.n, What: what, Unit: unit})
	f.Peer = peer.median()
	f.Bound = boundOf(r.shape, r.n, what)
	if r.built != nil {
		f.Structure = r.built.Stats().Structure
	}
	r.out = append(r.out, f)
}

func (r *setRun) loadMemory() error {
	var took, held samples
	for range r.affordable(r.n) {
		before := heap()
		entries := r.shape.entries(r.n)
		var built *set.Set
		var err error
		runtime.GC()
		took = append(took, timedLoad(func() { built, err = r.shape.build(entries) }))
		if err != nil {
			return err
		}
		entries = nil
		held = append(held, float64(heap()-before)/float64(r.n))
		runtime.KeepAlive(built)
	}
	r.add(LoadMemory, Time, took, nil)
	r.add(HeapElement, Bytes, held, nil)
	return nil
}

func (r *setRun) build() error {
	entries := r.shape.entries(r.n)
	built, err := r.shape.build(entries)
	if err != nil {
		return err
	}
	r.built = built
	r.hits, r.misses = r.shape.keys(r.n, built, entries)
	return nil
}

// LoadPercent is how much garbage the command's loads may make, in percent of
// what they keep, before it is collected: a load keeps most of what it
// allocates.
const LoadPercent = 400

func (r *setRun) loadText() error {
	if r.text == nil {
		return nil
	}
	var took, peer samples
	rounds := r.affordable(r.n)
	defer debug.SetGCPercent(debug.SetGCPercent(LoadPercent))
	for i := range rounds {
		runtime.GC()
		src := diag.NewSource("bench", r.text)
		var findings *diag.List
		took = append(took, timedLoad(func() { _, findings = verdict.LoadSources(verdict.LoadOptions{}, src) }))
		if err := findings.Err(); err != nil {
			return err
		}
		// The kernel takes half a minute for the largest set: once must do.
		if r.Peer != nil && (i == 0 || r.n <= 100_000 && i < 5) {
			a, err := r.Peer.load(r.text)
			if err != nil {
				return err
			}
			peer = append(peer, a.NS)
			r.peerLoaded = true
		}
	}
	r.add(LoadText, Time, took, peer)
	return nil
}

// peerReady loads the set into the peer, if there is one, and hands it frames
// for the lookups.
func (r *setRun) peerReady() error {
	if r.Peer == nil || r.text == nil {
		return nil
	}
	if !r.peerLoaded {
		r.tell("%s, %d elements: loading the peer", r.shape.Name, r.n)
		if _, err := r.Peer.load(r.text); err != nil {
			return err
		}
		r.peerLoaded = true
	}
	for name, keys := range map[string][]byte{"hit": r.hits, "miss": r.misses} {
		const most = 1 << 14
		size := r.shape.Desc.KeyLen
		var frames [][]byte
		for at := 0; at < len(keys) && len(frames) < most; at += size {
			frames = append(frames, r.shape.series.Frame(keys[at:at+size]))
		}
		if err := r.Peer.frames(name, frames); err != nil {
			return err
		}
	}
	return nil
}

func (r *setRun) lookup() error {
	if err := r.peerReady(); err != nil {
		return err
	}
	r.tell("%s, %d elements: lookups", r.shape.Name, r.n)
	defer prioritize()()
	view, size := r.built.View(), r.shape.Desc.KeyLen
	hit, miss := make([]samples, len(lookups)), make([]samples, len(lookups))
	var peerHit, peerMiss samples
	for round := range r.Rounds {
		part := keyCount / roundKeys
		from := round % part * roundKeys * size
		hits, misses := r.hits[from:from+roundKeys*size], r.misses[from:from+roundKeys*size]
		for _, l := range lookups { // warms up, after the peer had the caches
			l.measure(view, hits, size)
			l.measure(view, misses, size)
		}
		for i, l := range lookups {
			hit[i] = append(hit[i], l.measure(view, hits, size))
			miss[i] = append(miss[i], l.measure(view, misses, size))
		}
		if r.Peer == nil || r.text == nil {
			continue
		}
		h, err := r.Peer.lookup("hit")
		if err != nil {
			return err
		}
		m, err := r.Peer.lookup("miss")
		if err != nil {
			return err
		}
		peerHit, peerMiss = append(peerHit, h), append(peerMiss, m)
	}
	for i, l := range lookups {
		r.add(l.hit, Time, hit[i], peerHit)
	}
	for i, l := range lookups {
		r.add(l.miss, Time, miss[i], peerMiss)
	}
	return nil
}
