package nftcmd

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what the scripts print as their expectation")

// TestScripts runs the scripts in testdata: the comment of each file says what
// it is about, then come calls, as lines that begin with `$ `, each with what
// it prints on both streams and, where that is not 0, its status. `< NAME` at
// the end of a call is its standard input, from the files of the archive,
// which lie in the scratch folder DIR. Words may be quoted.
func TestScripts(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want := string(archive.Comment)
			got := runScript(t, archive)
			if *update {
				archive.Comment = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Error(firstDifference(got, want))
			}
		})
	}
}

// runScript gives the script with what its calls print now.
func runScript(t *testing.T, archive *txtar.Archive) string {
	dir := t.TempDir()
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = strings.ReplaceAll(string(f.Data), "DIR", dir)
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(files[f.Name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &scripted{dir: dir, state: filepath.Join(dir, "state"), now: time.Unix(1_700_000_000, 0)}
	var out strings.Builder
	for line := range strings.Lines(string(archive.Comment)) {
		command, isCall := strings.CutPrefix(line, "$ ")
		if !isCall {
			if out.Len() == 0 || !strings.Contains(out.String(), "$ ") {
				out.WriteString(line) // the heading
			}
			continue
		}
		out.WriteString(line)
		words := split(strings.TrimSpace(command))
		stdin := ""
		if n := len(words); n > 2 && words[n-2] == "<" {
			stdin, words = files[words[n-1]], words[:n-2]
		}
		printed, status := s.call(words, stdin)
		out.WriteString(printed)
		if status != 0 {
			fmt.Fprintf(&out, "[%d]\n", status)
		}
	}
	return out.String()
}

// scripted calls the command over one state, one second apart.
type scripted struct {
	dir, state string
	now        time.Time
}

var (
	process        = regexp.MustCompile(`by process [0-9]+`)
	generationLine = regexp.MustCompile(`# new generation .*`)
)

func (s *scripted) call(words []string, stdin string) (printed string, status int) {
	var out, errs bytes.Buffer
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "DIR", s.dir)
	}
	s.now = s.now.Add(time.Second)
	status = Run("nft", words, &Streams{
		In: strings.NewReader(stdin), Out: &out, Err: &errs, Zone: time.UTC,
		Now: func() time.Time { return s.now },
		Env: func(name string) string { return map[string]string{"VERDICT_STATE": s.state}[name] },
	})
	printed = strings.ReplaceAll(out.String()+errs.String(), s.dir, "DIR")
	printed = process.ReplaceAllString(printed, "by process N")
	if printed != "" && !strings.HasSuffix(printed, "\n") {
		printed += "\n"
	}
	return printed, status
}

// split divides a line into words; quotes keep blanks and other quotes.
func split(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	inside := false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, inside = c, true
		case c == ' ':
			if inside {
				words = append(words, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteRune(c)
			inside = true
		}
	}
	if inside {
		words = append(words, word.String())
	}
	return words
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			from := max(0, i-3)
			return fmt.Sprintf("line %d: got\n%s\nwant\n%s", i+1, strings.Join(a[from:min(len(a), i+6)], "\n"), strings.Join(b[from:min(len(b), i+6)], "\n"))
		}
	}
	return fmt.Sprintf("want more:\n%s", strings.Join(b[len(a):], "\n"))
}
