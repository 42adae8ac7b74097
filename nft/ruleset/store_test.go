package ruleset

import (
	"fmt"
	"sync"
	"testing"

	"verdict/catalog"
	"verdict/set"
)

func mustApply(t *testing.T, rs *Ruleset, script string) *Ruleset {
	t.Helper()
	next, errs := Apply(rs, parseScript(script), Options{})
	if len(errs) > 0 {
		t.Fatalf("change %d: %v", errs[0].Index+1, errs[0])
	}
	return next
}

// TestPacketPath: how whoever runs packets gets from a key to what the element
// holds, in each kind of map.
func TestPacketPath(t *testing.T) {
	rs := mustApply(t, nil, `
		add table ip t
		add chain ip t c
		add counter ip t n
		add set ip t values flags 8 data 4
		add elements ip t values : 00000001 = 0000002a comment answer ; * = 00000000
		add set ip t verdicts flags 8 verdict
		add elements ip t verdicts : 00000001 = jump c ; 00000002 = drop ; 00000003 = jump c
		add set ip t objects flags 0x40 object 1
		add elements ip t objects : 00000001 = object n
		add set ip t ranges flags 4
		add elements ip t ranges : 00000001 ; 00000006 flags 1 ; 00000006 ; 0000000b flags 1`)
	tab := rs.Table(catalog.FamilyIP, "t")

	values := tab.Set("values").Elements
	if p := PayloadOf(values.Lookup([]byte{0, 0, 0, 1}, 0)); p == nil || p.Data.Value.Bytes[3] != 42 || p.Comment != "answer" {
		t.Errorf("value: %+v", p)
	}
	if p := PayloadOf(values.Lookup([]byte{9, 9, 9, 9}, 0)); p == nil || p.Data.Value.Bytes[3] != 0 {
		t.Errorf("catch-all: %+v", p)
	}

	verdicts := tab.Set("verdicts").Elements
	first := verdicts.Lookup([]byte{0, 0, 0, 1}, 0)
	third := verdicts.Lookup([]byte{0, 0, 0, 3}, 0)
	if first.Index != third.Index || len(verdicts.Targets()) != 2 {
		t.Errorf("equal verdicts have different numbers: %d %d of %v", first.Index, third.Index, verdicts.Targets())
	}
	if v := verdicts.Targets()[first.Index-1].Verdict; v.Kind != catalog.VerdictJump || v.Chain != "c" {
		t.Errorf("verdict: %v", v)
	}
	if verdicts.Lookup([]byte{0, 0, 0, 9}, 0) != nil {
		t.Error("found what is not there")
	}

	objects := tab.Set("objects").Elements
	if e := objects.Lookup([]byte{0, 0, 0, 1}, 0); objects.Targets()[e.Index-1].Object != "n" {
		t.Error("object map")
	}

	ranges := tab.Set("ranges").Elements
	for key, want := range map[byte]bool{0: false, 1: true, 5: true, 6: true, 10: true, 11: false} {
		if got := ranges.Lookup([]byte{0, 0, 0, key}, 0) != nil; got != want {
			t.Errorf("key %d: %v", key, got)
		}
	}
	if ranges.Len() != 4 || ranges.Count() != 2 {
		t.Errorf("len %d count %d", ranges.Len(), ranges.Count())
	}
	if n := testing.AllocsPerRun(100, func() { verdicts.Lookup([]byte{0, 0, 0, 1}, 0) }); n != 0 {
		t.Errorf("%v allocations for a look-up", n)
	}
}

// TestIdentity: entries and rules stay the same while they are not changed.
func TestIdentity(t *testing.T) {
	one := mustApply(t, nil, `
		add table ip t
		add chain ip t c
		add chain ip t d
		add rule ip t c comment kept
		add rule ip t c comment replaced
		add set ip t s
		add elements ip t s : 00000001`)
	two := mustApply(t, one, `
		add elements ip t s : 00000002
		add rule ip t c
		replace rule ip t c handle 4 comment new`)
	a, b := one.Table(catalog.FamilyIP, "t"), two.Table(catalog.FamilyIP, "t")
	key := []byte{0, 0, 0, 1}
	if a.Set("s").Elements.Lookup(key, 0) != b.Set("s").Elements.Lookup(key, 0) {
		t.Error("the entry changed")
	}
	if a.Set("s").Elements.Lookup([]byte{0, 0, 0, 2}, 0) != nil {
		t.Error("the old snapshot sees a later element")
	}
	if a.Chain("c").Rules[0] != b.Chain("c").Rules[0] || b.Chain("c").Rules[1].Revision != 1 || b.Chain("c").Rules[1].Handle != 4 {
		t.Error("rules")
	}
	if a.Chain("d") != b.Chain("d") {
		t.Error("a chain that did not change was copied")
	}
	same, errs := Apply(two, parseScript("add table ip t\nadd elements ip t s : 00000001"), Options{})
	if len(errs) > 0 || same != two {
		t.Error("a batch without effect gave another snapshot", errs)
	}
}

// TestTargetsDoNotPileUp: a map whose targets come and go keeps few of them.
func TestTargetsDoNotPileUp(t *testing.T) {
	rs := mustApply(t, nil, "add table ip t\nadd set ip t v flags 8 verdict")
	for i := range 60 {
		var add, del string
		for j := range 100 {
			add += fmt.Sprintf("add chain ip t c%d_%d\nadd elements ip t v : %08x = jump c%d_%d\n", i, j, j, i, j)
			del += fmt.Sprintf("delete elements ip t v : %08x\ndelete chain ip t c%d_%d\n", j, i, j)
		}
		rs = mustApply(t, rs, add)
		rs = mustApply(t, rs, del)
	}
	if n := len(rs.Tables[0].Set("v").Elements.Targets()); n > 2100 {
		t.Errorf("%d targets are kept", n)
	}
}

// TestReadersBesideApply: snapshots are read while batches are applied. The
// race detector watches.
func TestReadersBesideApply(t *testing.T) {
	rs := mustApply(t, nil, `
		add table ip t
		add chain ip t c
		add set ip t s
		add set ip t i flags 4
		add set ip t v flags 8 verdict
		add elements ip t v : 00000001 = jump c`)
	var wg sync.WaitGroup
	for i := range 50 {
		next := mustApply(t, rs, fmt.Sprintf(`
			add chain ip t c%d
			add rule ip t c comment x
			add elements ip t s : %08x
			add elements ip t i : %08x ; %08x flags 1
			add elements ip t v : %08x = jump c%d`, i, i, 4*i, 4*i+3, i+2, i))
		wg.Add(1)
		go func(rs *Ruleset, i int) {
			defer wg.Done()
			tab := rs.Table(catalog.FamilyIP, "t")
			if tab.Chain(fmt.Sprint("c", i)) == nil || len(tab.Chain("c").Rules) != i+1 {
				t.Error("chains")
			}
			for _, name := range []string{"s", "i", "v"} {
				for x := range tab.Set(name).Elements.Entries() {
					use(t, tab.Set(name).Elements, x)
				}
			}
			if n := tab.Set("s").Elements.Len(); n != i+1 {
				t.Errorf("snapshot %d has %d elements", i, n)
			}
		}(next, i)
		rs = next
	}
	wg.Wait()
}

func use(t *testing.T, e *Elements, x *set.Entry) {
	if int(x.Index) > len(e.Targets()) {
		t.Error("a target beyond the snapshot's")
	}
}
