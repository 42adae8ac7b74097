package store

import (
	"fmt"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"verdict/nft/ruleset"
)

// drawCommand draws a command, which may be refused.
func drawCommand(t *rapid.T) string {
	n := func(most int) int { return rapid.IntRange(0, most).Draw(t, "n") }
	table := fmt.Sprintf("%s t%d", rapid.SampledFrom([]string{"ip", "inet"}).Draw(t, "family"), n(1))
	chain, set := fmt.Sprintf("c%d", n(2)), fmt.Sprintf("s%d", n(2))
	address := fmt.Sprintf("10.0.%d.%d", n(3), n(9))
	return rapid.SampledFrom([]string{
		"add table " + table,
		"delete table " + table,
		"add chain " + table + " " + chain,
		"add chain " + table + " " + chain + " { type filter hook input priority 0; }",
		"delete chain " + table + " " + chain,
		fmt.Sprintf("add rule %s %s ip saddr %s counter packets %d bytes 9 accept comment \"n\"", table, chain, address, n(5)),
		fmt.Sprintf("insert rule %s %s tcp dport { %d, %d } jump c%d", table, chain, n(9), n(9)+10, n(2)),
		fmt.Sprintf("add rule %s %s udp dport vmap { %d : accept, 5-9 : jump c%d }", table, chain, n(4), n(2)),
		fmt.Sprintf("add rule %s %s ip saddr @%s jump { counter; drop; }", table, chain, set),
		fmt.Sprintf("add rule %s %s update @%s { ip saddr timeout %ds }", table, chain, set, n(9)+1),
		fmt.Sprintf("delete rule %s %s handle %d", table, chain, n(20)),
		"flush chain " + table + " " + chain,
		"add set " + table + " " + set + " { type ipv4_addr; flags interval; auto-merge; }",
		"add set " + table + " " + set + " { type ipv4_addr; flags dynamic, timeout; timeout 20s; counter; }",
		"add set " + table + " " + set + " { type ipv4_addr . inet_service; flags interval; }",
		"add map " + table + " " + set + " { type ipv4_addr : verdict; }",
		"delete set " + table + " " + set,
		"add element " + table + " " + set + " { " + address + " }",
		"add element " + table + " " + set + " { " + address + "/30 }",
		"add element " + table + " " + set + " { " + address + " timeout 9s }",
		"add element " + table + " " + set + " { " + address + " . 5-20 }",
		"add element " + table + " " + set + " { " + address + " : goto " + chain + " }",
		"delete element " + table + " " + set + " { " + address + " }",
		"flush set " + table + " " + set,
		"add counter " + table + " n { packets 5 bytes 6; }",
		"reset counters",
		"add flowtable " + table + " f { hook ingress priority 0; devices = { lo }; }",
	}).Draw(t, "command")
}

// TestStoreIsAModelOnDisk: two stores on one file, used in turn, hold at any
// time what the same batches make in memory.
func TestStoreIsAModelOnDisk(t *testing.T) {
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		now := second
		path := filepath.Join(dir, fmt.Sprintf("state%d", run))
		stores := []*Store{open(path, &now), open(path, &now)}
		model := &ruleset.Ruleset{}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			now += int64(rapid.IntRange(0, 3).Draw(rt, "seconds")) * second
			s := stores[rapid.IntRange(0, 1).Draw(rt, "store")]
			switch rapid.IntRange(0, 9).Draw(rt, "kind") {
			case 0:
				*s = *open(path, &now)
			case 1:
				if _, err := s.Read(); err != nil {
					rt.Fatal(err)
				}
				if err := s.rewrite(&s.state, nil); err != nil {
					rt.Fatal(err)
				}
			}
			text := drawCommand(rt)
			batch, err := batchOf(model, text)
			if err != nil {
				continue
			}
			next, errs := ruleset.Apply(model, batch, ruleset.Options{Now: now})
			err = s.Update(func(st State) (*Transaction, error) {
				batch, err := batchOf(st.Rules, text)
				if err != nil {
					return nil, err
				}
				kept, refused := ruleset.Apply(st.Rules, batch, ruleset.Options{Now: now})
				if len(refused) != len(errs) {
					rt.Fatalf("%s: %v in the store, %v in memory", text, refused, errs)
				}
				if len(refused) > 0 {
					return &Transaction{Next: kept, Time: now}, nil
				}
				return &Transaction{Batch: batch, Next: kept, Time: now}, nil
			})
			if err != nil {
				rt.Fatalf("%s: %v", text, err)
			}
			model = next
			for _, s := range stores {
				st, err := s.Read()
				if err != nil {
					rt.Fatalf("after %s: %v", text, err)
				}
				if got, want := listing(t, st.Rules, now), listing(t, model, now); got != want {
					rt.Fatalf("after %s:\n%s\nwant\n%s", text, got, want)
				}
			}
		}
	})
}
