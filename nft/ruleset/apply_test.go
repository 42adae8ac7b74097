package ruleset

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what the scripts give into their want and dump sections")

// TestScripts runs the archives in testdata. Their sections, in order: `apply`
// applies a batch (a line `@now MS` sets the time, `@owner NAME` the program,
// `@check` checks only); `want` lists the refused changes, counted from 1, as
// lines `CHANGE ERRNO`, and is `ok` if it is missing; `dump` is the ruleset; `debug` is the text of the last batch; `end NAME` ends a program.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			runScript(t, a)
			if *update {
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func runScript(t *testing.T, a *txtar.Archive) {
	var rs *Ruleset
	var opts Options
	unexpected := ""
	var base *Ruleset // before the last batch
	var batch []Change
	settle := func() {
		if unexpected != "" {
			t.Error(unexpected)
		}
		unexpected = ""
	}
	for i := range a.Files {
		f := &a.Files[i]
		got := ""
		switch kind, rest, _ := strings.Cut(f.Name, " "); kind {
		case "end":
			rs = Disown(rs, rest)
			continue
		case "apply":
			settle()
			opts = scriptOptions(t, opts, string(f.Data))
			before := ""
			if rs != nil {
				before = timeless(dump(rs))
			}
			base, batch = rs, parseScript(string(f.Data))
			next, errs := Apply(rs, batch, opts)
			if rs != nil && timeless(dump(rs)) != before {
				t.Errorf("%s: the old snapshot changed", f.Name)
			}
			if len(errs) > 0 {
				unexpected = fmt.Sprintf("%s: %s", f.Name, errorLines(errs))
				if timeless(dump(next)) != before {
					t.Errorf("%s: a refused batch changed the ruleset", f.Name)
				}
			}
			rs = next
			continue
		case "want":
			_, got, _ = strings.Cut(unexpected, ": ")
			if unexpected == "" {
				got = "ok\n"
			}
			unexpected = ""
		case "dump":
			got = dump(rs)
		case "debug":
			got = string(AppendDebug(nil, base, batch))
		default:
			t.Fatalf("unknown section %q", f.Name)
		}
		if *update {
			f.Data = []byte(got)
		} else if got != string(f.Data) {
			t.Errorf("%s: got\n%swant\n%s", f.Name, got, f.Data)
		}
	}
	settle()
}

// timeless leaves out the timeouts of elements, which are the elements' own and
// not the snapshot's.
func timeless(dump string) string { return elementTimeout.ReplaceAllString(dump, "$1") }

var elementTimeout = regexp.MustCompile(`(?m)^(    element .*) timeout [0-9]+`)

func errorLines(errs []*ChangeError) string {
	var b strings.Builder
	for _, e := range errs {
		fmt.Fprintf(&b, "%d %s %s\n", e.Index+1, ErrnoName(e.Errno), e.Reason)
	}
	return b.String()
}

func scriptOptions(t *testing.T, o Options, text string) Options {
	o.CheckOnly = false
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || f[0][0] != '@' {
			continue
		}
		switch f[0] {
		case "@now":
			ms, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			o.Now = ms * millisecond
		case "@owner":
			o.Owner = f[1]
		case "@check":
			o.CheckOnly = true
		default:
			t.Fatalf("unknown option %s", f[0])
		}
	}
	return o
}
