package compile

import (
	"os"
	"slices"
	"strings"
	"testing"

	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// shellTrace is a sequence of calls of nft.
type shellTrace struct {
	Test, Status string
	Needs        []string
	Calls        []struct {
		Argv   []string
		Rc     int
		Stderr string
		Stdin  *string
		Files  map[string]string
	}
}

// TestShellTraces replays recorded calls of nft and compares whether each was
// accepted; calls that only read are taken as they are.
func TestShellTraces(t *testing.T) {
	good, total := 0, 0
	for _, trace := range testdata.Lines[shellTrace](t, testdata.NftTraces) {
		if trace.Status != "OK" || slices.ContainsFunc(trace.Needs, func(n string) bool { return n != "json" && n != "interactive" }) {
			continue
		}
		var rs *ruleset.Ruleset
		opts := conformanceHost()
		for _, call := range trace.Calls {
			text, ok := callText(call.Argv, call.Stdin, call.Files)
			if !ok {
				break
			}
			total++
			open := func(pattern string, from *diag.Source) ([]*diag.Source, error) {
				body, ok := call.Files[pattern]
				if !ok {
					return nil, os.ErrNotExist
				}
				return []*diag.Source{diag.NewSource(pattern, []byte(body))}, nil
			}
			file, list := syntax.Parse(diag.NewSource("trace", []byte(text)), syntax.Options{Open: open})
			err := list.Err()
			if err == nil {
				var batch []ruleset.Change
				if batch, list = Compile(rs, file, opts); list.HasErrors() {
					err = list.Err()
				} else {
					check := slices.Contains(call.Argv, "-c") || slices.Contains(call.Argv, "--check")
					next, refused := ruleset.Apply(rs, batch, ruleset.Options{CheckOnly: check})
					if len(refused) > 0 {
						err = refused[0]
					} else if !check {
						rs = next
					}
				}
			}
			if (err == nil) == (call.Rc == 0) || err == nil && len(batchOf(file)) == 0 {
				good++
				continue
			}
			t.Logf("%s: %q\n  got  %v\n  want %d %.150s", trace.Test, text, err, call.Rc, call.Stderr)
			break
		}
	}
	t.Logf("calls accepted and refused as recorded: %d of %d", good, total)
	if good < floorCalls {
		t.Errorf("below the floor %d", floorCalls)
	}
}

// callText is what a call of nft loads; ok is false for calls that the test
// cannot make.
func callText(argv []string, stdin *string, files map[string]string) (text string, ok bool) {
	var words []string
	for i := 0; i < len(argv); i++ {
		a := argv[i]
		switch {
		case a == "-f" || a == "--file":
			if i++; i >= len(argv) {
				return "", false
			}
			if body, found := files[argv[i]]; found {
				return body, true
			}
			if stdin != nil {
				return *stdin, true
			}
			return "", false
		case a == "--debug" || a == "-d":
			i++
		case a == "-D" || a == "-I" || a == "-i" || a == "-j" || a == "-o" || a == "-cf" || a == "-ef":
			return "", false
		case strings.HasPrefix(a, "-") && len(words) == 0:
		default:
			words = append(words, a)
		}
	}
	return strings.Join(words, " "), len(words) > 0
}

// batchOf lists the commands of a file that change something.
func batchOf(f *syntax.File) []*syntax.Command {
	var out []*syntax.Command
	for _, it := range f.Items {
		if c, ok := it.(*syntax.Command); ok && c.Verb != syntax.VerbList && c.Verb != syntax.VerbGet {
			out = append(out, c)
		}
	}
	return out
}
