package kernel

import (
	"strings"
	"testing"
)

func TestShrink(t *testing.T) {
	c := Generate(5, 20)
	c.Ruleset += "table ip last {\n\tchain keep {\n\t\tcounter\n\t\tip ttl 77\n\t}\n}\n"
	odd := c.Packets[13]
	small := Shrink(c, func(c *Case) bool {
		has := false
		for _, p := range c.Packets {
			has = has || &p.Data[0] == &odd.Data[0]
		}
		return has && strings.Contains(c.Ruleset, "ip ttl 77")
	})
	if len(small.Packets) != 1 {
		t.Errorf("%d packets are left", len(small.Packets))
	}
	if want := "table ip last {\n\tchain keep {\n\t\tip ttl 77\n\t}\n}"; strings.TrimSpace(small.Ruleset) != want {
		t.Errorf("left over:\n%s", small.Ruleset)
	}
}

func TestSeedsDecide(t *testing.T) {
	a, b, other := Generate(7, 30), Generate(7, 30), Generate(8, 30)
	if a.Ruleset != b.Ruleset || len(a.Packets) != 30 {
		t.Error("the same seed gave another case")
	}
	for i := range a.Packets {
		if string(a.Packets[i].Data) != string(b.Packets[i].Data) {
			t.Fatalf("packet %d differs", i)
		}
	}
	if a.Ruleset == other.Ruleset {
		t.Error("two seeds gave the same ruleset")
	}
}
