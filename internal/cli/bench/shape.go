package bench

import (
	"fmt"
	"math/rand/v2"

	"verdict/internal/workload"
	"verdict/set"
	"verdict/set/elem"
)

// Shape is a kind of set that is measured.
type Shape struct {
	Name        string
	Desc        set.Desc
	ends        bool // each element is a start and an exclusive end
	kernelShape bool
	series      *workload.ElementShape // nil for overlapping elements
}

// Shapes are all shapes, the headline ones first.
func Shapes() []*Shape {
	var list []*Shape
	for _, s := range []*workload.ElementShape{workload.Disjoint, workload.Shared} {
		list = append(list, newShape(s))
	}
	list = append(list, &Shape{Name: "overlapping", Desc: newShape(workload.Disjoint).Desc},
		newShape(workload.Addresses), newShape(workload.Ranges), newShape(workload.Ranges6))
	for _, s := range workload.KernelShapes {
		shape := newShape(s)
		shape.kernelShape = true
		list = append(list, shape)
	}
	return list
}

// ShapeByName finds a shape, nil if there is none.
func ShapeByName(name string) *Shape {
	for _, s := range Shapes() {
		if s.Name == name {
			return s
		}
	}
	return nil
}

func newShape(s *workload.ElementShape) *Shape {
	shape := &Shape{Name: s.Name, Desc: set.Desc{KeyLen: s.KeyLen()}, series: s}
	if !s.Exact {
		shape.Desc.Flags = elem.Interval
	}
	if len(s.Fields) > 1 {
		shape.Desc.Flags |= elem.Concat
		for _, f := range s.Fields {
			shape.Desc.Fields = append(shape.Desc.Fields, uint8(f.Len))
		}
		return shape
	}
	shape.ends = !s.Exact
	return shape
}

// Most is the largest size of the shape.
func (s *Shape) Most() int {
	if s.series == nil {
		return mostOverlapping
	}
	return s.series.Most - 1024 // elements to add are left
}

// mostOverlapping bounds the sets whose elements are drawn and tried.
const mostOverlapping = 200_000

// entries makes the first n elements in a scattered order, ready to insert.
func (s *Shape) entries(n int) []*set.Entry {
	if s.series == nil {
		return overlapping(n, s.Desc)
	}
	list := make([]*set.Entry, 0, n*2)
	batch := elem.NewBatch(s.Desc.KeyLen)
	var low, high []byte
	for _, i := range workload.Order(n, 1) {
		low, high = s.series.AppendBounds(low[:0], high[:0], i)
		list = s.appendEntry(list, batch, low, high)
	}
	return list
}

// entry makes element i.
func (s *Shape) entry(i int) []*set.Entry {
	if s.series == nil { // beyond all that are drawn
		return []*set.Entry{elem.New([]byte{0xf0, byte(i >> 16), byte(i >> 8), byte(i), 0, 1, 0, 0}, nil)}
	}
	low, high := s.series.AppendBounds(nil, nil, i)
	return s.appendEntry(nil, elem.NewBatch(s.Desc.KeyLen), low, high)
}

func (s *Shape) appendEntry(list []*set.Entry, batch *elem.Batch, low, high []byte) []*set.Entry {
	switch {
	case s.ends:
		increment(high)
		end := batch.New(high, nil)
		end.Flags = elem.IntervalEnd
		return append(list, batch.New(low, nil), end)
	case len(s.Desc.Fields) > 0:
		return append(list, batch.New(low, high))
	}
	return append(list, batch.New(low, nil))
}

// increment adds one to a big-endian number.
func increment(b []byte) {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i]++; b[i] != 0 {
			return
		}
	}
}

// overlapping draws boxes that overlap in both fields until n are accepted.
func overlapping(n int, d set.Desc) []*set.Entry {
	s, err := set.New(d)
	if err != nil {
		return nil
	}
	r := rand.New(rand.NewPCG(3, uint64(n)))
	batch := elem.NewBatch(d.KeyLen)
	list := make([]*set.Entry, 0, n)
	for len(list) < n {
		a, p := r.Uint32()>>1, uint32(r.IntN(60_000))
		low := []byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a), byte(p >> 8), byte(p), 0, 0}
		a, p = a+uint32(r.IntN(1<<23)), p+uint32(r.IntN(200))
		high := []byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a), byte(p >> 8), byte(p), 0, 0}
		if _, err := s.Insert(elem.New(low, high), 0); err == nil {
			list = append(list, batch.New(low, high))
		}
	}
	return list
}

// build makes a set of entries.
func (s *Shape) build(entries []*set.Entry) (*set.Set, error) {
	built, err := set.New(s.Desc)
	if err != nil {
		return nil, err
	}
	if n, _, err := built.InsertAll(entries, 0); err != nil {
		return nil, fmt.Errorf("%s: element %d: %w", s.Name, n, err)
	}
	built.Commit(0)
	return built, nil
}

// keyCount is the number of keys that are looked up in turn.
const keyCount = 1 << 16

// roundKeys is how many of them a round looks up: few enough to be done within
// a turn on a shared processor.
const roundKeys = 1 << 14

// keys are keys in and not in a set of n elements.
func (s *Shape) keys(n int, built *set.Set, entries []*set.Entry) (hits, misses []byte) {
	if s.series != nil {
		return s.series.Keys(n, keyCount, true, 5), s.series.Keys(n, keyCount, false, 6)
	}
	r := rand.New(rand.NewPCG(7, uint64(n)))
	size := s.Desc.KeyLen
	for len(hits) < keyCount*size || len(misses) < keyCount*size {
		key := []byte(entries[r.IntN(len(entries))].Last())
		if r.IntN(2) == 0 {
			key[4] ^= 0x80
		}
		if built.Lookup(key, 0) == nil {
			misses = append(misses, key...)
		} else {
			hits = append(hits, key...)
		}
	}
	return hits[:keyCount*size], misses[:keyCount*size]
}

// OfKernel tells whether the shape is one of the kernel's own script.
func (s *Shape) OfKernel() bool { return s.kernelShape }
