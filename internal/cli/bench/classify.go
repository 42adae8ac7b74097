package bench

import (
	"encoding/binary"
	"fmt"
	"runtime"

	"verdict/classify"
	"verdict/internal/workload"
)

// Families are the kinds of rule sets that Classify measures: access lists,
// firewalls, and a mixture.
var Families = []string{"acl", "fw", "ipc"}

// What is measured of a classifier.
const (
	BuildTable   What = "build"
	TableMemory  What = "memory"
	PeakMemory   What = "memory, peak of the build"
	LookupSingle What = "lookup, single"
	LookupBurst  What = "lookup, bursts of 64"
)

// classifyHeaders is the number of headers that a round looks up: so many that
// the next round finds little of the last ones in the near caches.
const classifyHeaders = 1 << 17

// classifyRun measures one set of rules.
type classifyRun struct {
	*Options
	family  string
	rules   []workload.FiveTuple
	headers []workload.Header
	layout  *classify.Layout
	keys    []uint32 // of the headers, one after the other
	table   *classify.Table
	peer    *classifyPeer // nil without one
	out     []Figure
}

// Classify measures a classifier of n rules of a family: how long it takes to
// build, what it holds, what lookups cost. With peers, rte_acl has the same
// rules and headers, by turns; the notes say what it could not do.
func Classify(family string, n int, peers *ClassifyPeers, o *Options) (figures []Figure, notes []string, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	what := fmt.Sprintf("%s, %s rules", family, thousands(n))
	o.tell("%s: generating", what)
	r := &classifyRun{Options: o, family: family}
	r.generate(n)
	if err := r.makeKeys(); err != nil {
		return nil, nil, err
	}
	if peers != nil {
		o.tell("%s: rte_acl builds", what)
		if r.peer, err = peers.start(r.rules, r.headers); err != nil {
			notes = append(notes, fmt.Sprintf("%s: rte_acl is not measured: %v", what, err))
		} else {
			defer r.peer.close()
		}
	}
	o.tell("%s: building", what)
	if err := r.build(); err != nil {
		return nil, notes, err
	}
	if err := r.lookup(what); err != nil {
		return nil, notes, fmt.Errorf("%s: %w", what, err)
	}
	return r.out, notes, nil
}

// generate makes the rules and headers, the same each time.
func (r *classifyRun) generate(n int) {
	r.rules = workload.FiveTuples(r.family, n, 1)
	r.headers = workload.Headers(r.rules, classifyHeaders, 2)
}

// makeKeys lays the headers out as keys.
func (r *classifyRun) makeKeys() (err error) {
	r.layout, err = classify.NewLayout(classify.Field{Name: "source", Bits: 32}, classify.Field{Name: "destination", Bits: 32},
		classify.Field{Name: "sport", Bits: 16}, classify.Field{Name: "dport", Bits: 16}, classify.Field{Name: "protocol", Bits: 8})
	if err != nil {
		return err
	}
	for _, h := range r.headers {
		k := r.layout.NewKey()
		for i, x := range []uint32{h.Src, h.Dst, uint32(h.SrcPort), uint32(h.DstPort), uint32(h.Proto)} {
			k[r.layout.Lane(i, 0)] = x
		}
		r.keys = append(r.keys, k...)
	}
	return nil
}

// constraints are the rules as the classifier takes them.
func constraints(list []workload.FiveTuple) []classify.Rule {
	word := func(x uint32) []byte { return binary.BigEndian.AppendUint32(nil, x) }
	port := func(x uint16) []byte { return binary.BigEndian.AppendUint16(nil, x) }
	rules := make([]classify.Rule, len(list))
	for i := range list {
		q := &list[i]
		m := []classify.Constraint{
			classify.Prefix(0, word(q.Src), int(q.SrcLen)), classify.Prefix(1, word(q.Dst), int(q.DstLen)),
			classify.Between(2, port(q.SrcPort[0]), port(q.SrcPort[1])), classify.Between(3, port(q.DstPort[0]), port(q.DstPort[1])),
		}
		if !q.AnyProto {
			m = append(m, classify.Exact(4, []byte{q.Proto}))
		}
		rules[i] = classify.Rule{Order: uint32(i), Match: m}
	}
	return rules
}

