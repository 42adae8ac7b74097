package bench

import (
	"errors"
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	for _, family := range Families {
		figures, notes, err := Classify(family, 200, nil, &Options{Rounds: 2})
		if err != nil || len(notes) != 0 {
			t.Fatal(err, notes)
		}
		var what []What
		for _, f := range figures {
			what = append(what, f.What)
			if f.Value <= 0 || f.Case != family || f.Elements != 200 || f.Peer != 0 || f.Structure == "" {
				t.Errorf("%+v", f)
			}
		}
		if len(what) != 5 || what[0] != BuildTable || what[4] != LookupBurst {
			t.Error(what)
		}
	}
}

// Single lookups and bursts find the same.
func TestClassifyPass(t *testing.T) {
	r := &classifyRun{Options: &Options{Rounds: 1}, family: "fw"}
	r.generate(300)
	if err := errors.Join(r.makeKeys(), r.build()); err != nil {
		t.Fatal(err)
	}
	one, many := make([]uint32, len(r.headers)), make([]uint32, len(r.headers))
	r.pass(1, one)
	r.pass(burst, many)
	for i := range 1000 {
		h := r.headers[i]
		want := uint32(0)
		for !r.rules[want].Matches(&h) {
			want++
		}
		if one[i] != want || many[i] != want {
			t.Fatalf("header %d: %d, %d, want %d", i, one[i], many[i], want)
		}
	}
}

func TestClassifyText(t *testing.T) {
	r := Report{Machine: Machine{OS: "linux", Arch: "amd64", CPUs: 2, Go: "go1.26", Vectors: "avx512"}, Peer: "rte_acl", Of: "rules", Notes: []string{"a note"}}
	for i, n := range []int{1000, 10_000} {
		for _, f := range []Figure{
			{What: BuildTable, Unit: Time, Value: 3e6, Peer: 600e6},
			{What: TableMemory, Unit: Bytes, Value: 3e6, Peer: 12e6},
			{What: LookupSingle, Unit: Time, Value: 70, Low: 68, High: 75, Peer: 260, PeerBy: "scalar"},
			{What: LookupBurst, Unit: Time, Value: 50, Low: 49, High: 51, Peer: 40, PeerBy: "avx512x32"},
		} {
			f.Case, f.Elements, f.Structure, f.Value = "fw", n, "4 hash tables", f.Value*float64(1+i)
			f.Bound = classifyBound(f.Case, n, f.What)
			r.Figures = append(r.Figures, f)
		}
	}
	var text strings.Builder
	if err := errors.Join(r.WriteText(&text), ClassifyChart(r.Figures).WriteText(&text)); err != nil {
		t.Fatal(err)
	}
	golden(t, "classify.txt", text.String())
}
