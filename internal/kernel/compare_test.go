//go:build linux

package kernel

import (
	"os"
	"strconv"
	"testing"
	"time"

	"verdict/internal/testdata"
)

func need(t testing.TB) {
	t.Helper()
	if err := Available(); err != nil {
		testdata.Missing(t, "oracle", err.Error())
	}
}

func TestCompareBriefly(t *testing.T) {
	need(t)
	from, count := uint64(1), uint64(20)
	if v, err := strconv.ParseUint(os.Getenv("FROM"), 10, 64); err == nil {
		from = v
	}
	if v, err := strconv.ParseUint(os.Getenv("COUNT"), 10, 64); err == nil {
		count = v
	}
	err := InNamespace(func() error {
		lab, err := OpenLab()
		if err != nil {
			return err
		}
		defer lab.Close()
		if err := lab.loadTracer(); err != nil {
			return err
		}
		begin := time.Now()
		compared, bad := 0, 0
		for seed := from; seed < from+count; seed++ {
			c := Generate(seed, 40)
			r, err := lab.Compare(c)
			if err != nil {
				t.Logf("%s", c.Ruleset)
				return err
			}
			compared += r.Compared
			if len(r.Differences) > 0 {
				bad++
			}
			for i, d := range r.Differences {
				if i == 0 && count < 5 {
					t.Logf("%s", c.Ruleset)
				}
				if i < 3 {
					t.Errorf("case %d: %s", seed, d)
				}
			}
		}
		t.Logf("%d pairs in %v, %d cases differ", compared, time.Since(begin), bad)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
