package ruleset

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"verdict/catalog"
	"verdict/nft/expr"
)

// told applies a batch and gives its events, one word group each.
func told(t *testing.T, rs *Ruleset, batch ...Change) (*Ruleset, []string) {
	t.Helper()
	var events []string
	next, errs := Apply(rs, batch, Options{Notify: func(e Event) {
		op := "add"
		switch e.Op {
		case OpInsert:
			op = "insert"
		case OpDelete:
			op = "delete"
		}
		switch e.Kind {
		case KindTable:
			events = append(events, op+" table "+e.Table.Name)
		case KindChain:
			events = append(events, op+" chain "+e.Chain.Name)
		case KindRule:
			events = append(events, fmt.Sprintf("%s rule %s %d", op, e.Chain.Name, e.Rule.Handle))
		case KindSet:
			events = append(events, op+" set "+e.Set.Name)
		case KindElements:
			events = append(events, fmt.Sprintf("%s elements %s %d", op, e.Set.Name, len(e.Elements)))
		case KindObject:
			events = append(events, op+" object "+e.Object.Name)
		}
	}})
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	return next, events
}

// 81: of a rule that takes another one's place, the deletion is told first.
func TestBug81DeletionIsToldFirst(t *testing.T) {
	rs := mustApply(t, nil, "add table ip t\nadd chain ip t c\nadd rule ip t c comment first\nadd rule ip t c comment second")
	replace := parseScript("replace rule ip t c handle 2 : notrack")
	_, got := told(t, rs, replace...)
	if want := []string{"delete rule c 2", "add rule c 2"}; !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

func TestEvents(t *testing.T) {
	on := func(op Op, kind Kind, name string) Change {
		return Change{Op: op, Kind: kind, Family: catalog.FamilyIP, Table: "t", Name: name}
	}
	rule := func(op Op, text string) Change {
		c := on(op, KindRule, "c")
		c.RuleDef = &RuleDef{Exprs: parseExprs(text)}
		return c
	}
	declare := on(OpAdd, KindSet, "s")
	declare.SetDef = &SetDef{Name: "s", KeyType: catalog.IPv4Addr.ID, KeyLen: 4}
	elements := on(OpAdd, KindElements, "s")
	elements.Elements = []Element{{Key: []byte{1, 2, 3, 4}}, {Key: []byte{1, 2, 3, 5}}}
	counter := on(OpAdd, KindObject, "n")
	counter.ObjType, counter.ObjectDef = expr.ObjectCounter, &Object{Type: expr.ObjectCounter, Counter: &expr.Counter{Packets: 3}}

	rs, got := told(t, nil, on(OpAdd, KindTable, ""), on(OpAdd, KindTable, ""), on(OpAdd, KindChain, "c"), declare, elements, elements, counter,
		rule(OpAdd, "counter pkts 5 bytes 7"), rule(OpInsert, "counter pkts 0 bytes 0"))
	want := []string{"add table t", "add chain c", "add set s", "add elements s 2", "add object n", "add rule c 4", "insert rule c 5"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), strings.Join(want, ", "))
	}

	replace := rule(OpReplace, "notrack")
	replace.Handle = 5
	rs, got = told(t, rs, replace, on(OpFlush, KindSet, "s"))
	want = []string{"delete rule c 5", "add rule c 5", "delete elements s 2"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), strings.Join(want, ", "))
	}

	reset := on(OpReset, KindObject, "")
	reset.ObjType = expr.ObjectCounter
	cleared, got := told(t, rs, reset, on(OpReset, KindRule, ""))
	if len(got) > 0 {
		t.Errorf("a reset tells %v", got)
	}
	if c := cleared.Tables[0].Objects[0].Counter; c.Packets != 0 || rs.Tables[0].Objects[0].Counter.Packets != 3 {
		t.Errorf("reset left %d packets", c.Packets)
	}
	if r := cleared.Tables[0].Chains[0].Rules[1]; r.Exprs[0].(*expr.Counter).Packets != 0 || r.Handle != 4 {
		t.Errorf("reset left the rule's %v", r.Exprs[0])
	}

	_, got = told(t, rs, on(OpDelete, KindTable, ""))
	want = []string{"delete rule c 5", "delete rule c 4", "delete set s", "delete object n", "delete chain c", "delete table t"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

// TestIncompleteDeclarations: what the kernel needs for a new thing and the
// language can leave out.
func TestIncompleteDeclarations(t *testing.T) {
	table := Change{Op: OpAdd, Kind: KindTable, Family: catalog.FamilyIP, Table: "t"}
	flow := Change{Op: OpAdd, Kind: KindFlowtable, Family: catalog.FamilyIP, Table: "t", Name: "f"}
	flow.Flowtable = &Flowtable{Devices: []string{"lo"}, Unhooked: true}
	if _, errs := Apply(nil, []Change{table, flow}, Options{}); len(errs) != 1 || errs[0].Errno != syscall.ENOENT {
		t.Errorf("a flowtable without hook: %v", errs)
	}
	tunnel := Change{Op: OpAdd, Kind: KindObject, Family: catalog.FamilyIP, Table: "t", Name: "u", ObjType: expr.ObjectTunnel}
	tunnel.ObjectDef = &Object{Type: expr.ObjectTunnel, Tunnel: &Tunnel{ID: 5}}
	if _, errs := Apply(nil, []Change{table, tunnel}, Options{}); len(errs) != 1 || errs[0].Errno != syscall.EINVAL {
		t.Errorf("a tunnel without addresses: %v", errs)
	}
	hooked := *flow.Flowtable
	hooked.Unhooked = false
	first := flow
	first.Flowtable = &hooked
	more := flow
	more.Flowtable = &Flowtable{Devices: []string{"eth0"}, Unhooked: true}
	rs, errs := Apply(nil, []Change{table, first, more}, Options{})
	if len(errs) > 0 || len(rs.Tables[0].Flowtables[0].Devices) != 2 {
		t.Errorf("more devices: %v", errs)
	}
}
