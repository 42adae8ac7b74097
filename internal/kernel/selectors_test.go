//go:build linux

package kernel

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"verdict/internal/workload"
	"verdict/nft/netlink"
	"verdict/nft/ruleset"
)

// TestKernelTakesEverySelector loads a rule about every selector, in every
// form, and sets of every type. The kernel takes what we take, and gives back
// what it was given.
func TestKernelTakesEverySelector(t *testing.T) {
	var tables []string
	for _, s := range workload.Selectors() {
		for _, family := range s.Families {
			var b strings.Builder
			fmt.Fprintf(&b, "table %s t {\n\tchain c {\n", family)
			for _, form := range s.Forms() {
				fmt.Fprintf(&b, "\t\t%s %s\n", s.Text, form)
			}
			tables = append(tables, b.String()+"\t}\n}\n")
		}
	}
	for _, typ := range workload.SetTypes() {
		for _, block := range workload.Sets(typ) {
			tables = append(tables, "table inet t {\n\t"+block+"\n}\n")
		}
	}
	inLab(t, func(l *Lab) error {
		for _, text := range tables {
			if err := takes(t, l, labNames.Replace(text)); err != nil {
				return err
			}
		}
		return nil
	})
}

// labNames makes the interfaces that rules name the lab's.
var labNames = strings.NewReplacer(`"eth0"`, `"lan0"`, `"eth1"`, `"wan0"`)

// bridgeKey is what a module of its own provides, which kernels may lack.
var bridgeKey = regexp.MustCompile(`meta (ibr|obr)\w+`)

// takes loads a table, reads it back and deletes it.
func takes(t *testing.T, l *Lab, text string) error {
	made, err := l.compile(&Case{Ruleset: text})
	if err != nil {
		t.Errorf("%v\n%s", err, text)
		return nil
	}
	own, errs := ruleset.Apply(made.base, made.batch, ruleset.Options{Now: start})
	if len(errs) > 0 {
		t.Errorf("we refuse it: %v\n%s", errs, text)
		return nil
	}
	refused, err := l.Load(made.batch, made.base)
	if err != nil {
		return err
	}
	if len(refused) > 0 && bridgeKey.MatchString(text) && refused[0].Errno == unix.EOPNOTSUPP {
		t.Logf("this kernel lacks %s", bridgeKey.FindString(text))
		return nil
	}
	if len(refused) > 0 {
		t.Errorf("the kernel refuses it: %v\n%s", refused, text)
		return nil
	}
	theirs, err := l.ReadBack(start)
	if err != nil {
		return err
	}
	for _, u := range theirs.Unknown {
		t.Errorf("not understood: %s\n%s", u, text)
	}
	own = &ruleset.Ruleset{Tables: withoutTracer(own.Tables)}
	forgetHandles(theirs.Rules)
	forgetHandles(own)
	if d := netlink.Difference(own, theirs.Rules, start); d != "" && !strings.Contains(d, ": Expires: ") { // which runs down
		t.Errorf("read back otherwise: %s\n%s", d, text)
	}
	table := own.Tables[0]
	_, err = l.Load([]ruleset.Change{{Op: ruleset.OpDelete, Kind: ruleset.KindTable, Family: table.Family, Table: table.Name}}, own)
	return err
}
