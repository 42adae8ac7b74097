package ruleset

import (
	"encoding/binary"
	"fmt"
	"testing"

	"verdict/catalog"
	"verdict/nft/expr"
)

func ruleChange(chain string, exprs ...expr.Expr) Change {
	return Change{Kind: KindRule, Family: catalog.FamilyIP, Table: "t", Name: chain, RuleDef: &RuleDef{Exprs: exprs}}
}

// BenchmarkRules applies 100,000 rules of four expressions in one batch, half
// of them jumps to one of 1,000 chains.
func BenchmarkRules(b *testing.B) {
	const rules = 100_000
	batch := chainsWithBase(1000)
	for i := range rules {
		exprs := []expr.Expr{
			&expr.Payload{Base: 1, Offset: 12, Len: 4, Dst: expr.Reg1},
			&expr.Cmp{Src: expr.Reg1, Value: expr.Value{Bytes: binary.BigEndian.AppendUint32(nil, uint32(i))}},
			&expr.Counter{},
			&expr.Immediate{Data: expr.Data{Verdict: &expr.Verdict{Kind: catalog.VerdictAccept}}},
		}
		if i%2 == 0 {
			exprs[3] = &expr.Immediate{Data: expr.Data{Verdict: &expr.Verdict{Kind: catalog.VerdictJump, Chain: fmt.Sprint("c", i/2%1000+1)}}}
		}
		batch = append(batch, ruleChange("base", exprs...))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := Apply(nil, batch, Options{}); len(errs) > 0 {
			b.Fatal(errs[0])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rules, "ns/rule")
}

// BenchmarkElements loads 800,000 elements of two ranges and a port in one
// change.
func BenchmarkElements(b *testing.B) {
	const n = 800_000
	set := Change{Kind: KindSet, Family: catalog.FamilyIP, Table: "t", Name: "s", SetDef: &SetDef{
		Flags: SetInterval | SetConcat, KeyLen: 12, Fields: []uint8{4, 4, 2},
	}}
	elements := Change{Kind: KindElements, Family: catalog.FamilyIP, Table: "t", Name: "s", Elements: make([]Element, n)}
	for i := range n {
		from, to := make([]byte, 12), make([]byte, 12)
		binary.BigEndian.PutUint32(from, uint32(i)<<4)
		binary.BigEndian.PutUint32(to, uint32(i)<<4+9)
		binary.BigEndian.PutUint32(from[4:], uint32(i*7))
		binary.BigEndian.PutUint32(to[4:], uint32(i*7+100))
		binary.BigEndian.PutUint16(from[8:], 1)
		binary.BigEndian.PutUint16(to[8:], 1000)
		elements.Elements[i] = Element{Key: from, KeyEnd: to}
	}
	loadElements(b, set, elements)
}

// BenchmarkVerdictMap loads 800,000 addresses that jump to 100 chains.
func BenchmarkVerdictMap(b *testing.B) {
	const n = 800_000
	set := Change{Kind: KindSet, Family: catalog.FamilyIP, Table: "t", Name: "s", SetDef: &SetDef{
		Flags: SetMap, KeyLen: 4, DataLen: 16, DataType: TypeVerdict,
	}}
	elements := Change{Kind: KindElements, Family: catalog.FamilyIP, Table: "t", Name: "s", Elements: make([]Element, n)}
	for i := range n {
		to := &expr.Verdict{Kind: catalog.VerdictJump, Chain: fmt.Sprint("c", i%100+1)}
		elements.Elements[i] = Element{Key: binary.BigEndian.AppendUint32(nil, uint32(i)), Data: &expr.Data{Verdict: to}}
	}
	loadElements(b, set, elements)
}

func loadElements(b *testing.B, set, elements Change) {
	base, errs := Apply(nil, append(chainsWithBase(100), set), Options{})
	if len(errs) > 0 {
		b.Fatal(errs[0])
	}
	b.ReportAllocs()
	for b.Loop() {
		rs, errs := Apply(base, []Change{elements}, Options{})
		if len(errs) > 0 {
			b.Fatal(errs[0])
		}
		if got := rs.Tables[0].Set("s").Elements.Len(); got != len(elements.Elements) {
			b.Fatal(got)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(elements.Elements)), "ns/element")
}

// BenchmarkSmallBatch adds and deletes a rule, in batches of their own, in a
// table of 10,000 chains.
func BenchmarkSmallBatch(b *testing.B) {
	rs, errs := Apply(nil, chainsWithBase(10_000), Options{})
	if len(errs) > 0 {
		b.Fatal(errs[0])
	}
	b.ReportAllocs()
	for b.Loop() {
		rs, errs = Apply(rs, []Change{ruleChange("c5000", &expr.Counter{})}, Options{})
		if len(errs) > 0 {
			b.Fatal(errs[0])
		}
		rule := rs.Tables[0].Chain("c5000").Rules[0]
		rs, errs = Apply(rs, []Change{{Op: OpDelete, Kind: KindRule, Family: catalog.FamilyIP, Table: "t", Name: "c5000", Handle: rule.Handle}}, Options{})
		if len(errs) > 0 {
			b.Fatal(errs[0])
		}
	}
}
