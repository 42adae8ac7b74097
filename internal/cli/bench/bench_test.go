package bench

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"verdict/capture"
	"verdict/internal/workload"
)

// Every shape is measured in all parts, at a small size.
func TestSet(t *testing.T) {
	for _, s := range Shapes() {
		figures, err := Set(s, 500, &Options{Rounds: 1, Only: []string{PartLoad, PartLookup, PartChange}})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[What]bool{}
		for _, f := range figures {
			seen[f.What] = true
			if f.Value <= 0 && f.Unit == Time {
				t.Errorf("%s", &f)
			}
		}
		for _, what := range []What{LoadMemory, HitSingle, HitDependent, HitBurst, MissSingle, MissBurst, AddOne, DeleteOne} {
			if !seen[what] {
				t.Errorf("%s: %s is missing", s.Name, what)
			}
		}
	}
	if _, err := Set(ShapeByName("net,mac"), 1_000_000, &Options{Rounds: 1}); err == nil {
		t.Error("a size beyond the shape is accepted")
	}
}

// Readers and a writer meet, and the set is left as it was.
func TestReaders(t *testing.T) {
	r := &setRun{Options: &Options{Rounds: 1}, shape: ShapeByName("disjoint"), n: 200}
	if err := r.build(); err != nil {
		t.Fatal(err)
	}
	if err := r.readers(); err != nil {
		t.Fatal(err)
	}
	if n := r.built.View().Len(); n != 200 {
		t.Errorf("%d elements are left, want 200", n)
	}
	if len(r.out) != 5 {
		t.Errorf("%d figures", len(r.out))
	}
}

// The table of the kernel's patch sets: each way stores the same.
func TestHistory(t *testing.T) {
	list, err := History(300, &Options{Rounds: 1})
	if err != nil || len(list) != len(steps) {
		t.Fatal(list, err)
	}
	var out strings.Builder
	if err := WriteHistory(&out, list); err != nil || !strings.Contains(out.String(), "1175 s") {
		t.Error(out.String(), err)
	}
}

// A profile names the function that took the time.
func TestProfile(t *testing.T) {
	sum := uint64(0)
	list, err := profile(func() {
		for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
			sum = spin(sum)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if list == nil {
		t.Skip("the process is being profiled already")
	}
	total := 0.0
	for _, share := range list {
		total += share
	}
	if total < 0.99 || total > 1.01 {
		t.Errorf("the shares add up to %v", total)
	}
	if share := list["verdict/internal/cli/bench.spin"]; share < 0.5 {
		t.Errorf("spin has a share of %v: %v", share, list)
	}
}

//go:noinline
func spin(x uint64) uint64 {
	for range 100_000 {
		x = x*6364136223846793005 + 1
	}
	return x
}

// A damaged profile is read as far as it goes.
func TestFieldsOfDamage(t *testing.T) {
	for _, b := range [][]byte{{0x0a}, {0x0a, 0xff}, {0x0a, 5, 1}, {0xff, 0xff}, {0x80}} {
		for m := range fields(b) {
			t.Errorf("%x: %+v", b, m)
		}
	}
}

// Series have at least two points, in order.
func TestLookupChart(t *testing.T) {
	got := LookupChart([]Figure{
		{Case: "x", Elements: 30, What: HitSingle, Value: 2, Peer: 20},
		{Case: "x", Elements: 10, What: HitSingle, Value: 1},
		{Case: "x", Elements: 10, What: MissSingle, Value: 9},
		{Case: "y", Elements: 10, What: HitBurst, Value: 9},
	}).Series
	if len(got) != 1 || got[0].Name != "verdict, x" || got[0].Points[0] != (Point{10, 1}) || got[0].Points[1] != (Point{30, 2}) {
		t.Errorf("%+v", got)
	}
}

func TestBounds(t *testing.T) {
	for _, c := range []struct {
		f    Figure
		ok   bool
		goal string
	}{
		{Figure{Value: 90, Unit: Time, Bound: &Bound{Most: 110, Ratio: 400}}, true, "≤ 110 ns: pass"},
		{Figure{Value: 120, Unit: Time, Bound: &Bound{Most: 110}}, false, "≤ 110 ns: FAIL"},
		{Figure{Value: 90, Peer: 30_000, Unit: Time, Bound: &Bound{Most: 110, Ratio: 400}}, false, "≤ 110 ns, ≥ 400×: FAIL"},
		{Figure{Value: 5e8, Unit: Time, Bound: &Bound{Ratio: 40}}, true, "≥ 40×: no peer"},
		{Figure{Value: 1, Unit: Time}, true, ""},
	} {
		if c.f.OK() != c.ok || c.f.goal() != c.goal {
			t.Errorf("%+v: %v, %q; want %v, %q", c.f, c.f.OK(), c.f.goal(), c.ok, c.goal)
		}
	}
}

func TestText(t *testing.T) {
	r := Report{Machine: ThisMachine(), Notes: []string{"a note"}, Figures: []Figure{
		{Case: "x", Elements: 1000, Structure: "cells", What: HitSingle, Unit: Time, Value: 20, Low: 19, High: 21, Peer: 300, Bound: &Bound{Most: 30}},
		{Case: "x", Elements: 2000, What: HeapElement, Unit: Bytes, Value: 156, Low: 156, High: 156},
	}}
	var out strings.Builder
	if err := r.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"x, 1,000 elements: cells", "20.0 ns  (19.0 ns - 21.0 ns)  300 ns  15.0×  ≤ 30.0 ns: pass", "156 B", "a note"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestLoad(t *testing.T) {
	figures, err := Load("x", workload.Disjoint.Text(100, 1), &Options{Rounds: 2}, func() (time.Duration, error) { return time.Second, nil })
	if err != nil {
		t.Fatal(err)
	}
	if f := figures[0]; f.What != LoadWhole || f.Elements != 100 || f.Peer != 1e9 || len(figures) != 6 {
		t.Errorf("%+v", figures)
	}
	if _, err := Load("x", []byte("table"), &Options{Rounds: 1}, nil); err == nil {
		t.Error("a wrong text is loaded")
	}
}

func TestDecode(t *testing.T) {
	var file bytes.Buffer
	sink := capture.NewPcapSink(&file)
	for _, f := range workload.Server(1)[:50] {
		if err := sink.Write(&f); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := capture.NewBytesReader(file.Bytes(), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	figures, err := Decode("x", r, &Options{Rounds: 1})
	if err != nil || len(figures) != 1 || figures[0].Value <= 0 {
		t.Error(figures, err)
	}
}