func (r *classifyRun) build() error {
	rules := constraints(r.rules)
	var err error
	once := func() { r.table, err = classify.New(r.layout, rules, classify.Options{}) }
	peak := peakHeap(once) // warms up, too
	var took, peer, peerHeld, peerPeak samples
	if r.peer != nil {
		first := r.peer.built
		peer, peerHeld, peerPeak = samples{first.NS}, samples{first.Bytes}, samples{first.Peak}
	}
	for i := range r.affordable(len(rules)) {
		r.table = nil
		runtime.GC()
		if took = append(took, timedLoad(once)); err != nil {
			return err
		}
		// It takes seconds for large sets: once must do.
		if r.peer != nil && i < 4 && len(rules) < 100_000 {
			again, err := r.peer.build()
			if err != nil {
				return err
			}
			peer = append(peer, again.NS)
		}
	}
	r.add(BuildTable, Time, took, peer)
	r.add(TableMemory, Bytes, samples{float64(r.table.Stats().Bytes)}, peerHeld)
	r.add(PeakMemory, Bytes, samples{float64(peak)}, peerPeak)
	return nil
}

// add notes a figure.
func (r *classifyRun) add(what What, unit Unit, values, peer samples) *Figure {
	f := values.figure(Figure{Case: r.family, Elements: len(r.rules), What: what, Unit: unit})
	f.Peer = peer.median()
	f.Structure = r.table.Stats().String()
	f.Bound = classifyBound(r.family, len(r.rules), what)
	r.out = append(r.out, f)
	return &r.out[len(r.out)-1]
}

func (r *classifyRun) lookup(what string) error {
	defer prioritize()()
	sizes := []int{1, burst}
	took, found := make([]samples, len(sizes)), make([]uint32, len(r.headers))
	for round := range r.Rounds {
		r.tell("%s: round %d of %d", what, round+1, r.Rounds)
		for i, size := range sizes {
			total := timed(func() { r.pass(size, found) })
			took[i] = append(took[i], total/float64(len(found)))
			if r.peer == nil {
				continue
			}
			if err := r.peer.lookup(size, found); err != nil {
				return err
			}
		}
	}
	for i, what := range []What{LookupSingle, LookupBurst} {
		if r.peer == nil {
			r.add(what, Time, took[i], nil)
			continue
		}
		algorithm, times := r.peer.best(sizes[i])
		r.add(what, Time, took[i], times).PeerBy = algorithm
	}
	return nil
}

// pass looks all headers up, one by one or in bursts.
func (r *classifyRun) pass(size int, found []uint32) {
	stride, keys := r.layout.Stride(), r.keys
	if size == 1 {
		for i := range found {
			found[i] = r.table.Next(keys[i*stride:][:stride], 0)
		}
		return
	}
	for i := 0; i < len(found); i += size {
		r.table.LookupBatch(keys[i*stride:][:size*stride], found[i:i+size])
	}
}

// ClassifyChart draws the times of lookups over the number of rules.
func ClassifyChart(figures []Figure) *Chart {
	c := &Chart{Title: "Lookups in access lists, firewalls and mixtures", Value: "time of a lookup", Sizes: "rules", Format: duration}
	for i := range figures {
		f := &figures[i]
		name := map[What]string{LookupSingle: ", single", LookupBurst: ", bursts"}[f.What]
		if name != "" {
			c.Series = addTo(c.Series, "rte_acl, "+f.Case+name, f.Elements, f.Peer)
			c.Series = addTo(c.Series, f.Case+name, f.Elements, f.Value)
		}
	}
	c.Series = lines(c.Series)
	return c
}
